import { expect, test } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import type { VectorSpaces } from '../../../src/domain/vector-space.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { ItemVectors } from '../../../src/recommend/vectors/item-vectors.ts';
import type { ChangeSet, LocalReads } from '../../../src/store/data-store.ts';
import { clusterVectors, searchVectors } from '../../../src/threads/searches.ts';

const spaces: VectorSpaces = { wide: { dimensions: 4096, similarity: 'cosine' } };
const ROWS = 2500;

/** Vectors of rows, as the store has them. */
function prepare(rows: number) {
  const random = createRandom(rows);
  const stored = new Map<number, Float32Array>();
  const draw = () => Float32Array.from({ length: 4096 }, () => random.float() - 0.5);
  for (let row = 0; row < rows; row++) stored.set(row, draw());
  const reads = {
    vectorAt: (row: number) => stored.get(row),
    scanVectors(from: number, visit: (row: number, space: string, vector: Float32Array) => unknown) {
      for (let row = from; row < rows; row++)
        if (stored.has(row) && visit(row, 'wide', stored.get(row)!) === false) return row + 1;
      return -1;
    },
  } as Partial<LocalReads> as LocalReads;
  const asides: number[] = [];
  const clusterings: number[] = [];
  const held = { promise: Promise.resolve() };
  const troubles: string[] = [];
  const notes: string[] = [];
  const vectors = new ItemVectors({
    spaces,
    listSpace: undefined,
    slots: 1,
    servingSlot: 0,
    reads,
    instantiate: loadKernels,
    async findAside(place, query) {
      asides.push(place.count);
      const cancelled = new Int32Array(new SharedArrayBuffer(4));
      return searchVectors({ kind: 'vectors', place, query, cancelled });
    },
    clusterAside: async (place) => {
      clusterings.push(place.count);
      await held.promise;
      const cancelled = new Int32Array(new SharedArrayBuffer(4));
      return clusterVectors({ kind: 'cluster', place, cancelled });
    },
    onNote: (message) => notes.push(message),
    onTrouble: (message) => troubles.push(message),
  });
  const follow = (changes: Partial<ChangeSet>) => {
    const work = vectors.follow({ vectorRows: [], deletedItemRows: [], ...changes } as ChangeSet);
    while (work.next().done !== true);
  };
  return { vectors, stored, draw, asides, clusterings, held, troubles, follow };
}

const ALL = new Uint32Array(ROWS / 32 + 1).fill(0xffff_ffff);

test('a large space is searched aside, a small one is not, and both find the same', async () => {
  const large = prepare(ROWS);
  const small = prepare(ROWS);
  for (let row = 1000; row < ROWS; row++) small.stored.delete(row);
  await Promise.all([large.vectors.load(), small.vectors.load()]);
  const query = large.stored.get(7)!;
  const firstRows = ALL.map((_, at) => (at < 1000 / 32 ? 0xffff_ffff : 0));
  firstRows[1000 >>> 5] = 2 ** (1000 % 32) - 1;
  const found = await large.vectors.search('wide', query, 20, firstRows);
  expect(found).toEqual(await small.vectors.search('wide', query, 20, ALL));
  expect(found.rows[0]).toBe(7);
  expect(found.scores[0]).toBeCloseTo(1, 12);
  expect([large.asides.length, small.asides.length]).toEqual([1, 0]);
});

test('what comes while all are read is found as it is, and what goes is not', async () => {
  const { vectors, stored, draw, follow, troubles } = prepare(ROWS);
  const loading = vectors.load();
  const newest = draw();
  for (const row of [3, ROWS - 2]) stored.set(row, newest);
  follow({ vectorRows: [3, ROWS - 2] });
  stored.delete(5);
  follow({ deletedItemRows: [5] });
  stored.delete(ROWS - 1);
  follow({ vectorRows: [ROWS - 1] });
  await loading;
  expect(vectors.sizeOf('wide')).toBe(ROWS - 2);
  expect((await vectors.search('wide', newest, 2, ALL)).rows).toEqual([3, ROWS - 2]);
  expect(troubles).toEqual([]);
});

test('what comes while vectors are put into lists is found, before and after, and few changes begin no other lists', async () => {
  const { vectors, stored, draw, follow, held, clusterings, troubles } = prepare(ROWS);
  let release = () => {};
  held.promise = new Promise((resolve) => {
    release = resolve;
  });
  await vectors.load();
  await vectors.settled;
  await expect.poll(() => clusterings.length).toBe(1);
  const newest = draw();
  for (const row of [3, ROWS - 2]) stored.set(row, newest);
  follow({ vectorRows: [3, ROWS - 2] });
  stored.delete(5);
  follow({ deletedItemRows: [5] });
  const first = async () => (await vectors.search('wide', newest, 2, ALL)).rows;
  expect(await first()).toEqual([3, ROWS - 2]);
  const gone = vectors.vectorAt('wide', 6)!;
  release();
  await expect.poll(() => vectors.listsOf('wide')).toBeGreaterThan(0);
  await expect.poll(first).toEqual([3, ROWS - 2]);
  expect(vectors.sizeOf('wide')).toBe(ROWS - 1);
  expect((await vectors.search('wide', gone, ROWS, ALL)).rows).not.toContain(5);
  follow({ vectorRows: [3] });
  expect([clusterings.length, troubles]).toEqual([1, []]);
});

test('vectors that cannot be read are told of, and searches fail', async () => {
  const { vectors, troubles, stored } = prepare(10);
  stored.get = () => {
    throw new Error('the disk is gone');
  };
  await expect(vectors.load()).rejects.toThrow('the disk is gone');
  expect(troubles).toHaveLength(1);
  await expect(vectors.search('wide', new Float32Array(4096).fill(1), 1, ALL)).rejects.toThrow();
});
