import type { Clock } from '../domain/clock.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import type { Audit } from '../domain/rule-schemas.ts';
import type { DataStore } from '../store/data-store.ts';
import type { JournalAppend } from '../store/journals.ts';

const JOURNAL = 'audit';
const ENTRIES_MAX = 1000;

/** Log of who changed what, by the names of keys: the latest thousand changes, on all nodes. */
export class AuditLog {
  private readonly data: Pick<DataStore, 'write' | 'local'>;
  private readonly clock: Clock;
  private readonly onTrouble: (message: string, error: unknown) => void;

  constructor(
    data: Pick<DataStore, 'write' | 'local'>,
    clock: Clock,
    onTrouble: (message: string, error: unknown) => void,
  ) {
    this.data = data;
    this.clock = clock;
    this.onTrouble = onTrouble;
  }

  entry(by: string, what: string): JournalAppend {
    const text = JSON.stringify({ At: formatTimestamp(this.clock()), By: by, What: what });
    return { journal: JOURNAL, text, most: ENTRIES_MAX };
  }

  /** Writes an entry of what is done already, behind the answer. */
  note(by: string, what: string): void {
    const command = { kind: 'writeJournals', appends: [this.entry(by, what)] } as const;
    this.data.write(command).catch((error) => this.onTrouble('The log of changes cannot be written', error));
  }

  /** The last entries, newest first. */
  read(n: number): Audit {
    const entries = n === 0 ? [] : this.data.local.journal(JOURNAL).slice(-n).reverse();
    return { Changes: entries.map(({ text }) => JSON.parse(text) as Audit['Changes'][number]) };
  }
}
