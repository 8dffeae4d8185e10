import { expect, it } from 'vitest';
import { Rotation } from '../../../src/recommend/placements/rotation.ts';
import type { ShownRecord, ShownToUser } from '../../../src/store/shown-log.ts';
import { learnOf } from './learn-of.ts';

const HOUR_MS = 3_600_000;

function record(
  userId: string,
  time: number,
  row: number,
  place: number,
  feedbackType?: string,
): ShownRecord {
  const list = { placement: 'home', variant: '', generation: 1, timeMs: time * HOUR_MS };
  const more = feedbackType === undefined ? { places: [place] } : { places: [], feedbackType };
  return {
    userId,
    timeMs: time * HOUR_MS + (feedbackType === undefined ? 0 : 1),
    list,
    itemRows: [row],
    ...more,
  };
}

/** Users who see an item at most three times and then another at a worse place; `clicks` tells whether one clicks at a time. */
function usersWho(count: number, clicks: (user: number, time: number) => boolean): ShownToUser[] {
  return Array.from({ length: count }, (_, user) => {
    const userId = `u${user}`;
    const records: ShownRecord[] = [];
    for (let time = 0; time < 3; time++) {
      records.push(record(userId, time, 7, 1), record(userId, time, 100 + time, 2));
      if (user % 20 === 3) records.push(record(userId, time, 100 + time, 2, 'like'));
      if (!clicks(user, time)) continue;
      records.push(record(userId, time, 7, 1, 'like'));
      break;
    }
    return { userId, records };
  });
}

function rotationOver(users: readonly ShownToUser[]): Rotation {
  const rotation = new Rotation();
  learnOf(rotation, users);
  return rotation;
}

it('learns how much less is clicked on what was passed over, beside what stands there for the first time', () => {
  // At first one in five, then one in twenty of those who are left, then one in forty.
  const rotation = rotationOver(
    usersWho(
      4000,
      (user, time) => user % 5 === 0 || (time === 1 && user % 20 === 1) || (time === 2 && user % 40 === 2),
    ),
  );
  const factors = rotation.of('home')!;
  expect(factors[0]).toBe(1);
  expect(factors[1]).toBeGreaterThan(0.15);
  expect(factors[1]).toBeLessThan(0.6);
  expect(factors[2]).toBeLessThan(factors[1]!);
  for (const [at, factor] of factors.entries())
    expect(factor <= (factors[at - 1] ?? 1) && factor >= 0.05).toBe(true);
  expect(rotation.of('side')).toBeUndefined();
  // What is known holds until the next lesson is at its end.
  rotation.learn();
  expect(rotation.of('home')).toBe(factors);
});

it('finds none where it does not matter, and says nothing of few', () => {
  const same = rotationOver(usersWho(4000, (user, time) => (user + 7 * time) % 5 === 0));
  expect(same.of('home')![1]).toBeGreaterThan(0.8);
  expect(rotationOver(usersWho(100, (user) => user % 2 === 0)).of('home')).toBeUndefined();
});
