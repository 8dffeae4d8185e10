import type { FromWriter, ToWriter } from '../lmdb/tables/writer-messages.ts';
import type { PartialCopy } from './partial-copy.ts';
import type { AskedUsers, StoredUsers } from './user-queries.ts';

type Asked = Extract<ToWriter, { kind: 'load' }>;

/** Parts that load users. */
export interface UserLoadsParts {
  readonly copy: PartialCopy;
  /** Reads users out of the database. @throws Error when it does not answer */
  readonly read: (asked: AskedUsers) => Promise<StoredUsers>;
  /** Carries out what was committed up to a position. @throws Error when that cannot be */
  readonly reach: (position: number) => Promise<void>;
  readonly post: (message: FromWriter) => void;
}

/**
 * Loads users into a copy that holds those who were asked for. Those that are asked for while a question is under way share the
 * next one.
 */
export class UserLoads {
  private readonly parts: UserLoadsParts;
  private readonly waiting: Asked[] = [];
  private isAsking = false;

  constructor(parts: UserLoadsParts) {
    this.parts = parts;
  }

  add(asked: Asked): void {
    this.waiting.push(asked);
    // Messages that came in the same turn are delivered before this runs.
    if (!this.isAsking) setImmediate(() => this.ask());
  }

  private async ask(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const { post, copy } = this.parts;
    while (this.waiting.length > 0) {
      const asked = this.waiting.splice(0);
      const tickets = asked.map(({ ticket }) => ticket);
      const ids = [...new Set(asked.flatMap(({ userIds }) => userIds))];
      const rows = [...new Set(asked.flatMap(({ userRows }) => userRows))];
      const loaded = await this.load({ ids, rows }).catch(() => undefined);
      // What was committed since may have touched some, and that is told already.
      const known = loaded?.filter((row) => copy.isKnown(row));
      const forgotten = copy.takeForgotten();
      post({ kind: 'loaded', tickets, known, forgotten, nextTransaction: copy.nextTransaction });
    }
    this.isAsking = false;
  }

  /** @returns rows of those who are known now */
  private async load(asked: AskedUsers): Promise<number[]> {
    const { copy, read, reach } = this.parts;
    const known: number[] = [];
    copy.beginReading();
    try {
      for (let next = asked; next.ids.length + next.rows.length > 0; ) {
        const stored = await read(next);
        await reach(stored.position);
        const taken = copy.take(stored, next);
        for (const row of taken.known) known.push(row);
        next = taken.again;
      }
    } finally {
      copy.endReading();
    }
    return known;
  }
}
