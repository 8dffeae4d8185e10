import { describe, expect, it, vi } from 'vitest';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';
import { DataClock } from '../../src/recommend/popularity/data-clock.ts';
import { PopularityCounts, sharePopularity } from '../../src/recommend/popularity/popularity-counts.ts';
import { HALF_LIVES_MS, POPULARITY_SCALES } from '../../src/recommend/popularity/popularity-scales.ts';
import { type RankedPopularity, withMoreLikes } from '../../src/recommend/ranking/compute-features.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { isPositive, LIKE, READ } from './hand-made.ts';

const HOUR_MS = 3_600_000;
const SPANS = { windowMs: 64 * HOUR_MS, ttlMs: Number.POSITIVE_INFINITY };
const NOW = 10_000 * HOUR_MS;

function columns(records: readonly [item: number, hoursAgo: number, type?: number][]): FeedbackColumns {
  const feedback = new FeedbackColumns();
  for (const [item, hoursAgo, type = LIKE] of records) feedback.push(0, item, type, NOW - hoursAgo * HOUR_MS);
  return feedback;
}

/** The counts of the first three items: in the window, ever. */
function countsOf(popularity: PopularityCounts) {
  popularity.drain();
  return [popularity.window, popularity.ever].map((counts) => [...counts.subarray(0, 3)]);
}

