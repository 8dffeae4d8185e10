import { hashText } from '../../../domain/hash.ts';
import { rowKey } from '../format/record-layout.ts';
import type { Table } from '../tables/engine.ts';
import type { StoreState } from '../tables/meta-table.ts';

/** Pairs of ids that are remembered: some megabytes at the usual length. */
const PAIRS = 65_536;

/** The fields of the state that count the users, or the items. */
const FIELDS = {
  users: { next: 'nextUserRow', count: 'users' },
  items: { next: 'nextItemRow', count: 'items' },
} as const;

/**
 * Which row each user, or each item, has: a new id gets the next one, and no row is given twice. Those asked for lately are
 * remembered, two of each hash: a few users and items have most of the feedback, and to look an id up here spares a walk down
 * the tree of ids. A `Map` would take several times as long, most of it for the hash of a text that is new.
 */
export class IdRows {
  private readonly table: Table;
  private readonly state: StoreState;
  private readonly fields: (typeof FIELDS)[keyof typeof FIELDS];
  private readonly stored: (id: string) => number;
  /** The two ids of each pair, that asked for last first; no id is empty. */
  private readonly ids: string[] = new Array<string>(2 * PAIRS).fill('');
  private readonly rows = new Uint32Array(2 * PAIRS);

  /** @param stored looks an id up among those stored, -1 for none */
  constructor(kind: keyof typeof FIELDS, table: Table, state: StoreState, stored: (id: string) => number) {
    this.fields = FIELDS[kind];
    this.table = table;
    this.state = state;
    this.stored = stored;
  }

  /** The id's row, -1 for none. */
  find(id: string): number {
    const { ids, rows } = this;
    const at = placeOf(id);
    if (ids[at] === id) return rows[at]!;
    if (ids[at + 1] === id) {
      const row = rows[at + 1]!;
      this.putFirst(at, ids[at + 1]!, row);
      return row;
    }
    const row = this.stored(id);
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
    const at = placeOf(id);
    for (const each of [at, at + 1]) if (this.ids[each] === id) this.ids[each] = '';
  }

  private remember(id: string, row: number): void {
    // A piece cut out of a text holds all of that text in memory: an import's ids would hold most of its file.
    this.putFirst(placeOf(id), Buffer.from(id).toString(), row);
  }

  /** Makes the first second, and forgets the second. */
  private putFirst(at: number, id: string, row: number): void {
    const { ids, rows } = this;
    ids[at + 1] = ids[at]!;
    rows[at + 1] = rows[at]!;
    ids[at] = id;
    rows[at] = row;
  }
}

/** Where the pair of an id begins. */
function placeOf(id: string): number {
  const hash = hashText(id);
  return ((hash ^ (hash >>> 16)) & (PAIRS - 1)) * 2;
}
