import { describe, expect, it } from 'vitest';
import { DecayedCounter, LiveBaselines } from '../../src/evaluate/live-baselines.ts';
import { Timeline } from '../../src/evaluate/timeline.ts';
import { HOUR_MS, pastOf, type TestRecord } from './past-of-records.ts';

describe('a decayed counter', () => {
  it('counts a like half as much after a half-life, over any span', () => {
    const counter = new DecayedCounter(3, HOUR_MS);
    counter.add(0, 0);
    counter.add(1, HOUR_MS);
    expect(counter.scores[0]! / counter.unitAt(HOUR_MS)).toBe(0.5);
    expect(counter.scores[1]! / counter.unitAt(HOUR_MS)).toBe(1);
    expect(counter.scores[2]).toBe(Number.NEGATIVE_INFINITY);
    for (let hour = 2; hour < 5000; hour += 100) counter.add(2, hour * HOUR_MS);
    expect(counter.scores.every(Number.isFinite)).toBe(true);
    expect(counter.scores[2]! / counter.unitAt(4902 * HOUR_MS)).toBeCloseTo(1, 9);
  });
});

describe('the live baselines', () => {
  /** Two tastes: users of even numbers like 0 to 3, others 4 to 7; at the end everybody takes 8. */
  const records = Array.from({ length: 60 }, (_, at): TestRecord => {
    const user = at % 10;
    return [user, (user % 2) * 4 + (Math.floor(at / 10) % 4), at];
  });
  const timeline = new Timeline(
    pastOf([...records, ...[0, 1, 2].map((at): TestRecord => [at, 8, 500 + at]), [10, 0, 600]]),
  );
  const list = (name: string, user: number, at: number) => {
    const live = new LiveBaselines(timeline);
    live.learn(at);
    return [
      ...live.lists(timeline.likesOf(user, at), timeline.seenBy(user, at), 600 * HOUR_MS, 3).get(name)!,
    ];
  };

  it('rank by likes of late, each by its own half-life', () => {
    expect(list('most liked, 1 h', 5, 63)[0]).toBe(8);
    expect(list('most liked ever', 5, 63)).toEqual([0, 1, 2]);
    expect(list('most liked ever', 10, 64)[0]).toBe(1);
  });

  it('know nothing of what comes: the count and the neighbors end before the question', () => {
    expect(list('most liked, 1 h', 5, 60)).not.toContain(8);
    expect(list('item cosine', 10, 63)).toEqual([]);
  });

  it('go by who liked both, as the cosine says', () => {
    const taste = list('item cosine', 10, 64);
    expect(taste).toHaveLength(3);
    expect(taste.every((item) => item < 4)).toBe(true);
    const liked = (item: number) => new Set(timeline.likesOn(item, 64).map((at) => timeline.userRows[at]!));
    const cosine = (other: number) =>
      [...liked(0)].filter((user) => liked(other).has(user)).length /
      Math.sqrt(liked(0).size * liked(other).size);
    const expected = [1, 2, 3, 4, 5, 6, 7, 8].sort((a, b) => cosine(b) - cosine(a) || a - b).slice(0, 3);
    expect(taste).toEqual(expected);
  });
});
