import { expect, test } from 'vitest';
import { gather } from '../../src/threads/gather-training-data.ts';
import { prepare } from '../../src/threads/train-parts.ts';
import { withTrainingReads } from '../../src/threads/training-reads.ts';
import { feedback, NOW_MS, openIn, putFeedback, storeOptions, tempFolder } from '../store/helpers.ts';

const positiveTypes = ['like', 'star'];
const readTypes = ['read', 'star'];
const at = (day: number) => ({ Timestamp: new Date(NOW_MS - (30 - day) * 86_400_000).toISOString() });

function gathered(folder: string, budgetBytes = 1e9) {
  const { dataPath } = storeOptions(folder);
  const footprint = { user: 1, item: 0, pair: 0, base: 0 };
  const limits = { heldBytes: 0, budgetBytes, footprint };
  const span = { sinceMs: 0, untilMs: NOW_MS };
  const data = gather({
    kind: 'gather',
    dataPath,
    positiveTypes,
    ...span,
    ...limits,
    seed: 1,
    leavesOut: false,
    cancelled: new Int32Array(new SharedArrayBuffer(4)),
  })!;
  return { data, source: { dataPath, positiveTypes, readTypes } };
}

test('the time of a like is that of positive feedback alone, of types that also count as read too', async () => {
  const folder = tempFolder();
  const { data: store } = openIn(folder);
  await store.write(
    putFeedback([
      feedback('star', 'u', 'a', at(2)),
      feedback('like', 'u', 'b', at(1)),
      feedback('share', 'u', 'b', at(9)),
      feedback('like', 'u', 'c', at(3)),
    ]),
  );
  await store.write(putFeedback([feedback('read', 'u', 'c', at(8))]));
  const { data, source } = gathered(folder);
  const days: number[][] = [];
  withTrainingReads(source, (reads) =>
    reads.readTimes(data, (_user, timesMs) =>
      days.push(Array.from(timesMs, (timeMs) => 30 - (NOW_MS - timeMs) / 86_400_000)),
    ),
  );
  expect(days).toEqual([[2, 1, 3]]);
});

test('nothing more of the feedback is read once nobody waits for it', async () => {
  const folder = tempFolder();
  const { data: store } = openIn(folder);
  await store.write(putFeedback([feedback('like', 'u', 'a', at(2)), feedback('read', 'u', 'b', at(3))]));
  const { data, source } = gathered(folder);
  const part = { ...source, part: 'click', data, options: { seed: 1 }, slots: 1, free: [] } as const;
  const room = { serving: { slots: 1, listLengthMax: 1 }, heldBytes: 0, budgetBytes: 1e9 };
  const cancelled = new Int32Array(new SharedArrayBuffer(4));
  const job = { kind: 'prepare', ...part, ...room, cancelled } as const;
  expect(prepare(job).plannedBytes).toBeGreaterThan(0);
  cancelled[0] = 1;
  expect(() => prepare(job)).toThrow(/nobody waits/);
});

test('what users outside the sample have read and like is not taken for what they do not like', async () => {
  const folder = tempFolder();
  const { data: store } = openIn(folder);
  const users = [...Array(40).keys()].map((user) => `u${user}`);
  await store.write(putFeedback(users.map((user) => feedback('star', user, 'a', at(1)))));
  await store.write(putFeedback(users.map((user) => feedback('read', user, 'a', at(2)))));
  await store.write(putFeedback(users.map((user) => feedback('read', user, 'b', at(3)))));
  const { data, source } = gathered(folder, 20);
  expect(data.userShare).toBeGreaterThan(0);
  expect(data.userShare).toBeLessThan(1);
  const { userCount } = data.interactions;
  expect(userCount).toBeLessThan(40);
  const b = store.local!.itemRow('b');
  withTrainingReads(source, (reads) => {
    const { userRows, itemRows } = reads.readPairs(data);
    expect(Array.from(itemRows)).toEqual(Array(userCount).fill(b));
    expect(Array.from(userRows)).toEqual([...Array(userCount).keys()]);
  });
});
