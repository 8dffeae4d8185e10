import { expect, it } from 'vitest';
import { SeenLately } from '../../../src/recommend/placements/seen-lately.ts';
import type { ShownRecord } from '../../../src/store/shown-log.ts';

function record(userId: string, timeMs: number, rows = 1): ShownRecord {
  const list = { placement: 'home', variant: '', generation: 1, timeMs };
  const itemRows = Array.from({ length: rows }, (_, at) => at);
  return { userId, timeMs, list, itemRows, places: itemRows.map((row) => row + 1) };
}

it('reads a user once, knows what is stored after, and looks again for what other nodes store', async () => {
  let nowMs = 0;
  let reads = 0;
  const stored = [record('ann', 1)];
  const ofUser = async () => {
    reads++;
    return [...stored];
  };
  const seen = new SeenLately({ ofUser }, () => nowMs);
  expect(await Promise.all([seen.of('ann'), seen.of('ann')])).toEqual([stored, stored]);
  seen.note([record('ann', 2), record('bob', 3)]);
  expect((await seen.of('ann')).map(({ timeMs }) => timeMs)).toEqual([1, 2]);
  expect(reads).toBe(1);
  stored.push(record('ann', 2), record('ann', 4));
  nowMs = 30_001;
  expect((await seen.of('ann')).map(({ timeMs }) => timeMs)).toEqual([1, 2, 4]);
  seen.forget('ann');
  stored.length = 0;
  expect(await seen.of('ann')).toEqual([]);
});

it('keeps what is stored while it reads', async () => {
  let answer = (_: ShownRecord[]) => {};
  const seen = new SeenLately({ ofUser: () => new Promise((resolve) => (answer = resolve)) }, () => 0);
  const asked = seen.of('ann');
  seen.note([record('ann', 5), record('ann', 6)]);
  answer([record('ann', 1), record('ann', 5)]);
  expect((await asked).map(({ timeMs }) => timeMs)).toEqual([1, 5, 6]);
});

it('answers without a log that does not answer, and leaves it alone for a while', async () => {
  let reads = 0;
  let nowMs = 0;
  const ofUser = () => {
    reads++;
    return new Promise<never>(() => {});
  };
  const seen = new SeenLately({ ofUser }, () => nowMs);
  expect(await seen.of('ann')).toEqual([]);
  expect(await seen.of('bob')).toEqual([]);
  expect(reads).toBe(1);
  nowMs = 6000;
  await seen.of('bob');
  expect(reads).toBe(2);
});

it('forgets those who were read longest ago where there is no more room', async () => {
  let reads = 0;
  const ofUser = async (userId: string) => {
    reads++;
    return [record(userId, 1, 900_000)];
  };
  const seen = new SeenLately({ ofUser }, () => 0);
  for (const user of ['a', 'b', 'c', 'c', 'b', 'a']) await seen.of(user);
  expect(reads).toBe(4);
});
