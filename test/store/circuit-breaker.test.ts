import { afterEach, beforeEach, expect, test } from 'vitest';
import { packList, unpackList } from '../../src/store/packed-list.ts';
import { CircuitBreaker } from '../../src/store/shared/circuit-breaker.ts';
import { list } from './contract/cache-store.ts';

/** How the place answers at the moment. */
let mood: 'well' | 'never' | 'badly';
let asked: number[][];
let pings: number;
let resets: number;
let troubles: number;
let counts: number;
let lists: CircuitBreaker;

function answer<T>(value: T): Promise<T> {
  if (mood === 'never') return new Promise(() => {});
  return mood === 'badly' ? Promise.reject(new Error('broken')) : Promise.resolve(value);
}

beforeEach(() => {
  mood = 'well';
  asked = [];
  [pings, resets, troubles, counts] = [0, 0, 0, 0];
  const place = {
    get(userRows: readonly number[]) {
      asked.push([...userRows]);
      return answer(userRows.map((row) => (row % 2 === 0 ? packList(list(row, 3)) : undefined)));
    },
    change: () => answer(undefined),
    getStats() {
      counts++;
      return answer({ lists: 1, bytes: 2 });
    },
    ping() {
      pings++;
      return answer(undefined);
    },
    reset() {
      resets++;
    },
    close: async () => {},
  };
  const onTrouble = () => troubles++;
  lists = new CircuitBreaker(place, { onTrouble, readMsMax: 5, changeMsMax: 5, lookMs: 2 });
});

afterEach(() => lists.close());

test('what is asked for in one turn is one question, and each is asked for once', async () => {
  const found = await Promise.all([2, 3, 2, 4].map((row) => lists.find(row)));
  expect(found).toEqual([list(2, 3), undefined, list(2, 3), list(4, 3)]);
  expect(asked).toEqual([[2, 3, 4]]);
});

for (const bad of ['never', 'badly'] as const)
  test(`a place that answers ${bad} counts as empty, is left alone, and taken up again when it is well`, async () => {
    mood = bad;
    for (let round = 0; round < 3; round++) expect(await lists.find(2)).toBeUndefined();
    expect(lists.isAvailable).toBe(false);
    expect(asked).toHaveLength(3);
    for (let round = 0; round < 50; round++) expect(await lists.find(2)).toBeUndefined();
    expect(await lists.findAll([2, 4])).toEqual([]);
    await expect(lists.change([list(2, 1)], [])).rejects.toThrow('does not answer');
    expect(asked).toHaveLength(3);
    await expect.poll(() => resets).toBeGreaterThan(0);
    expect(troubles).toBeGreaterThan(2);
    expect(lists.failures).toBe(3);
    mood = 'well';
    await expect.poll(() => lists.isAvailable).toBe(true);
    expect(await lists.find(2)).toEqual(list(2, 3));
    expect(pings).toBeGreaterThan(0);
  });

for (const [name, ask] of [
  ['lists of many users', () => lists.findAll([2, 4])],
  ['changes', () => lists.change([list(2, 1)], []).catch(() => {})],
] as const)
  test(`a place that does not answer ${name} is left alone, and taken up again`, async () => {
    mood = 'never';
    for (let round = 0; round < 3; round++) await ask();
    expect([lists.isAvailable, lists.failures]).toEqual([false, 3]);
    mood = 'well';
    await expect.poll(() => lists.isAvailable).toBe(true);
    await ask();
    expect(lists.failures).toBe(3);
  });

test('a place that does not count in time says so within the bound, and is asked once for all who wait', async () => {
  mood = 'never';
  await expect(Promise.all([lists.getStats(), lists.getStats()])).rejects.toThrow('within 5 ms');
  expect([counts, lists.failures]).toEqual([1, 1]);
  mood = 'well';
  expect(await lists.getStats()).toEqual({ lists: 1, bytes: 2 });
});

test('some failures with answers between them do not count together', async () => {
  for (let round = 0; round < 6; round++) {
    mood = round % 2 === 0 ? 'badly' : 'well';
    await lists.find(2);
  }
  expect([lists.isAvailable, lists.failures]).toEqual([true, 3]);
});

test('a list is packed into few bytes, and comes back as it was', () => {
  expect(packList({ ...list(1, 100), itemRows: new Uint32Array(100).fill(5_000_000) }).length).toBe(736);
  for (const highest of [0, 255, 256, 70_000, 2 ** 24, 2 ** 32 - 1]) {
    const given = { ...list(7, 3), itemRows: Uint32Array.of(highest, 0, highest >>> 1) };
    expect(unpackList(7, packList(given))).toEqual(given);
  }
  const { basis: _, ...own } = list(7, 3);
  expect(unpackList(7, packList(own))).toEqual(own);
});

test('bytes of another form or length are no list', () => {
  const bytes = packList(list(7, 3));
  expect(unpackList(7, bytes.subarray(1))).toBeUndefined();
  expect(unpackList(7, Uint8Array.of(...bytes, 0))).toBeUndefined();
  expect(unpackList(7, Uint8Array.of(2, ...bytes.subarray(1)))).toBeUndefined();
  expect(unpackList(7, new Uint8Array(0))).toBeUndefined();
  expect(() => packList(list(7, 65_536))).toThrow(RangeError);
});
