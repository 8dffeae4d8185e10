import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FurzeError } from '../../src/domain/errors.ts';
import { DEFAULT_LIMITS } from '../../src/domain/limits.ts';
import { createRandom } from '../../src/domain/random.ts';
import { type DataStore, FeedbackColumns, type WriteCommand } from '../../src/store/data-store.ts';
import type { WriteRules } from '../../src/store/lmdb/messages.ts';
import { DirectStore } from './direct-store.ts';
import { close, NOW_MS, openIn, sorted, storeOptions, tempFolder, toJson, walk } from './helpers.ts';
import { ModelStore } from './model-store.ts';

const userIds = ['u', 'u2', '__proto__', 'é', '🐝', 'x'.repeat(512)];
const itemIds = ['i', 'i2', 'constructor', '鯨', '🌿', 'y y%'];
const types = ['like', 'star', 'read', 'seen', 'other'];
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
type Operation = 'reopen' | (() => WriteCommand);

const operation: fc.Arbitrary<Operation> = fc.oneof(
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

async function outcome(store: DataStore, command: WriteCommand): Promise<unknown> {
  try {
    const { rowAffected, removed } = await store.write(command);
    return { rowAffected, removed: sorted(removed) };
  } catch (error) {
    if (error instanceof FurzeError) return error.code;
    throw error;
  }
}

async function expectSame(store: DataStore, model: ModelStore): Promise<void> {
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
  expectIndexesAgree(store);
}

/** The item side must name exactly the pairs that the user side holds. */
function expectIndexesAgree(store: DataStore): void {
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

const AUTO = [
  { autoInsertUser: true, autoInsertItem: true },
  { autoInsertUser: false, autoInsertItem: true },
  { autoInsertUser: true, autoInsertItem: false },
];

function rulesFor(auto: { autoInsertUser: boolean; autoInsertItem: boolean }): WriteRules {
  const { positiveFeedbackTypes, readFeedbackTypes } = storeOptions('');
  return { limits: DEFAULT_LIMITS, positiveFeedbackTypes, readFeedbackTypes, ...auto };
}

test('any sequence of operations and restarts does what the model does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 14 }), async (operations) => {
      const folder = tempFolder();
      const model = new ModelStore(rulesFor(AUTO[0]!), NOW_MS);
      let stores = openIn(folder);
      for (const each of operations) {
        if (each === 'reopen') {
          await close(stores);
          stores = openIn(folder);
        } else {
          expect(await outcome(stores.data, each())).toEqual(await outcome(model, each()));
        }
      }
      await expectSame(stores.data, model);
      await close(stores);
    }),
    { numRuns: 10, seed: 7 },
  );
}, 120_000);

test.each(AUTO)(
  'any sequence of operations does what the model does: %o',
  async (auto) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 20 }), async (operations) => {
        const model = new ModelStore(rulesFor(auto), NOW_MS);
        const store = new DirectStore(join(tempFolder(), 'data'), rulesFor(auto));
        for (const each of operations) {
          if (each === 'reopen') continue;
          expect(await outcome(store, each())).toEqual(await outcome(model, each()));
        }
        await expectSame(store, model);
        await store.close();
      }),
      { numRuns: 60, seed: 11 },
    );
  },
  120_000,
);

/** Batches that fill, split, thin out and empty many blocks. */
test.each([
  { userCount: 3, itemCount: 900 },
  { userCount: 1500, itemCount: 2 },
])(
  'rows of many blocks agree with the model: %o',
  async ({ userCount, itemCount }) => {
    const manyUsers = Array.from({ length: userCount }, (_, i) => `u${i}`);
    const manyItems = Array.from({ length: itemCount }, (_, i) => `i${i}`);
    const random = createRandom(5);
    const model = new ModelStore(rulesFor(AUTO[0]!), NOW_MS);
    const store = new DirectStore(join(tempFolder(), 'data'), rulesFor(AUTO[0]!));
    for (let round = 0; round < 14; round++) {
      const records = Array.from({ length: 700 }, () => ({
        FeedbackType: types[random.below(types.length)]!,
        UserId: manyUsers[random.below(userCount)]!,
        ItemId: manyItems[random.below(itemCount)]!,
        Timestamp: '2022-02-02T02:02:02Z',
      }));
      const overwrite = random.below(2) === 1;
      const put = () =>
        ({ kind: 'putFeedback', overwrite, batch: { json: toJson(records), single: false } }) as const;
      expect(await outcome(store, put())).toEqual(await outcome(model, put()));
      for (let i = 0; i < 20 * round; i++) {
        const pair = records[random.below(records.length)]!;
        const drop = {
          kind: 'deleteFeedback',
          feedbackType: undefined,
          userId: pair.UserId,
          itemId: pair.ItemId,
        } as const;
        expect(await outcome(store, drop)).toEqual(await outcome(model, drop));
      }
    }
    const check = async () => {
      const { bytes: _, ...counts } = await store.getStats();
      expect(counts).toEqual({
        users: model.users.size,
        items: model.items.size,
        feedback: model.feedback.size,
      });
      const all = await walk(97, (n, cursor) => store.getFeedbackPage(n, cursor));
      expect(sorted(all)).toEqual(sorted([...model.feedback.values()]));
      expectIndexesAgree(store);
    };
    await check();
    for (const each of [
      { kind: 'deleteUser', userId: 'u1' },
      { kind: 'deleteItem', itemId: 'i1' },
    ] as const) {
      expect(await outcome(store, each)).toEqual(await outcome(model, each));
    }
    await check();
    await store.close();
  },
  60_000,
);