describe('popularity', () => {
  it('do not count the newest records anew with every commit, but when somebody asks', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    const counted = vi.spyOn(DataClock.prototype, 'forEach');
    for (let commit = 0; commit < 10; commit++) {
      popularity.apply(columns([[commit % 3, 20 - commit]]), isPositive, 1);
      popularity.drain();
    }
    expect(counted).not.toHaveBeenCalled();
    expect(popularity.asOfMs).toBe(NOW - 11 * HOUR_MS);
    expect(popularity.scales.map(({ total }) => total > 0)).toEqual([...HALF_LIVES_MS.map(() => true), true]);
    counted.mockRestore();
  });

  it('share each scale with the newest records, though a commit comes between two', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    popularity.apply(columns([[0, 5]]), isPositive, 1);
    popularity.drain();
    const steps = sharePopularity(popularity, 3);
    let step = steps.next();
    for (let commit = 0; step.done !== true; commit++) {
      popularity.apply(columns([[1, 4 - commit / 100]]), isPositive, 1);
      popularity.drain();
      step = steps.next();
    }
    expect(step.value.scales.every(({ values, total }) => values[0]! > 0 && total > 0)).toBe(true);
  });

  it('are foretold with more likes of one item', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    const before = Array.from({ length: 40 }, (_, at): [number, number] => [at % 4 === 0 ? 0 : 1, 39 - at]);
    popularity.apply(columns(before), isPositive, 1);
    popularity.drain();
    expect(popularity.asOfMs).toBe(NOW);
    const shares = ({ scales }: RankedPopularity) =>
      scales.flatMap(({ values, total }) => [0, 1].map((row) => values[row]! / total));
    const foretold = shares(withMoreLikes(popularity, [0, 1], popularity.totals(), 7));
    const now = shares(popularity);
    popularity.apply(columns(Array.from({ length: 7 }, () => [0, 0])), isPositive, 1);
    popularity.drain();
    shares(popularity).forEach((share, at) => {
      expect(foretold[at]).toBeCloseTo(share, 5);
      expect(Math.abs(share - now[at]!)).toBeGreaterThan(0.01);
    });
  });

  it('count positive feedback in the window and ever', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    popularity.apply(
      columns([
        [0, 1],
        [0, 15],
        [0, 30],
        [0, 100],
        [1, 60],
        [1, 1000],
        [2, 1, READ],
      ]),
      isPositive,
      1,
    );
    expect(countsOf(popularity)).toEqual([
      [3, 1, 0],
      [4, 2, 0],
    ]);
  });

  it('count a record of a time far ahead once that comes, unless it was taken back', () => {
    let now = NOW;
    const popularity = new PopularityCounts(SPANS, () => now);
    popularity.apply(columns([[0, 0]]), isPositive, 1);
    popularity.apply(
      columns([
        [1, -500],
        [2, -500],
        [2, -90],
      ]),
      isPositive,
      1,
    );
    popularity.apply(columns([[2, -500]]), isPositive, -1);
    expect(countsOf(popularity)[0]).toEqual([1, 0, 0]);
    now = NOW + 100 * HOUR_MS;
    expect(countsOf(popularity)[0]).toEqual([0, 0, 1]);
    now = NOW + 501 * HOUR_MS;
    expect(countsOf(popularity)[0]).toEqual([0, 1, 0]);
  });

  it('lose a record to time out of the window, never out of ever', () => {
    let now = NOW;
    const popularity = new PopularityCounts(SPANS, () => now);
    popularity.apply(columns([[0, 0]]), isPositive, 1);
    const countsAt = (hours: number) => {
      now = NOW + hours * HOUR_MS;
      return countsOf(popularity).map(([first]) => first);
    };
    expect(countsAt(0)).toEqual([1, 1]);
    expect(countsAt(63)).toEqual([1, 1]);
    expect(countsAt(66)).toEqual([0, 1]);
  });

  it.each([1, 24, 720, 24 * 365, 24 * 365 * 13, 24 * 365 * 100])(
    'count a record as long as a window of %d hours says, and a day at most beyond a window of years',
    (windowHours) => {
      const windowMs = windowHours * HOUR_MS;
      const lateMsMax = Math.min(windowMs / 64, Math.max(24 * HOUR_MS, windowMs / 4096));
      let now = NOW;
      const popularity = new PopularityCounts({ windowMs, ttlMs: Number.POSITIVE_INFINITY }, () => now);
      popularity.apply(columns([[0, 0]]), isPositive, 1);
      const at = (afterMs: number) => {
        now = NOW + afterMs;
        return countsOf(popularity)[0]![0];
      };
      expect(at(0)).toBe(1);
      expect(at(windowMs)).toBe(1);
      expect(at(windowMs + lateMsMax + 1)).toBe(0);
    },
  );

  it('count a future record in a window once its time has come', () => {
    let now = NOW;
    const popularity = new PopularityCounts(SPANS, () => now);
    popularity.apply(columns([[1, -5]]), isPositive, 1);
    expect(countsOf(popularity)).toEqual([
      [0, 0, 0],
      [0, 1, 0],
    ]);
    now += 5 * HOUR_MS;
    expect(countsOf(popularity)).toEqual([
      [0, 1, 0],
      [0, 1, 0],
    ]);
  });

  it('take back what was removed, and never fall below 0', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    popularity.apply(
      columns([
        [0, 1],
        [0, 30],
      ]),
      isPositive,
      1,
    );
    popularity.apply(columns([[0, 1]]), isPositive, -1);
    expect(countsOf(popularity).map(([first]) => first)).toEqual([1, 1]);
    popularity.apply(
      columns([
        [0, 30],
        [1, 1],
      ]),
      isPositive,
      -1,
    );
    expect(countsOf(popularity)).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  it('are counted some at a time, with the same result', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    popularity.apply(
      columns([
        [0, 1],
        [0, 2],
        [1, 3],
      ]),
      isPositive,
      1,
    );
    popularity.apply(columns([[0, 2]]), isPositive, -1);
    expect(popularity.drain(2)).toBe(true);
    expect(popularity.window[0]).toBe(2);
    expect(popularity.drain(1)).toBe(true);
    expect(popularity.drain(1)).toBe(false);
    expect(countsOf(popularity)[0]).toEqual([1, 1, 0]);
  });

  it('count half after each half-life on every scale, and all on the last', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    popularity.apply(
      columns([
        [0, 0],
        [0, 12],
        [1, 48],
        [2, 1e6],
        [2, 0, READ],
      ]),
      isPositive,
      1,
    );
    popularity.drain();
    const as = popularity.totals();
    expect(as.at(-1)).toBe(4);
    HALF_LIVES_MS.forEach((halfLifeMs, scale) => {
      const half = halfLifeMs / HOUR_MS;
      const { values, total } = popularity.scales[scale]!;
      const expected = [1 + 2 ** (-12 / half), 2 ** (-48 / half), 2 ** (-1e6 / half)];
      expected.forEach((count, row) => {
        expect((values[row]! * as[scale]!) / total).toBeCloseTo(count, 5);
      });
    });
  });

  it('decay as well where time has gone far, and take back what was removed', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    for (let hours = 9000; hours >= 0; hours -= 100) popularity.apply(columns([[0, hours]]), isPositive, 1);
    popularity.apply(columns([[1, 0]]), isPositive, 1);
    popularity.drain();
    const { values } = popularity.scales[POPULARITY_SCALES.indexOf('12h')]!;
    expect(values[0]! / values[1]!).toBeCloseTo(1 / (1 - 2 ** (-100 / 12)), 4);
    popularity.apply(columns([[1, 0]]), isPositive, -1);
    popularity.drain();
    expect(popularity.scales.map((scale) => scale.values[1])).toEqual(POPULARITY_SCALES.map(() => 0));
  });

  it('compare with one another on every scale as they did when they were new', () => {
    const shares = (yearsAgo: number) => {
      const popularity = new PopularityCounts(SPANS, () => NOW);
      popularity.apply(
        columns([
          [0, yearsAgo * 8760 + 1],
          [1, yearsAgo * 8760 + 30],
          [1, yearsAgo * 8760 + 300],
        ]),
        isPositive,
        1,
      );
      popularity.drain();
      expect(popularity.asOfMs).toBe(NOW - (yearsAgo * 8760 + 1) * HOUR_MS);
      return popularity.scales.map(({ values, total }) => values[0]! / total);
    };
    const then = shares(1);
    shares(0).forEach((share, scale) => {
      expect(then[scale]).toBeCloseTo(share, 5);
    });
  });

  describe('of a set from years ago', () => {
    const yearsAgo = 12 * 8760;
    const history = Array.from({ length: 300 }, (_, at): [number, number] => [at % 2, yearsAgo + at / 10]);
    const shares = ({ scales }: PopularityCounts) => scales.map(({ values, total }) => values[0]! / total);

    function countsOf(...batches: [number, number][][]): PopularityCounts {
      const popularity = new PopularityCounts(SPANS, () => NOW);
      for (const batch of batches) popularity.apply(columns(batch), isPositive, 1);
      popularity.drain();
      return popularity;
    }

    it('count as lately as before when a single like of today comes', () => {
      const before = countsOf(history);
      const after = countsOf(history, [[2, 0]]);
      expect(after.asOfMs).toBeLessThan(NOW - yearsAgo * HOUR_MS);
      expect(after.asOfMs).toBeGreaterThan(NOW - (yearsAgo + 1) * HOUR_MS);
      const then = shares(before);
      shares(after).forEach((share, scale) => {
        expect(share / then[scale]!).toBeGreaterThan(0.9);
      });
      expect(after.scales[0]!.values[2]).toBeGreaterThan(0);
    });

    it('follow the present once a hundredth of all feedback is of today', () => {
      const today = Array.from({ length: 5 }, (_, at): [number, number] => [2, at / 100]);
      const { asOfMs, scales } = countsOf(history, today);
      expect(asOfMs).toBe(NOW - 0.03 * HOUR_MS);
      expect(scales[0]!.values[0]! / scales[0]!.values[2]!).toBeLessThan(1e-9);
    });

    it('are the same in whatever order the feedback came, one by one or at once', () => {
      const all = [...history, [2, 0] as [number, number]];
      const expected = countsOf(all);
      const shuffled = all.map((_, at) => all[(at * 97) % all.length]!);
      const one = countsOf(...shuffled.map((record) => [record]));
      expect(one.asOfMs).toBe(expected.asOfMs);
      shares(one).forEach((share, scale) => {
        expect(share).toBeCloseTo(shares(expected)[scale]!, 5);
      });
    });

    it('forget a like of today that is taken back, to the bit', () => {
      const popularity = countsOf(history);
      const before = popularity.scales.map(({ values }) => [...values]);
      popularity.apply(columns([[0, 1e6]]), isPositive, 1);
      popularity.apply(columns([[0, 1e6]]), isPositive, -1);
      popularity.drain();
      expect(popularity.scales.map(({ values }) => [...values])).toEqual(before);
    });
  });

  it('count positive feedback no longer than it counts', () => {
    let now = NOW;
    const spans = { windowMs: 1000 * HOUR_MS, ttlMs: 128 * HOUR_MS };
    const popularity = new PopularityCounts(spans, () => now);
    const some = columns([
      [0, 1],
      [0, 100],
      [1, 101],
      [2, 500],
    ]);
    popularity.apply(some, isPositive, 1);
    expect(countsOf(popularity)).toEqual([
      [2, 1, 0],
      [2, 1, 0],
    ]);
    now += 60 * HOUR_MS;
    expect(countsOf(popularity)).toEqual([
      [1, 0, 0],
      [1, 0, 0],
    ]);
    expect(popularity.scales.map(({ values }) => values[1]! < 0.05)).not.toContain(false);
    expect(popularity.totals().at(-1)).toBe(1);
    // What was counted out is not counted out again when it is taken back.
    popularity.apply(some, isPositive, -1);
    expect(countsOf(popularity)).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  it('go to the workers as a copy that stays as it is', () => {
    const popularity = new PopularityCounts(SPANS, () => NOW);
    popularity.apply(columns([[0, 1]]), isPositive, 1);
    popularity.drain();
    let pauses = 0;
    const copy = atOnce(sharePopularity(popularity, 3), () => pauses++);
    // Each array is as long as the catalogue.
    expect(pauses).toBeGreaterThanOrEqual(popularity.scales.length);
    popularity.apply(columns([[0, 1]]), isPositive, 1);
    popularity.drain();
    expect([...copy.window]).toEqual([1, 0, 0]);
    expect(copy.window.buffer).toBeInstanceOf(SharedArrayBuffer);
  });
});
