import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { type Lesson, ShownLessons } from '../../../src/recommend/placements/shown-lessons.ts';
import type { ShownToUser } from '../../../src/store/shown-log.ts';

const MINUTE_MS = 60_000;
const users = Array.from({ length: 5 }, (_, at): ShownToUser => ({ userId: `u${at}`, records: [] }));

function lessonsOver(walk: () => AsyncIterable<readonly ShownToUser[]>, learners: { learn(): Lesson }[]) {
  let nowMs = 0;
  const troubles: string[] = [];
  const onTrouble = (_: string, error: unknown) => troubles.push((error as Error).message);
  const lessons = new ShownLessons({ walk }, () => nowMs, learners, onTrouble);
  return { lessons, troubles, pass: (ms: number) => (nowMs += ms) };
}

function learner() {
  const seen: string[] = [];
  let ends = 0;
  const learn = (): Lesson => ({
    *note({ userId }) {
      seen.push(userId);
      yield;
    },
    end: () => ends++,
  });
  return { learn, seen, ends: () => ends };
}

it('walks once for all that learn, hourly, and after a minute where something is missing', async () => {
  let walks = 0;
  const [one, other] = [learner(), learner()];
  const { lessons, pass } = lessonsOver(
    async function* () {
      walks++;
      yield users.slice(0, 3);
      yield users.slice(3);
    },
    [one, other],
  );
  lessons.renew(false);
  lessons.renew(true);
  await vi.waitFor(() => expect([one.ends(), other.ends()]).toEqual([1, 1]), 300_000);
  await nextTurn();
  expect(one.seen).toEqual(users.map(({ userId }) => userId));
  expect(other.seen).toEqual(one.seen);
  pass(MINUTE_MS - 1);
  lessons.renew(true);
  expect(walks).toBe(1);
  pass(1);
  lessons.renew(false);
  expect(walks).toBe(1);
  lessons.renew(true);
  await vi.waitFor(() => expect(one.ends()).toBe(2), 300_000);
  await nextTurn();
  pass(60 * MINUTE_MS);
  lessons.renew(false);
  await vi.waitFor(() => expect(one.ends()).toBe(3), 300_000);
  expect(walks).toBe(3);
});

it('lets others have their turns while a user with very much is taken in', async () => {
  let taken = 0;
  let ended = false;
  const slow = {
    learn: (): Lesson => ({
      *note() {
        for (; taken < 50; taken++) {
          for (const endMs = performance.now() + 2; performance.now() < endMs; ) Math.sqrt(2);
          yield;
        }
      },
      end: () => {
        ended = true;
      },
    }),
  };
  const { lessons } = lessonsOver(
    async function* () {
      yield users.slice(0, 1);
    },
    [slow],
  );
  lessons.renew(false);
  const between = new Set<number>();
  while (!ended) {
    between.add(taken);
    await nextTurn();
  }
  expect(between.size).toBeGreaterThan(20);
});

it('goes by what was learned before where the log cannot be read, says so, and tries again', async () => {
  let walks = 0;
  const one = learner();
  const { lessons, troubles, pass } = lessonsOver(
    async function* () {
      yield users;
      if (walks++ === 0) throw new Error('no store');
    },
    [one],
  );
  lessons.renew(true);
  await vi.waitFor(() => expect(walks).toBe(1), 300_000);
  await nextTurn();
  expect(one.ends()).toBe(0);
  pass(MINUTE_MS);
  lessons.renew(true);
  await vi.waitFor(() => expect(one.ends()).toBe(1), 300_000);
  expect(troubles).toEqual(['no store']);
});
