import type { Item, User } from '../../domain/entities.ts';
import { encodeJournal } from '../journals.ts';
import { encodeOccurrences, type StoredFeedback } from '../repeats.ts';
import type { AffectedRows, Entity } from './affected-rows.ts';
import { packedArray } from './packed-type-and-time.ts';
import { float8Array, int2Array, int4Array } from './sql-arrays.ts';

/** Difference between a state and what is stored, as the procedure that commits takes it. */
export function changedRows(state: AffectedRows) {
  const users = changedOf(state.users);
  const items = changedOf(state.items);
  const { fresh } = state.types;
  return {
    userBase: state.storedRows.users,
    itemBase: state.storedRows.items,
    newUsers: state.nextUserRow - state.storedRows.users,
    newItems: state.nextItemRow - state.storedRows.items,
    goneUsers: int4Array(state.deletedUserRows),
    goneItems: int4Array(state.deletedItemRows),
    userRows: int4Array(users.map(({ row }) => row)),
    userIds: users.map(({ value }) => value!.UserId),
    userDetails: users.map(({ value: { UserId: _, ...detail } = {} as User }) => JSON.stringify(detail)),
    itemRows: int4Array(items.map(({ row }) => row)),
    itemIds: items.map(({ value }) => value!.ItemId),
    itemDetails: items.map(({ value: { ItemId: _, ...detail } = {} as Item }) => JSON.stringify(detail)),
    types: int2Array(fresh.map(([type]) => type)),
    typeNames: fresh.map(([, name]) => name),
    goneTypes: int2Array(state.goneTypes),
    journalNames: [...state.changedJournals],
    journals: Array.from(state.changedJournals, (name) => encodeJournal(state.journal(name))),
    ...changedFeedback(state),
  };
}

function changedFeedback(state: AffectedRows) {
  const added = new Triples();
  const changed = new Triples();
  const changedFrom = new Triples();
  const removed = new Triples();
  const noted = new Triples();
  const unnoted = new Triples();
  for (const [userRow, items] of state.pairs) {
    for (const [itemRow, pair] of items) {
      for (const [type, { stored, now }] of pair) {
        if (stored === now) continue;
        const add = (to: Triples, record: StoredFeedback) => to.add(userRow, itemRow, type, record);
        if (stored === undefined) add(added, now!);
        else if (now === undefined) add(removed, stored);
        else if (now.timeMs !== stored.timeMs) {
          add(changed, now);
          add(changedFrom, stored);
        }
        if (now !== undefined && hasNote(now)) add(noted, now);
        else if (stored !== undefined && hasNote(stored)) add(unnoted, stored);
      }
    }
  }
  return {
    removedUsers: removed.userColumn,
    removedItems: removed.itemColumn,
    removed: removed.packed,
    changedUsers: changed.userColumn,
    changedItems: changed.itemColumn,
    changedFrom: changedFrom.packed,
    changedTo: changed.packed,
    addedUsers: added.userColumn,
    addedItems: added.itemColumn,
    added: added.packed,
    notedUsers: noted.userColumn,
    notedItems: noted.itemColumn,
    notedTypes: noted.typeColumn,
    notedValues: float8Array(noted.records.map(({ value }) => value)),
    notedComments: noted.records.map(({ comment }) => Buffer.from(comment)),
    notedOccurrences: noted.records.map(({ occurrences }) =>
      occurrences === undefined ? null : Buffer.from(encodeOccurrences(occurrences)),
    ),
    unnotedUsers: unnoted.userColumn,
    unnotedItems: unnoted.itemColumn,
    unnotedTypes: unnoted.typeColumn,
  };
}

/** Triples as columns, and what is stored for each. */
class Triples {
  readonly records: StoredFeedback[] = [];
  private readonly userRows: number[] = [];
  private readonly itemRows: number[] = [];
  private readonly types: number[] = [];

  get userColumn(): Buffer {
    return int4Array(this.userRows);
  }

  get itemColumn(): Buffer {
    return int4Array(this.itemRows);
  }

  get typeColumn(): Buffer {
    return int2Array(this.types);
  }

  /** Types and times. */
  get packed(): Buffer {
    return packedArray(
      this.types,
      this.records.map(({ timeMs }) => timeMs),
    );
  }

  add(userRow: number, itemRow: number, type: number, record: StoredFeedback): void {
    this.userRows.push(userRow);
    this.itemRows.push(itemRow);
    this.types.push(type);
    this.records.push(record);
  }
}

function changedOf<T>(entities: ReadonlyMap<string, Entity<T>>): Entity<T>[] {
  return [...entities.values()].filter(({ isChanged }) => isChanged);
}

function hasNote({ comment, value, occurrences }: StoredFeedback): boolean {
  return comment !== '' || value !== 0 || occurrences !== undefined;
}
