import { expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { PagedLists } from '../../src/memory/paged-lists.ts';

function write(lists: PagedLists<Uint32Array>, row: number, numbers: readonly number[]): void {
  lists.write(row, numbers.length);
  lists.values.set(numbers, lists.start);
}

function read(lists: PagedLists<Uint32Array>, row: number): number[] {
  const length = lists.open(row);
  return Array.from(lists.values.subarray(lists.start, lists.start + length));
}

it('holds what an array of arrays would, however lists grow, shrink and go, in any order of rows', () => {
  const random = createRandom(7);
  const lists = new PagedLists((length) => new Uint32Array(length));
  const plain = new Map<number, number[]>();
  for (let step = 0; step < 30_000; step++) {
    // Some pages, with gaps between them.
    const row = random.below(3) * 9000 + random.below(300);
    const numbers = Array.from({ length: random.below(7) }, () => random.below(1000));
    write(lists, row, numbers);
    plain.set(row, numbers);
  }
  for (const [row, numbers] of plain) expect(read(lists, row)).toEqual(numbers);
});

it('has no list at a row that never had one, nor at one that is none', () => {
  const lists = new PagedLists((length) => new Uint32Array(length));
  write(lists, 5000, [1, 2]);
  expect([0, 4999, 5001, 1e9, -1].map((row) => lists.open(row))).toEqual([0, 0, 0, 0, 0]);
});

it('does not grow by lists that are put in place of others', () => {
  let made = 0;
  const lists = new PagedLists((length) => {
    made = Math.max(made, length);
    return new Uint32Array(length);
  });
  for (let round = 0; round < 1000; round++)
    for (let row = 0; row < 10; row++) write(lists, row, [round, row]);
  for (let round = 0; round < 1000; round++) write(lists, round % 10, Array(1 + (round % 5)).fill(round));
  expect(made).toBeLessThan(200);
});
