import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FilterTree, parseFilter } from '../../../src/domain/filter-tree.ts';
import { hasBit } from '../../../src/memory/bits.ts';
import { atOnce } from '../../../src/platform/concurrency/event-loop-turns.ts';
import { Catalogue } from '../../../src/recommend/catalogue/catalogue.ts';
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
function passes(tree: FilterTree, item: CatalogueItem): boolean {
  switch (tree.kind) {
    case 'and':
      return tree.parts.every((part) => passes(part, item));
    case 'or':
      return tree.parts.some((part) => passes(part, item));
    case 'not':
      return !passes(tree.part, item);
    case 'label':
      return tree.names.some((name) => item.labels.includes(name));
    case 'category':
      return tree.names.some((name) => item.categories.includes(name));
    case 'ageDays': {
      const days = (NOW_MS - item.timestampMs) / DAY_MS;
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
      const bits = atOnce(passingRows(tree, catalogue, NOW_MS));
      expect(all.map(({ row }) => hasBit(bits, row))).toEqual(all.map((item) => passes(tree, item)));
    }),
  );
});
