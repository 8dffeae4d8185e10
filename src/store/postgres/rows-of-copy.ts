import type { Item, User } from '../../domain/entities.ts';
import { FeedbackColumns } from '../data-store.ts';
import { LmdbLocalReads } from '../lmdb/reads/lmdb-local-reads.ts';
import type { DataTables } from '../lmdb/tables/data-tables.ts';
import { readReplicaOf, readState, type StoreState } from '../lmdb/tables/meta-table.ts';
import { readStored } from '../lmdb/tables/stored-feedback.ts';
import type { Entity } from './affected-rows.ts';
import type { PairRow, ReadRows } from './affected-rows-loader.ts';
import type { Concern } from './concern.ts';
import type { KnownTypes } from './type-names.ts';

/** Of more users the database finds the pairs alone, where here all feedback of each is read. */
const USERS_MAX = 128;

/**
 * Reads what a group of feedback goes by out of this node's copy, as of the last commit there: no question to the database then, as
 * its turn finds out whether a later commit has touched any of it.
 */
export class RowsOfCopy {
  private readonly tables: DataTables;
  private readonly lacks: (userRow: number) => boolean;
  private readonly local: LmdbLocalReads;
  private readonly columns = new FeedbackColumns();

  /** @param lacks true for a user, by the row, -1 for none, of whom the copy may not have everything */
  constructor(tables: DataTables, lacks: (userRow: number) => boolean) {
    this.tables = tables;
    this.lacks = lacks;
    this.local = new LmdbLocalReads(tables);
  }

  /**
   * @param types those of the database, as they were last read
   * @param since number of a commit from which on the copy must show all
   * @returns undefined where it may lack something, or types were added meanwhile
   */
  load(concern: Concern, { version, names }: KnownTypes, since: number): ReadRows | undefined {
    const { local, tables } = this;
    if (!concern.isOfPairsAlone || concern.userIds.size > USERS_MAX) return undefined;
    local.refresh();
    const point = readReplicaOf(tables)!;
    const state = readState(tables);
    const numbers = new Map(names.map(([type, name]) => [name, type]));
    const types = local.storedTypes().map((name) => numbers.get(name));
    const areKnown = !types.includes(undefined) && [...concern.types].every((name) => numbers.has(name));
    if (point.position < since || !areKnown) return undefined;
    const users = new Map<string, Entity<User>>();
    for (const id of concern.userIds) {
      const row = local.userRow(id);
      if (this.lacks(row)) return undefined;
      if (row >= 0) users.set(id, { row, value: undefined, isChanged: false });
    }
    const items = new Map<string, Entity<Item>>();
    for (const id of concern.itemIds) {
      const row = local.itemRow(id);
      if (row >= 0) items.set(id, { row, value: undefined, isChanged: false });
    }
    const feedback: PairRow[] = [];
    for (const [userId, itemIds] of concern.pairs) {
      const userRow = users.get(userId)?.row;
      if (userRow === undefined) continue;
      const wanted = new Set(Array.from(itemIds, (id) => items.get(id)?.row));
      this.readPairs(userRow, wanted, types as number[], state, feedback);
    }
    const { nextUserRow, nextItemRow } = state;
    const head = [point.position, point.mark, nextUserRow, nextItemRow, version] as const;
    return { head, users, items, journals: [], feedback, vectors: [] };
  }

  private readPairs(
    userRow: number,
    wanted: ReadonlySet<number | undefined>,
    types: readonly number[],
    state: StoreState,
    out: PairRow[],
  ): void {
    const { columns, tables } = this;
    this.local.readStoredFeedback(userRow, columns);
    for (let at = 0; at < columns.length; at++) {
      const itemRow = columns.itemRows[at]!;
      if (!wanted.has(itemRow)) continue;
      const type = columns.types[at]!;
      const stored = readStored(tables, state, { userRow, itemRow, type }, columns.timesMs[at]!);
      out.push([userRow, itemRow, types[type]!, stored.timeMs, stored]);
    }
  }
}
