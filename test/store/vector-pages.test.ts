import { expect, it } from 'vitest';
import { vectorPage } from '../../src/store/vector-pages.ts';

const [ITEMS, DIMENSIONS] = [40_000, 64];

/** Each item has a vector in `text`, and each ten-thousandth one in `few`. */
function readsOf() {
  const numbersOfCall: number[] = [];
  return {
    numbersOfCall,
    itemIdAt: (row: number) => `i${row}`,
    scanVectors(
      fromRow: number,
      visit: (row: number, space: string, vector: Float32Array) => unknown,
    ): number {
      let numbers = 0;
      for (let row = fromRow; row < ITEMS; row++) {
        let goesOn = true;
        for (const space of row % 10_000 === 7 ? ['few', 'text'] : ['text']) {
          numbers += DIMENSIONS;
          if (visit(row, space, new Float32Array(DIMENSIONS)) === false) goesOn = false;
        }
        if (goesOn) continue;
        numbersOfCall.push(numbers);
        return row + 1 < ITEMS ? row + 1 : -1;
      }
      numbersOfCall.push(numbers);
      return -1;
    },
  };
}

it('a page of a space looks at some vectors of the others at a time, and has those that there are', async () => {
  const reads = readsOf();
  const few = await vectorPage(reads, 'few', { dimensions: DIMENSIONS } as never, 10, '');
  expect(few.rows.map(({ ItemId }) => ItemId)).toEqual(['i7', 'i10007', 'i20007', 'i30007']);
  expect(few.cursor).toBe('');
  expect(Math.max(...reads.numbersOfCall)).toBeLessThanOrEqual(32_768 + DIMENSIONS);
  const first = await vectorPage(reads, 'few', { dimensions: DIMENSIONS } as never, 2, '');
  expect(first.rows.map(({ ItemId }) => ItemId)).toEqual(['i7', 'i10007']);
  const rest = await vectorPage(reads, 'few', { dimensions: DIMENSIONS } as never, 5, first.cursor);
  expect(rest.rows.map(({ ItemId }) => ItemId)).toEqual(['i20007', 'i30007']);
});
