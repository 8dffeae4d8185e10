import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ActiveUsers, type PassOrder } from '../../../src/recommend/lists/active-users.ts';
import { forgetStaleLists } from '../../../src/recommend/lists/freshness.ts';
import { UserBits } from '../../../src/recommend/rows/user-bits.ts';

const DAY_MS = 86_400_000;
const TTL_MS = 7 * DAY_MS;
const START_MS = 20_000 * DAY_MS;

/** All users of an order, some at a time. */
function all(order: PassOrder, limit = 2): number[] {
  const rows: number[] = [];
  for (let position = order.first; ; ) {
    const taken = order.take(position, limit);
    if (taken === undefined) break;
    rows.push(...taken.userRows);
    position = taken.next;
    expect(order.countFrom(position)).toBe(order.countFrom(order.first) - rows.length);
  }
  return rows;
}

function marks() {
  const kept = new Map<string, unknown>();
  return {
    getState: async (name: string) => kept.get(name),
    putState: async (name: string, mark: unknown) => void kept.set(name, mark),
  };
}

test('rows of a set are counted and found within bounds', () => {
  const cases = fc.tuple(
    fc.uniqueArray(fc.nat(300)),
    fc.nat(300),
    fc.nat(320),
    fc.integer({ min: 1, max: 9 }),
  );
  fc.assert(
    fc.property(cases, ([rows, from, to, limit]) => {
      const bits = new UserBits();
      for (const row of rows) bits.add(row);
      const within = rows.filter((row) => row >= from && row < to).sort((a, b) => a - b);
      expect(bits.countIn(from, to)).toBe(within.length);
      expect([...bits.rowsIn(from, to, limit)]).toEqual(within.slice(0, limit));
      bits.addBelow(from);
      expect(bits.countIn(0, from)).toBe(from);
      expect(bits.countIn(from, 320)).toBe(rows.filter((row) => row >= from).length);
    }),
    { seed: 1 },
  );
});

test('users are active for their time to live, those seen last come first, and each comes once', async () => {
  let nowMs = START_MS;
  const active = new ActiveUsers(TTL_MS, () => nowMs);
  const see = (day: number, rows: readonly number[]) => {
    nowMs = START_MS + day * DAY_MS;
    for (const row of rows) active.note(row);
  };
  see(0, [1, 70, 4]);
  see(3, [4, 2]);
  see(6, [65, 2]);
  expect(all(active.order(100))).toEqual([2, 65, 4, 1, 70]);
  expect(all(active.order(66))).toEqual([2, 65, 4, 1]);
  nowMs = START_MS + 9 * DAY_MS;
  expect(all(active.order(100))).toEqual([2, 65, 4]);
  const saved = marks();
  await active.save(saved, 100);
  const next = new ActiveUsers(TTL_MS, () => nowMs);
  await next.restore(saved, 102);
  next.note(8);
  // Of those who came after it was saved nothing is known.
  expect(all(next.order(102))).toEqual([8, 100, 101, 2, 65, 4]);
  await forgetStaleLists(saved);
  const imported = new ActiveUsers(TTL_MS, () => nowMs);
  await imported.restore(saved, 5);
  expect(all(imported.order(5))).toEqual([0, 1, 2, 3, 4]);
});

test('who is seen after a long quiet time is active', () => {
  let nowMs = START_MS;
  const active = new ActiveUsers(TTL_MS, () => nowMs);
  active.note(1);
  nowMs += 2 * TTL_MS;
  active.note(2);
  expect(all(active.order(10))).toEqual([2]);
});

test('an order does not change once it is there', () => {
  const active = new ActiveUsers(TTL_MS, () => START_MS);
  active.note(3);
  const order = active.order(100);
  active.note(4);
  expect(all(order)).toEqual([3]);
});

test('where it is not known who was seen, and without a time to live, everybody is active', async () => {
  const unknown = new ActiveUsers(TTL_MS, () => START_MS);
  await unknown.restore(marks(), 33);
  const always = new ActiveUsers(0, () => START_MS);
  always.note(3);
  const rows = Array.from({ length: 33 }, (_, row) => row);
  expect(all(unknown.order(40), 8)).toEqual(rows);
  expect(all(always.order(33), 8)).toEqual(rows);
  expect(all(always.order(0))).toEqual([]);
});

test('a set of users knows how many it holds, whatever came and went', () => {
  const step = fc.oneof(
    fc.tuple(fc.constantFrom('add', 'delete', 'addBelow'), fc.nat(200)),
    fc.tuple(fc.constantFrom('addAll', 'subtract'), fc.array(fc.nat(200), { maxLength: 9 })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const bits = new UserBits();
      for (const [name, given] of steps) {
        const other = new UserBits();
        if (Array.isArray(given)) for (const row of given) other.add(row);
        if (name === 'add') bits.add(given as number);
        else if (name === 'delete') bits.delete(given as number);
        else if (name === 'addBelow') bits.addBelow(given as number);
        else if (name === 'addAll') bits.addAll(other);
        else bits.subtract(other);
        expect(bits.count).toBe(bits.rowsIn(0, 1 << 15, 1 << 15).length);
      }
    }),
    { numRuns: 60, seed: 1 },
  );
});
