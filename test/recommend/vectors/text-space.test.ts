import { expect, test } from 'vitest';
import { SIMILARITIES } from '../../../src/domain/vector-space.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { ItemVectors } from '../../../src/recommend/vectors/item-vectors.ts';
import { comparisonWith } from '../../../src/recommend/vectors/packed-numbers.ts';
import { TextVectors } from '../../../src/recommend/vectors/text-vectors.ts';
import type { LocalReads } from '../../../src/store/data-store.ts';

const ROWS = 200;
const K = 5;

test.each(SIMILARITIES)(
  'a search by %s reads no text again, and finds what texts tell',
  async (similarity) => {
    const items = Array.from({ length: ROWS }, (_, row) => ({
      Comment: `lamp of series${row >> 3} with part${row}`,
      Labels: [`maker${row % 7}`],
      Categories: [],
    }));
    let read = 0;
    const itemAt = (row: number) => {
      read++;
      return items[row];
    };
    const vectors = new ItemVectors({
      spaces: { words: { dimensions: 256, similarity, source: 'text' } },
      listSpace: undefined,
      slots: 1,
      servingSlot: 0,
      reads: { itemRowCount: ROWS, itemAt, scanVectors: () => -1 } as Partial<LocalReads> as LocalReads,
      instantiate: loadKernels,
      findAside: () => Promise.reject(new Error('small enough')),
      clusterAside: () => Promise.reject(new Error('small enough')),
      onNote: () => {},
      onTrouble: (message) => expect.unreachable(message),
    });
    await vectors.load();
    const texts = new TextVectors(256);
    for (const item of items) texts.count(item);
    const made = items.map((item) => texts.vectorOf(item)!);
    read = 0;
    const all = new Uint32Array(ROWS / 32 + 1).fill(0xffff_ffff);
    for (const row of [0, 77, ROWS - 1]) {
      const found = await vectors.search('words', vectors.vectorAt('words', row)!, K, all);
      const { byNumbers } = comparisonWith(made[row]!, similarity);
      const best = made.map((vector) => byNumbers(vector)).sort((a, b) => b - a);
      // A byte a number: cosines are off by some thousandths.
      const scale = similarity === 'euclidean' ? 1 : best[0]!;
      for (const [at, other] of found.rows.entries()) {
        const exact = byNumbers(made[other]!) / scale;
        expect(Math.abs(exact - best[at]! / scale)).toBeLessThan(0.02);
      }
      expect(found.rows).toContain(row);
    }
    expect(read).toBe(0);
  },
);
