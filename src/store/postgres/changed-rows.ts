import type { Item, User } from '../../domain/entities.ts';
import type { VectorEffect } from '../commit-effects.ts';
import { encodeJournal } from '../journals.ts';
import { packTimeLow, packTypeAndTime } from '../lmdb/format/record-layout.ts';
import { encodeOccurrences, type StoredFeedback } from '../repeats.ts';
import type { AffectedRows, Entity } from './affected-rows.ts';
import { float8Array, int2Array, int4Array, int8ArrayOfWords } from './sql-arrays.ts';

/** Difference between a state and what is stored, as the procedure that commits takes it. */
export function changedRows(state: AffectedRows) {
  const users = changedOf(state.users);
  const items = changedOf(state.items);
  const { fresh } = state.types;
  const vectors = changedVectors(state);
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
    vectorItems: int4Array(vectors.map(([row]) => row)),
    vectorSpaces: vectors.map(([, space]) => space),
    vectors: vectors.map(([, , numbers]) => numbers && Buffer.from(numbers)),
    ...changedFeedback(state),
  };
}

/** Vectors of items that there still are. */
function changedVectors({ items, changedVectors: changed }: AffectedRows): VectorEffect[] {
  if (changed.size === 0) return [];
  const rows = new Set(Array.from(items.values(), ({ row }) => row));
  return [...changed.values()].filter(([row]) => rows.has(row));
}

function changedFeedback(state: AffectedRows) {
  const found: { userRow: number; itemRow: number; type: number; stored: Stored; now: Stored }[] = [];
  for (const [userRow, items] of state.pairs)
    for (const [itemRow, pair] of items)
      for (const [type, { stored, now }] of pair)
        if (stored !== now) found.push({ userRow, itemRow, type, stored, now });
  const isMoved = ({ stored, now }: (typeof found)[0]) => stored?.timeMs !== now?.timeMs;
  const moved = found.filter(isMoved);
  const noted = found.filter(({ stored, now }) => hasNote(now) || hasNote(stored));
  const packed = (side: 'stored' | 'now') =>
    int8ArrayOfWords(
      moved.map(({ type, [side]: each }) => (each === undefined ? 0 : packTypeAndTime(type, each.timeMs))),
      moved.map(({ [side]: each }) => (each === undefined ? 0 : packTimeLow(each.timeMs))),
    );
  const removed = moved.filter(({ now }) => now === undefined).length;
  const added = moved.filter(({ stored }) => stored === undefined).length;
  return {
    feedbackUsers: int4Array(moved.map(({ userRow }) => userRow)),
    feedbackItems: int4Array(moved.map(({ itemRow }) => itemRow)),
    feedbackBefore: packed('stored'),
    feedbackNow: packed('now'),
    removed,
    added,
    changed: moved.length - removed - added,
    notedUsers: int4Array(noted.map(({ userRow }) => userRow)),
    notedItems: int4Array(noted.map(({ itemRow }) => itemRow)),
    notedTypes: int2Array(noted.map(({ type }) => type)),
    notedValues: float8Array(noted.map(({ now }) => now?.value ?? 0)),
    notedComments: noted.map(({ now }) =>
      now !== undefined && hasNote(now) ? Buffer.from(now.comment) : null,
    ),
    notedOccurrences: noted.map(({ now }) =>
      now?.occurrences === undefined ? null : Buffer.from(encodeOccurrences(now.occurrences)),
    ),
  };
}

function changedOf<T>(entities: ReadonlyMap<string, Entity<T>>): Entity<T>[] {
  return [...entities.values()].filter(({ isChanged }) => isChanged);
}

function hasNote(feedback: Stored): boolean {
  const { comment = '', value = 0, occurrences } = feedback ?? {};
  return comment !== '' || value !== 0 || occurrences !== undefined;
}

type Stored = StoredFeedback | undefined;
