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
  private waiting: JournalAppend[] = [];
  private isWriting = false;

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

  /** Writes an entry of what is done already, behind the answer; those that come meanwhile are written at once after it. */
  note(by: string, what: string): void {
    this.waiting.push(this.entry(by, what));
    if (this.waiting.length > ENTRIES_MAX) this.waiting.shift();
    if (!this.isWriting) void this.writeWaiting();
  }

  private async writeWaiting(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const appends = this.waiting;
      this.waiting = [];
      await this.data
        .write({ kind: 'writeJournals', appends })
        .catch((error) => this.onTrouble('The log of changes cannot be written', error));
    }
    this.isWriting = false;
  }

  /** The last entries, newest first. */
  read(n: number): Audit {
    const entries = n === 0 ? [] : this.data.local.journal(JOURNAL).slice(-n).reverse();
    return { Changes: entries.map(({ text }) => JSON.parse(text) as Audit['Changes'][number]) };
  }
}
