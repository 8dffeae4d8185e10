import type { Item, User } from '../../domain/entities.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import type { Known } from '../apply-command.ts';
import type { CheckedCommand } from '../check-command.ts';
import type { Point } from '../commit-effects.ts';
import type { Connection } from './connection.ts';
import { TypeTable } from './feedback-type-numbers.ts';
import { timeMsOf, typeOf } from './packed-type-and-time.ts';
import { int4Array } from './sql-arrays.ts';

const TYPE = typeOf('f.type_time');

/** A user or an item that a group concerns. */
export interface Entity<T> {
  readonly row: number;
  /** Undefined where nothing of the group needs it. */
  value: T | undefined;
  /** True when it is not stored as it is here. */
  isChanged: boolean;
}

/** A feedback of a pair that a group concerns. */
export interface Stored {
  readonly timeMs: number;
  readonly comment: string;
  readonly value: number;
}

/** What is stored of a triple, and what there is to be. */
export interface Triple {
  readonly stored: Stored | undefined;
  now: Stored | undefined;
}

/** The triples of a pair by type number. */
export type Pair = Map<number, Triple>;

/**
 * What a group of commands concerns, read within its transaction: the commands are carried out on this, and what differs
 * from what is stored is then written at once.
 */
export class GroupState implements Known {
  /** The last commit before this group. */
  readonly head: Point;
  readonly users = new Map<string, Entity<User>>();
  readonly items = new Map<string, Entity<Item>>();
  readonly types: TypeTable;
  /** By user row, then by item row. */
  readonly pairs = new Map<number, Map<number, Pair>>();
  /** Rows that are stored and to be removed, with all their feedback. */
  readonly deletedUserRows: number[] = [];
  readonly deletedItemRows: number[] = [];
  nextUserRow: number;
  nextItemRow: number;
  hasNotes: boolean;
  readonly storedRows: { readonly users: number; readonly items: number };

  constructor(head: HeadRow, types: TypeTable) {
    const [position, mark, nextUserRow, nextItemRow, , hasNotes] = head;
    this.head = { position, mark };
    this.nextUserRow = nextUserRow;
    this.nextItemRow = nextItemRow;
    this.storedRows = { users: nextUserRow, items: nextItemRow };
    this.hasNotes = hasNotes;
    this.types = types;
  }

  userRow(userId: string): number {
    return this.users.get(userId)?.row ?? -1;
  }

  itemRow(itemId: string): number {
    return this.items.get(itemId)?.row ?? -1;
  }

  /** One whose details a command of the group needs. */
  findUser(userId: string): User | undefined {
    return this.users.get(userId)?.value;
  }

  findItem(itemId: string): Item | undefined {
    return this.items.get(itemId)?.value;
  }

  /** The pair's triples; empty for a pair without feedback. */
  pairOf(userRow: number, itemRow: number): Pair {
    const items = getOrPut(this.pairs, userRow, () => new Map<number, Pair>());
    return getOrPut(items, itemRow, () => new Map());
  }
}

type HeadRow = readonly [
  position: number,
  mark: number,
  nextUserRow: number,
  nextItemRow: number,
  typesVersion: number,
  hasNotes: boolean,
];

/** The feedback types; another server may have others under the same version, after a failover. */
interface Types {
  readonly version: number;
  readonly connection: Connection;
  readonly names: readonly (readonly [type: number, name: string])[];
}

/** Reads what groups concern. It remembers the feedback types from one group to the next. */
export class GroupLoader {
  private readonly schema: string;
  private types: Types | undefined;

  /** @param schema as it stands in SQL */
  constructor(schema: string) {
    this.schema = schema;
  }

  /**
   * Waits for its turn among all nodes, and reads what the commands concern.
   * @param begin statements that begin the transaction
   */
  async load(
    connection: Connection,
    begin: string,
    commands: readonly CheckedCommand[],
  ): Promise<GroupState> {
    const { schema } = this;
    const concern = concernOf(commands);
    const begun = connection.run(begin);
    const heads = connection.rows<HeadRow>(
      `SELECT position, mark, next_user_row, next_item_row, types_version, has_notes FROM ${schema}.head FOR UPDATE`,
    );
    const [head] = (await Promise.all([begun, heads]))[1];
    // Read after the lock is held: what others committed before is seen.
    const [users, items, types] = await Promise.all([
      this.loadEntities<User>(connection, 'user', concern.userIds, concern.readUserIds),
      this.loadEntities<Item>(connection, 'item', concern.itemIds, concern.readItemIds),
      this.loadTypes(connection, head![4]),
    ]);
    const state = new GroupState(head!, types);
    for (const [id, entity] of users) state.users.set(id, entity);
    for (const [id, entity] of items) state.items.set(id, entity);
    await this.loadPairs(connection, state, commands);
    return state;
  }

