import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import {
  expectIndexesAgree,
  expectSame,
  operation,
  outcome,
  rulesFor,
  types,
} from './contract/operations.ts';
import { DirectStore } from './direct-store.ts';
import { NOW_MS, sorted, tempFolder, toJson, walk } from './helpers.ts';
import { ModelStore } from './model-store.ts';

const AUTO = [
  { autoInsertUser: true, autoInsertItem: true },
  { autoInsertUser: false, autoInsertItem: true },
  { autoInsertUser: true, autoInsertItem: false },
];

test.each(AUTO)('any sequence of operations does what the model does: %o', async (auto) => {
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
});

/** Batches that fill, split, thin out and empty many blocks. */
test.each([
  { userCount: 3, itemCount: 900 },
  { userCount: 1500, itemCount: 2 },
])('rows of many blocks agree with the model: %o', async ({ userCount, itemCount }) => {
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
});
