import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FilterTree, parseFilter } from '../../../src/domain/filter-tree.ts';
import { hasBit } from '../../../src/memory/bits.ts';
import { atOnce } from '../../../src/platform/concurrency/event-loop-turns.ts';
import { Catalogue } from '../../../src/recommend/catalogue/catalogue.ts';
import { KeptFilters } from '../../../src/recommend/placements/kept-filters.ts';
import { passingRows } from '../../../src/recommend/placements/passing-rows.ts';
import type { CatalogueItem } from '../../../src/store/data-store.ts';

const NOW_MS = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 });
const items = fc.array(
  fc.record({ labels: names, categories: names, days: fc.option(fc.integer({ min: -5, max: 40 })) }),
  { minLength: 1, maxLength: 80 },
);

const filters = fc.letrec<{ filter: object }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4 },
    fc.record({ label: fc.constantFrom('a', 'b', 'unknown') }),
    fc.record({ category: fc.record({ in: fc.array(fc.constantFrom('a', 'c', 'z'), { minLength: 1 }) }) }),
    fc.record({
      age_days: fc.record({ gt: fc.integer({ min: -3, max: 20 }), lt: fc.integer({ min: 0, max: 40 }) }),
    }),
    fc.record({ and: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('filter') }),
  ),
})).filter;

/** The oracle: one item against one condition. */
function passes(tree: FilterTree, item: CatalogueItem, nowMs = NOW_MS): boolean {
  switch (tree.kind) {
    case 'and':
      return tree.parts.every((part) => passes(part, item, nowMs));
    case 'or':
      return tree.parts.some((part) => passes(part, item, nowMs));
    case 'not':
      return !passes(tree.part, item, nowMs);
    case 'label':
      return tree.names.some((name) => item.labels.includes(name));
    case 'category':
      return tree.names.some((name) => item.categories.includes(name));
    case 'ageDays': {
      const days = (nowMs - item.timestampMs) / DAY_MS;
      return days > tree.between.gt && days < tree.between.lt;
    }
  }
}

it('passes the items that each pass by themselves', () => {
  fc.assert(
    fc.property(items, filters, (given, filter) => {
      const catalogue = new Catalogue(() => NOW_MS);
      const all = given.map(({ labels, categories, days }, row) => {
        const timestampMs = days === null ? Number.NaN : NOW_MS - days * DAY_MS;
        return { row, itemId: `i${row}`, hidden: false, timestampMs, labels, categories };
      });
      for (const item of all) catalogue.put(item);
      const tree = parseFilter(filter)!;
      const bits = atOnce(passingRows(tree, catalogue, NOW_MS, { nextMs: Infinity }));
      expect(all.map(({ row }) => hasBit(bits, row))).toEqual(all.map((item) => passes(tree, item)));
    }),
  );
});

it('are kept and change with the catalogue and with the age of items', async () => {
  const change = fc.record({
    row: fc.nat({ max: 90 }),
    labels: names,
    categories: names,
    days: fc.option(fc.integer({ min: -5, max: 40 })),
    isGone: fc.boolean(),
    passMs: fc.constantFrom(0, 0, 500, 1000, DAY_MS / 2, 3 * DAY_MS),
  });
  await fc.assert(
    fc.asyncProperty(items, filters, fc.array(change, { maxLength: 12 }), async (given, filter, changes) => {
      let nowMs = NOW_MS;
      const catalogue = new Catalogue(() => nowMs);
      const now = new Map<number, CatalogueItem>();
      const put = (row: number, { labels, categories, days }: (typeof given)[number]) => {
        // No age that is asked for is come to within the second that may pass until it is taken in.
        const timestampMs = days === null ? Number.NaN : NOW_MS - (days + 0.3) * DAY_MS;
        const item = { row, itemId: `i${row}`, hidden: false, timestampMs, labels, categories };
        catalogue.put(item);
        now.set(row, item);
      };
      for (const [row, item] of given.entries()) put(row, item);
      const tree = parseFilter(filter)!;
      const kept = new KeptFilters(catalogue, () => nowMs);
      await kept.of(tree);
      for (const { row, isGone, passMs, ...item } of changes) {
        if (isGone) {
          catalogue.delete(row);
          now.delete(row);
        } else put(row, item);
        nowMs += passMs;
        const bits = kept.ready(tree) ?? (await kept.of(tree));
        for (const each of now.values()) expect(hasBit(bits, each.row)).toBe(passes(tree, each, nowMs));
      }
    }),
  );
});

it('are at hand after they were worked out once, until very much changes', async () => {
  const catalogue = new Catalogue(() => NOW_MS);
  const put = (row: number) =>
    catalogue.put({ row, itemId: `i${row}`, hidden: false, timestampMs: 0, labels: ['a'], categories: [] });
  for (let row = 0; row < 10; row++) put(row);
  const kept = new KeptFilters(catalogue, () => NOW_MS);
  const tree = parseFilter({ label: 'a' })!;
  expect(kept.ready(tree)).toBeUndefined();
  await kept.of(tree);
  put(500);
  expect(hasBit(kept.ready(tree)!, 500)).toBe(true);
  for (let row = 0; row < 5000; row++) put(row);
  expect(kept.ready(tree)).toBeUndefined();
  expect(hasBit(await kept.of(tree), 4999)).toBe(true);
});

it('of rules that somebody only tries are not kept in place of others', async () => {
  const catalogue = new Catalogue(() => NOW_MS);
  catalogue.put({ row: 0, itemId: 'i0', hidden: false, timestampMs: 0, labels: ['a'], categories: [] });
  const kept = new KeptFilters(catalogue, () => NOW_MS);
  const tree = parseFilter({ label: 'a' })!;
  await kept.of(tree);
  for (let draft = 0; draft < 100; draft++) {
    const tried = parseFilter({ label: draft % 2 === 0 ? 'a' : 'b' })!;
    const bits = await kept.of(tried, undefined, false);
    expect(hasBit(bits, 0)).toBe(draft % 2 === 0);
    // Several users are shown one draft.
    expect(await kept.of(tried, undefined, false)).toBe(bits);
    expect(kept.ready(tried)).toBeUndefined();
  }
  expect(kept.ready(tree)).toBeDefined();
});
