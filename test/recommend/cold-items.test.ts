import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import { ColdItemIndex, type ColdItems } from '../../src/recommend/neighbors/cold-item-index.ts';
import type { CatalogueItem } from '../../src/store/data-store.ts';
import { popularity } from './hand-made.ts';

function item(row: number, labels: readonly string[], more: Partial<CatalogueItem> = {}): CatalogueItem {
  return { row, itemId: `i${row}`, hidden: false, timestampMs: 0, categories: [], labels, ...more };
}

/** Items 0 to 3 are known: two of the sea, two of the hills; others have labels that tell nothing. */
const KNOWN = [item(0, ['sea', 'old']), item(1, ['sea']), item(2, ['hills']), item(3, ['hills', 'old'])];

function start(items: readonly CatalogueItem[], ever = [1, 1, 1, 1]) {
  const catalogue = new Catalogue(() => 0);
  const index = new ColdItemIndex(catalogue, popularity({ ever }));
  for (const one of [...KNOWN, ...items]) catalogue.put(one);
  const step = (limit = 1000) => {
    const { isMore, gained } = index.step(KNOWN.length, limit);
    return { isMore, gained: [...gained] };
  };
  return { catalogue, index, step };
}

/** What each cold item is like, by row. */
function likes({ rows, starts, likes, knownRows }: ColdItems): Map<number, number[]> {
  const likedAt = (at: number) => [...likes.subarray(starts[at], starts[at + 1])];
  return new Map(Array.from(rows, (row, at) => [row, likedAt(at).map((place) => knownRows[place]!)]));
}

describe('cold items', () => {
  it('are like the known items with their labels, the most alike first', () => {
    const { index, step } = start([item(4, ['sea', 'new'])]);
    expect(step()).toEqual({ isMore: false, gained: [4] });
    // Item 1 has nothing but the common label, item 0 has another beside it.
    expect(likes(index.items)).toEqual(new Map([[4, [1, 0]]]));
    const [best, second] = index.items.similarities;
    expect(best).toBeGreaterThan(second!);
    // Six items and one label in common: w = ln(5 / 3) of `sea`, ln(5 / 1) of `new`, c / (c + 100) = 1 / 101.
    const sea = Math.log(5 / 3);
    const own = sea + Math.log(5);
    expect(best).toBeCloseTo(sea / 101 / (Math.sqrt(own) * Math.sqrt(sea)), 6);
  });

  it('come newest first and are bounded by 100', () => {
    const { index, step } = start(Array.from({ length: 150 }, (_, at) => item(4 + at, ['sea'])));
    step();
    expect([...index.items.rows]).toEqual(Array.from({ length: 100 }, (_, at) => 153 - at));
    expect(index.items.rows.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it('are worked out some at a time', () => {
    const { index, step } = start(Array.from({ length: 5 }, (_, at) => item(4 + at, ['sea'])));
    expect(step(2)).toEqual({ isMore: true, gained: [8, 7] });
    expect([...index.items.rows]).toEqual([8, 7]);
    expect(step(2)).toEqual({ isMore: true, gained: [6, 5] });
    expect(step(2)).toEqual({ isMore: false, gained: [4] });
    expect([...index.items.rows]).toEqual([8, 7, 6, 5, 4]);
    expect(step(2)).toEqual({ isMore: false, gained: [] });
  });

  it('leave out hidden items, items without labels and items like nothing known', () => {
    const { index, step } = start([
      item(4, ['sea'], { hidden: true }),
      item(5, []),
      item(6, ['moon']),
      item(7, ['hills']),
    ]);
    step();
    expect(likes(index.items)).toEqual(new Map([[7, [2, 3]]]));
  });

  it('leave out items that were fitted and have positive feedback, and are not like one another', () => {
    // Item 3 was fitted but nobody has liked it; items 4 and 5 came after the fit, item 5 with positive feedback.
    const { index, step } = start([item(4, ['sea']), item(5, ['sea'])], [1, 1, 1, 0, 0, 7]);
    step();
    expect(likes(index.items)).toEqual(
      new Map([
        [5, [1, 0]],
        [4, [1, 0]],
        [3, [2, 0]],
      ]),
    );
  });

  it('follow the catalogue', () => {
    const { catalogue, index, step } = start([item(4, ['sea'])]);
    step();
    catalogue.put(item(4, ['hills']));
    expect(step()).toEqual({ isMore: false, gained: [] });
    expect(likes(index.items).get(4)).toEqual([2, 3]);
    catalogue.put(item(4, ['hills'], { hidden: true }));
    expect(step()).toEqual({ isMore: false, gained: [] });
    expect([...index.items.rows]).toEqual([]);
    catalogue.put(item(4, ['hills']));
    expect(step()).toEqual({ isMore: false, gained: [4] });
    catalogue.delete(4);
    step();
    expect([...index.items.rows]).toEqual([]);
  });

  it('are all worked out anew after a fit', () => {
    const { catalogue, index } = start([item(4, ['sea']), item(5, ['sea'])], [1, 1, 1, 1, 1, 1]);
    index.step(4, 1000);
    expect([...index.items.rows]).toEqual([5, 4]);
    index.clear();
    // The fit has learned of item 4: now it is known, and item 5 is like it.
    index.step(5, 1000);
    expect(likes(index.items)).toEqual(new Map([[5, [1, 4, 0]]]));
    expect(catalogue.itemCount).toBe(6);
  });
});
