import { describe, expect, it } from 'vitest';
import { hasBit } from '../../src/memory/bits.ts';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';
import { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import { LatestIndex } from '../../src/recommend/global-lists/latest-index.ts';
import { PopularIndex } from '../../src/recommend/global-lists/popular-index.ts';
import { PopularityCounts } from '../../src/recommend/popularity/popularity-counts.ts';
import { type CatalogueItem, FeedbackColumns } from '../../src/store/data-store.ts';

const HOUR_MS = 3_600_000;
const NOW = 1_700_000_000_000;

function film(row: number, part: Partial<CatalogueItem> = {}): CatalogueItem {
  const none = { hidden: false, timestampMs: Number.NaN, categories: [], labels: [] };
  return { row, itemId: `film${row}`, ...none, ...part };
}

async function walk(latest: LatestIndex, categories: readonly string[] = []): Promise<number[]> {
  return (await latest.top(1000, categories, () => true)).rows;
}

function likes(...records: readonly (readonly [itemRow: number, timeMs: number])[]): FeedbackColumns {
  const columns = new FeedbackColumns();
  for (const [itemRow, timeMs] of records) columns.push(0, itemRow, 0, timeMs);
  return columns;
}

describe('the catalogue', () => {
  it('lists an item that exists and is not hidden', () => {
    const catalogue = new Catalogue(() => NOW);
    catalogue.put(film(0));
    catalogue.put(film(1, { hidden: true }));
    expect([0, 1, 2].map((row) => catalogue.isListable(row))).toEqual([true, false, false]);
    catalogue.delete(0);
    expect(catalogue.isListable(0)).toBe(false);
    expect(catalogue.itemCount).toBe(1);
    expect([...atOnce(catalogue.listableBits())]).toEqual([0]);
  });

  it('stops to list an item past its time to live, but not one without a timestamp', () => {
    const catalogue = new Catalogue(() => NOW, HOUR_MS);
    catalogue.put(film(0, { timestampMs: NOW - 2 * HOUR_MS }));
    catalogue.put(film(1, { timestampMs: NOW }));
    catalogue.put(film(2));
    expect([0, 1, 2].map((row) => catalogue.isListable(row))).toEqual([false, true, true]);
    expect([...atOnce(catalogue.listableBits())]).toEqual([0b110]);
  });

  it('keeps the bits of listable items as they come, change, go and expire', () => {
    let now = NOW;
    const catalogue = new Catalogue(() => now, HOUR_MS);
    for (let row = 0; row < 5000; row++) catalogue.put(film(row, { timestampMs: NOW + (row % 5) * HOUR_MS }));
    catalogue.put(film(3, { hidden: true }));
    catalogue.put(film(4, { timestampMs: NOW - 2 * HOUR_MS }));
    catalogue.delete(7);
    const bitsOf = () => [...catalogue.visibleBits().subarray(0, atOnce(catalogue.listableBits()).length)];
    expect(bitsOf()).toEqual([...atOnce(catalogue.listableBits())]);
    catalogue.put(film(3));
    now += 4.5 * HOUR_MS;
    // An item that expired may stand there for some calls yet.
    bitsOf();
    expect(bitsOf()).toEqual([...atOnce(catalogue.listableBits())]);
  });

  it('is copied for other threads in parts, whatever comes during the pauses', () => {
    const catalogue = new Catalogue(() => NOW);
    for (let row = 0; row < 200_000; row++)
      catalogue.put(film(row, { timestampMs: row, hidden: row % 3 === 0 }));
    const bits = atOnce(catalogue.listableBits());
    let pauses = 0;
    const timesMs = atOnce(catalogue.sharedTimes(), () => {
      // Takes the arrays to larger ones.
      catalogue.put(film(300_000 * ++pauses, { timestampMs: 1 }));
    });
    expect(pauses).toBeGreaterThan(1);
    const copied = Array.from({ length: 200_000 }, (_, row) => row);
    expect(copied.filter((row) => timesMs[row] !== row)).toEqual([]);
    expect(copied.filter((row) => hasBit(bits, row) !== (row % 3 !== 0))).toEqual([]);
  });

  it('follows an item from category to category', () => {
    const catalogue = new Catalogue(() => NOW);
    catalogue.put(film(0, { categories: ['a', 'b', 'a'] }));
    catalogue.put(film(0, { categories: ['b', 'c'] }));
    expect(['a', 'b', 'c'].map((name) => catalogue.isInAll(0, [name]))).toEqual([false, true, true]);
    expect(catalogue.isInAll(0, ['b', 'c'])).toBe(true);
    expect(catalogue.isInAll(0, ['b', 'a'])).toBe(false);
    expect(catalogue.narrowest([])).toBeUndefined();
    expect(catalogue.narrowest(['nowhere'])?.size).toBe(0);
  });
});

describe('latest items', () => {
  it('come once each, also where the time of one changes while they are gone through', async () => {
    const catalogue = new Catalogue(() => NOW);
    const latest = new LatestIndex(catalogue);
    for (let row = 0; row < 5; row++) catalogue.put(film(row, { timestampMs: 100 - row }));
    let looked = 0;
    const { rows } = await latest.top(10, [], () => {
      if (++looked === 2) catalogue.put(film(0, { timestampMs: 50 }));
      return true;
    });
    expect(rows).toEqual([0, 1, 2, 3, 4]);
  });

  it('come newest first, and without those that have no timestamp', async () => {
    const catalogue = new Catalogue(() => NOW);
    const latest = new LatestIndex(catalogue);
    catalogue.put(film(0, { timestampMs: 10 }));
    catalogue.put(film(1, { timestampMs: 30 }));
    catalogue.put(film(2));
    expect(await walk(latest)).toEqual([1, 0]);
    catalogue.put(film(3, { timestampMs: 20 }));
    catalogue.put(film(0, { timestampMs: 40 }));
    catalogue.delete(1);
    expect(await walk(latest)).toEqual([0, 3]);
  });

  it('are the first ones after each change, whatever it is', () => {
    const catalogue = new Catalogue(() => NOW);
    const latest = new LatestIndex(catalogue);
    for (let row = 0; row < 5; row++) catalogue.put(film(row, { timestampMs: 100 - row }));
    expect(latest.first(2)).toEqual([0, 1]);
    expect(latest.first(3)).toEqual([0, 1, 2]);
    catalogue.put(film(1, { timestampMs: 99, hidden: true }));
    expect(latest.first(3)).toEqual([0, 2, 3]);
    catalogue.delete(0);
    expect(latest.first(3)).toEqual([2, 3, 4]);
    catalogue.put(film(1, { timestampMs: 99 }));
    expect(latest.first(3)).toEqual([1, 2, 3]);
  });

  it('of a small category are the same as of the whole, filtered', async () => {
    const catalogue = new Catalogue(() => NOW);
    const latest = new LatestIndex(catalogue);
    for (let row = 0; row < 500; row++) {
      const categories = row % 100 === 7 ? ['rare', 'common'] : ['common'];
      catalogue.put(film(row, { timestampMs: (row * 7919) % 1000, categories }));
    }
    const all = await walk(latest);
    expect(await walk(latest, ['common'])).toEqual(all);
    expect(await walk(latest, ['rare'])).toEqual(all.filter((row) => row % 100 === 7));
    expect(await walk(latest, ['rare', 'nowhere'])).toEqual([]);
  });
});

describe('popular items', () => {
  it('are counted inside the window, which moves', async () => {
    let now = NOW;
    const catalogue = new Catalogue(() => now);
    for (let row = 0; row < 3; row++) catalogue.put(film(row));
    const popularity = new PopularityCounts(
      { windowMs: 64 * HOUR_MS, ttlMs: Number.POSITIVE_INFINITY },
      () => now,
    );
    const popular = new PopularIndex(popularity, catalogue);
    const top = () => popular.top(10, [], () => true);
    popularity.apply(likes([0, NOW], [1, NOW], [1, NOW - HOUR_MS], [2, NOW - 80 * HOUR_MS]), () => true, 1);
    expect(await top()).toEqual({ rows: [1, 0], scores: [2, 1] });
    popularity.apply(likes([1, NOW], [1, NOW - HOUR_MS]), () => true, -1);
    expect(await top()).toEqual({ rows: [0], scores: [1] });
    now += 66 * HOUR_MS;
    expect((await top()).rows).toEqual([]);
  });

  it('count a future record once its time has come', async () => {
    let now = NOW;
    const catalogue = new Catalogue(() => now);
    catalogue.put(film(0));
    const popularity = new PopularityCounts(
      { windowMs: 64 * HOUR_MS, ttlMs: Number.POSITIVE_INFINITY },
      () => now,
    );
    const popular = new PopularIndex(popularity, catalogue);
    popularity.apply(likes([0, NOW + 3 * HOUR_MS]), () => true, 1);
    expect((await popular.top(1, [], () => true)).rows).toEqual([]);
    now += 4 * HOUR_MS;
    expect((await popular.top(1, [], () => true)).scores).toEqual([1]);
  });

  it('leave out hidden items and other categories', async () => {
    const catalogue = new Catalogue(() => NOW);
    catalogue.put(film(0, { categories: ['a'] }));
    catalogue.put(film(1, { categories: ['b'] }));
    catalogue.put(film(2, { categories: ['a'], hidden: true }));
    const popularity = new PopularityCounts(
      { windowMs: HOUR_MS, ttlMs: Number.POSITIVE_INFINITY },
      () => NOW,
    );
    const popular = new PopularIndex(popularity, catalogue);
    popularity.apply(likes([0, NOW], [1, NOW], [2, NOW]), () => true, 1);
    expect((await popular.top(10, ['a'], () => true)).rows).toEqual([0]);
    expect((await popular.top(10, [], (row) => row !== 0)).rows).toEqual([1]);
  });
});
