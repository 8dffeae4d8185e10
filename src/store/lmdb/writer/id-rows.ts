import type { StoreState } from '../data-tables.ts';
import type { Table } from '../engine.ts';
import { rowKey } from '../format/record-layout.ts';

/** Ids remembered before the older ones are forgotten: some megabytes at the usual length, and as much again. */
const IDS_MAX = 65_536;

/** The fields of the state that count the users, or the items. */
const FIELDS = {
  users: { next: 'nextUserRow', count: 'users' },
  items: { next: 'nextItemRow', count: 'items' },
} as const;

/**
 * Which row each user, or each item, has: a new id gets the next one, and no row is given twice. Those asked for lately are
 * remembered: a few users and items have most of the feedback, and to look an id up in a map costs a tenth of what a walk
 * down the tree of ids does.
 */
export class IdRows {
  private readonly table: Table;
  private readonly state: StoreState;
  private readonly fields: (typeof FIELDS)[keyof typeof FIELDS];
  private readonly stored: (id: string) => number;
  private lately = new Map<string, number>();
  /** Those that were remembered before; one that is asked for again is remembered anew. */
  private before = new Map<string, number>();

  /** @param stored looks an id up among those stored, -1 for none */
  constructor(kind: keyof typeof FIELDS, table: Table, state: StoreState, stored: (id: string) => number) {
    this.fields = FIELDS[kind];
    this.table = table;
    this.state = state;
    this.stored = stored;
  }

  /** The id's row, -1 for none. */
  find(id: string): number {
    const known = this.lately.get(id);
    if (known !== undefined) return known;
    const row = this.before.get(id) ?? this.stored(id);
    if (row >= 0) this.remember(id, row);
    return row;
  }

  /** Gives a new id the next row. */
  add(id: string): number {
    return this.place(id, this.state[this.fields.next]);
  }

  /** Puts an id that has none in a row. */
  place(id: string, row: number): number {
    const { next, count } = this.fields;
    this.state[next] = Math.max(this.state[next], row + 1);
    this.state[count]++;
    this.table.put(Buffer.from(id), rowKey(row));
    this.remember(id, row);
    return row;
  }

  /** The id has no row any more. */
  remove(id: string): void {
    this.table.remove(Buffer.from(id));
    this.state[this.fields.count]--;
    this.lately.delete(id);
    this.before.delete(id);
  }

  private remember(id: string, row: number): void {
    if (this.lately.size >= IDS_MAX) {
      this.before = this.lately;
      this.lately = new Map();
    }
    // A piece cut out of a text holds all of that text in memory: an import's ids would hold most of its file.
    this.lately.set(Buffer.from(id).toString(), row);
  }
}
