import fc from 'fast-check';
import { expect } from 'vitest';
import { FurzeError } from '../../../src/domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../../../src/domain/request-limits.ts';
import { type DataStore, FeedbackColumns, type WriteCommand } from '../../../src/store/data-store.ts';
import type { WriteRules } from '../../../src/store/lmdb/tables/writer-messages.ts';
import { sorted, storeOptions, toJson, walk } from '../helpers.ts';
import type { ModelStore } from '../model-store.ts';

const userIds = ['u', 'u2', '__proto__', 'é', '🐝', 'x'.repeat(512)];
const itemIds = ['i', 'i2', 'constructor', '鯨', '🌿', 'y y%'];
export const types = ['like', 'star', 'read', 'seen', 'other'];
const texts = fc.array(fc.constantFrom('a', 'b', '__proto__', '🐝'), { maxLength: 3 });
const times = fc.constantFrom('2020-01-02', '1931-05-06T07:08:09.123Z', '9999-12-31T23:59:59Z', '0001-01-01');

const userId = fc.constantFrom(...userIds);
const itemId = fc.constantFrom(...itemIds);
const type = fc.constantFrom(...types);
const comment = fc.constantFrom('', '', 'hm', 'a longer comment 🌿');

const users = fc.array(fc.record({ UserId: userId, Labels: texts, Comment: comment, Subscribe: texts }), {
  maxLength: 4,
});
const items = fc.array(
  fc.record({
    ItemId: itemId,
    IsHidden: fc.boolean(),
    Categories: texts,
    Timestamp: fc.oneof(times, fc.constant('')),
    Labels: texts,
    Comment: comment,
  }),
  { maxLength: 4 },
);
const feedback = fc.array(
  fc.record({ FeedbackType: type, UserId: userId, ItemId: itemId, Timestamp: times, Comment: comment }),
  { maxLength: 30 },
);

/** A function, because a body is gone once it is written and each store needs its own. */
export type Operation = 'reopen' | (() => WriteCommand);

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 2, arbitrary: users.map((all) => () => batch('putUsers', all)) },
  { weight: 2, arbitrary: items.map((all) => () => batch('putItems', all)) },
  {
    weight: 6,
    arbitrary: fc.tuple(feedback, fc.boolean()).map(
      ([all, overwrite]) =>
        () =>
          ({ kind: 'putFeedback', overwrite, batch: { json: toJson(all), single: false } }) as const,
    ),
  },
  fc.tuple(userId, texts).map(
    ([id, Labels]) =>
      () =>
        ({ kind: 'patchUser', userId: id, json: toJson({ Labels, Comment: null }) }) as const,
  ),
  fc.tuple(itemId, fc.boolean()).map(
    ([id, IsHidden]) =>
      () =>
        ({ kind: 'patchItem', itemId: id, json: toJson({ IsHidden, Timestamp: '2021-01-01' }) }) as const,
  ),
  userId.map((id) => () => ({ kind: 'deleteUser', userId: id }) as const),
  itemId.map((id) => () => ({ kind: 'deleteItem', itemId: id }) as const),
  itemId.map((id) => () => ({ kind: 'addCategory', itemId: id, category: 'c' }) as const),
  itemId.map((id) => () => ({ kind: 'removeCategory', itemId: id, category: 'c' }) as const),
  fc.tuple(fc.option(type, { nil: undefined }), userId, itemId).map(
    ([feedbackType, user, item]) =>
      () =>
        ({ kind: 'deleteFeedback', feedbackType, userId: user, itemId: item }) as const,
  ),
  fc.constant('reopen' as const),
);

function batch(kind: 'putUsers' | 'putItems', all: readonly unknown[]): WriteCommand {
  return { kind, batch: { json: toJson(all), single: false } };
}

/** What a write answers, or the code of the error that it throws. */
export async function outcome(store: DataStore, command: WriteCommand): Promise<unknown> {
  try {
    const { rowAffected, removed } = await store.write(command);
    return { rowAffected, removed: sorted(removed) };
  } catch (error) {
    if (error instanceof FurzeError) return error.code;
    throw error;
  }
}

/** Everything that can be asked of a store is as in the model. */
export async function expectSame(store: DataStore, model: ModelStore): Promise<void> {
  const { bytes: _, ...counts } = await store.getStats();
  expect(counts).toEqual({ users: model.users.size, items: model.items.size, feedback: model.feedback.size });
  expect(await walk(2, (n, cursor) => store.getUsers(n, cursor))).toEqual((await model.getUsers(0, '')).rows);
  expect(await walk(3, (n, cursor) => store.getItems(n, cursor))).toEqual((await model.getItems(0, '')).rows);
  const everything = await model.getFeedbackPage(0, '');
  expect(sorted(await walk(4, (n, cursor) => store.getFeedbackPage(n, cursor)))).toEqual(
    sorted(everything.rows),
  );
  for (const each of types) {
    const rows = await walk(3, (n, cursor) => store.getFeedbackPage(n, cursor, each));
    expect(sorted(rows)).toEqual(sorted((await model.getFeedbackPage(0, '', each)).rows));
  }
  for (const id of userIds) {
    expect(sorted(await store.getUserFeedback(id))).toEqual(sorted(await model.getUserFeedback(id)));
  }
  for (const id of itemIds) {
    expect(sorted(await store.getItemFeedback(id))).toEqual(sorted(await model.getItemFeedback(id)));
    expect(sorted(await store.getItemFeedback(id, 'like'))).toEqual(
      sorted(await model.getItemFeedback(id, 'like')),
    );
  }
  // One with a copy of items alone asks the database who has feedback on an item.
  if (store.local?.isPartial === false) expectIndexesAgree(store);
}

/** The item side must name exactly the pairs that the user side holds. */
export function expectIndexesAgree(store: DataStore): void {
  const local = store.local!;
  const columns = new FeedbackColumns();
  expect(local.scanFeedback(0, Number.POSITIVE_INFINITY, columns)).toBe(-1);
  const pairs = new Set<string>();
  for (let i = 0; i < columns.length; i++) pairs.add(`${columns.itemRows[i]} ${columns.userRows[i]}`);
  const mirrored: string[] = [];
  for (let row = 0; row < local.itemRowCount; row++) {
    for (const userRow of local.readItemUsers(row)) mirrored.push(`${row} ${userRow}`);
  }
  expect(mirrored.sort()).toEqual([...pairs].sort());
}

/** The rules of `storeOptions`, but for these. */
export function rulesFor(auto: { autoInsertUser: boolean; autoInsertItem: boolean }): WriteRules {
  const { positiveFeedbackTypes, readFeedbackTypes } = storeOptions('');
  return { limits: DEFAULT_LIMITS, positiveFeedbackTypes, readFeedbackTypes, ...auto };
}