  private async loadEntities<T>(
    connection: Connection,
    kind: 'user' | 'item',
    ids: ReadonlySet<string>,
    read: ReadonlySet<string>,
  ): Promise<Map<string, Entity<T>>> {
    if (ids.size === 0) return new Map();
    const rows = await connection.rows<[number, string, object | null]>(
      `SELECT ${kind}_row, ${kind}_id, CASE WHEN ${kind}_id = ANY($2::text[]) THEN detail END
       FROM ${this.schema}.${kind}s WHERE ${kind}_id = ANY($1::text[])`,
      [[...ids], [...read]],
    );
    const idField = kind === 'user' ? 'UserId' : 'ItemId';
    return new Map(
      rows.map(([row, id, detail]) => {
        const value = detail === null ? undefined : ({ [idField]: id, ...detail } as T);
        return [id, { row, value, isChanged: false }];
      }),
    );
  }

  private async loadTypes(connection: Connection, version: number): Promise<TypeTable> {
    let known = this.types;
    if (known?.version !== version || known.connection !== connection) {
      const names = await connection.rows<[number, string]>(`SELECT type, name FROM ${this.schema}.types`);
      this.types = known = { version, connection, names };
    }
    return new TypeTable(known.names);
  }

  /** The feedback of all pairs that the commands name and that can have any. */
  private async loadPairs(
    connection: Connection,
    state: GroupState,
    commands: readonly CheckedCommand[],
  ): Promise<void> {
    const userRows: number[] = [];
    const itemRows: number[] = [];
    const add = (userId: string, itemId: string) => {
      const user = state.users.get(userId);
      const item = state.items.get(itemId);
      if (user === undefined || item === undefined || state.pairs.get(user.row)?.has(item.row)) return;
      state.pairOf(user.row, item.row);
      userRows.push(user.row);
      itemRows.push(item.row);
    };
    for (const command of commands) {
      if (command.kind === 'putFeedback')
        for (const { UserId, ItemId } of command.feedback) add(UserId, ItemId);
      if (command.kind === 'deleteFeedback') add(command.userId, command.itemId);
    }
    if (userRows.length === 0) return;
    const rows = await connection.rows<[number, number, number, number, Buffer | null, number | null]>(
      `SELECT f.user_row, f.item_row, ${TYPE}, ${timeMsOf('f.type_time')}, ${state.hasNotes ? 'n.comment, n.value' : 'NULL, NULL'}
       FROM unnest($1::int4[], $2::int4[]) AS p (u, i)
       JOIN ${this.schema}.feedback f ON f.user_row = p.u AND f.item_row = p.i
       ${state.hasNotes ? `LEFT JOIN ${this.schema}.notes n ON n.user_row = f.user_row AND n.item_row = f.item_row AND n.type = ${TYPE}` : ''}`,
      [int4Array(userRows), int4Array(itemRows)],
    );
    for (const [userRow, itemRow, type, timeMs, comment, value] of rows) {
      const stored = { timeMs, comment: comment?.toString() ?? '', value: value ?? 0 };
      state.pairOf(userRow, itemRow).set(type, { stored, now: stored });
    }
  }
}

interface Concern {
  readonly userIds: Set<string>;
  readonly itemIds: Set<string>;
  /** Those whose details are needed too. */
  readonly readUserIds: Set<string>;
  readonly readItemIds: Set<string>;
}

function concernOf(commands: readonly CheckedCommand[]): Concern {
  const concern: Concern = {
    userIds: new Set(),
    itemIds: new Set(),
    readUserIds: new Set(),
    readItemIds: new Set(),
  };
  for (const command of commands) addConcern(concern, command);
  return concern;
}

function addConcern({ userIds, itemIds, readUserIds, readItemIds }: Concern, command: CheckedCommand): void {
  switch (command.kind) {
    case 'putUsers':
      for (const { UserId } of command.users) userIds.add(UserId);
      return;
    case 'putItems':
      for (const { ItemId } of command.items) itemIds.add(ItemId);
      return;
    case 'putFeedback':
      for (const { UserId, ItemId } of command.feedback) {
        userIds.add(UserId);
        itemIds.add(ItemId);
      }
      return;
    case 'deleteFeedback':
      userIds.add(command.userId);
      itemIds.add(command.itemId);
      return;
    case 'patchUser':
      readUserIds.add(command.userId);
      userIds.add(command.userId);
      return;
    case 'deleteUser':
      userIds.add(command.userId);
      return;
    case 'deleteItem':
      itemIds.add(command.itemId);
      return;
    case 'patchItem':
    case 'addCategory':
    case 'removeCategory':
      readItemIds.add(command.itemId);
      itemIds.add(command.itemId);
  }
}
