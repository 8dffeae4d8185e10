import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerSlots, ID_LENGTH_MAX, SLOT_ROWS } from '../../../src/recommend/lists/answer-slots.ts';

interface Kept {
  readonly userRow: number;
  readonly itemRows: readonly number[];
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What the table finds, as an array. */
function found(slots: AnswerSlots, userId: string, nowMs: number): number[] | undefined {
  if (!slots.find(userId, nowMs)) return undefined;
  return [...slots.words.subarray(slots.rowsAt, slots.rowsAt + slots.length)];
}

const ids = fc.constantFrom(
  ...Array.from({ length: 60 }, (_, at) => `user-${at}`),
  ...['', 'é', '用户', '__proto__', 'x'.repeat(ID_LENGTH_MAX)],
);

const put = fc.record({
  kind: fc.constant('put' as const),
  userId: ids,
  userRow: fc.nat(200),
  itemRows: fc.array(fc.nat(2 ** 32 - 1), { maxLength: SLOT_ROWS }),
  fromMs: fc.nat(100),
  untilMs: fc.nat(100),
});
const find = fc.record({ kind: fc.constant('find' as const), userId: ids, nowMs: fc.nat(100) });
const forget = fc.record({ kind: fc.constant('forget' as const), userRow: fc.nat(200) });
const steps = fc.array(
  fc.oneof({ arbitrary: put, weight: 6 }, { arbitrary: find, weight: 10 }, { arbitrary: forget, weight: 3 }),
  { maxLength: 200 },
);

test.each([16, 160])('a table of %i slots finds nothing but what a map holds', (count) => {
  fc.assert(
    fc.property(steps, (all) => {
      const slots = new AnswerSlots(count);
      const map = new Map<string, Kept>();
      for (const step of all) {
        if (step.kind === 'put') {
          // A user has one row and a row one user.
          for (const [id, { userRow }] of map) {
            if (userRow === step.userRow && id !== step.userId) map.delete(id);
          }
          slots.forget(step.userRow);
          slots.put(step.userId, step.userRow, Uint32Array.from(step.itemRows), step.itemRows.length, {
            ...step,
            madeMs: 0,
            knowsMs: 0,
          });
          map.set(step.userId, step);
          const mid = step.fromMs;
          expect(found(slots, step.userId, mid)).toEqual(mid < step.untilMs ? step.itemRows : undefined);
        } else if (step.kind === 'find') {
          const kept = map.get(step.userId);
          const answer = found(slots, step.userId, step.nowMs);
          const isRight = kept !== undefined && kept.fromMs <= step.nowMs && step.nowMs < kept.untilMs;
          if (answer !== undefined) expect([isRight, answer]).toEqual([true, kept?.itemRows]);
        } else {
          slots.forget(step.userRow);
          for (const [id, { userRow }] of map) if (userRow === step.userRow) map.delete(id);
        }
      }
    }),
    { numRuns: 200, seed: 3 },
  );
});

test('a table with room for all keeps nearly all', () => {
  const slots = new AnswerSlots(1600);
  for (let user = 0; user < 1000; user++) {
    slots.put(`user-${user}`, user, Uint32Array.of(user), 1, {
      fromMs: 0,
      untilMs: 10,
      madeMs: 0,
      knowsMs: 0,
    });
  }
  let kept = 0;
  for (let user = 0; user < 1000; user++) {
    const rows = found(slots, `user-${user}`, 5);
    if (rows === undefined) continue;
    expect(rows).toEqual([user]);
    kept++;
  }
  expect(kept).toBeGreaterThan(950);
});
