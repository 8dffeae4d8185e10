import { expect, test } from 'vitest';
import type { VectorSpaces } from '../../src/domain/vector-space.ts';
import { checkStore } from '../../src/store/open/open-store.ts';
import { close, openIn, storeOptions, tempFolder } from './helpers.ts';

const wide: VectorSpaces = {
  text: { dimensions: 3, similarity: 'dot' },
  image: { dimensions: 1, similarity: 'dot' },
};

function vectorsOf(folder: string, vectorSpaces = wide) {
  const { data, ...others } = openIn(folder, { vectorSpaces });
  const put = (space: string, ...records: [string, number[]][]) =>
    data.write({
      kind: 'putVectors',
      space,
      batch: { records: records.map(([ItemId, Vector]) => ({ ItemId, Vector: Float32Array.from(Vector) })) },
    });
  return { data, put, stores: { data, ...others } };
}

const records = (...ids: string[]) => ({
  records: ids.map((ItemId) => ({
    ItemId,
    IsHidden: false,
    Categories: [],
    Timestamp: '',
    Labels: [],
    Comment: '',
  })),
});

test('all are walked through in the order of items, from any item on', async () => {
  const { data, put } = vectorsOf(tempFolder());
  const ids = Array.from({ length: 200 }, (_, at) => `i${at}`);
  await data.write({ kind: 'putItems', batch: records(...ids) });
  await put('text', ...ids.map((id, at): [string, number[]] => [id, [at, 1, 2]]));
  await put('image', ['i7', [7]], ['i150', [150]]);
  const seen: [number, string, number][] = [];
  const from = data.local.scanVectors(0, (row, space, vector) => {
    seen.push([row, space, vector[0]!]);
    return seen.length < 8;
  });
  expect(seen.slice(-3)).toEqual([
    [6, 'text', 6],
    [7, 'image', 7],
    [7, 'text', 7],
  ]);
  expect(from).toBe(8);
  expect(data.local.scanVectors(from, (row) => void seen.push([row, '', 0]))).toBe(-1);
  expect(seen).toHaveLength(202);
});

test('a space of other dimensions hides its vectors, and the check finds nothing wrong', async () => {
  const folder = tempFolder();
  const first = vectorsOf(folder);
  await first.data.write({ kind: 'putItems', batch: records('a', 'b') });
  await first.put('text', ['a', [1, 2, 3]], ['b', [4, 5, 6]]);
  await first.data.write({ kind: 'deleteItem', itemId: 'b' });
  await close(first.stores);
  const { data, stores } = vectorsOf(folder, { text: { dimensions: 2, similarity: 'dot' } });
  expect(data.local.vectorAt(0, 'text', 2)).toBeUndefined();
  expect(data.local.vectorAt(0, 'text', 3)).toEqual(Float32Array.of(1, 2, 3));
  expect(data.local.vectorAt(1, 'text', 3)).toBeUndefined();
  await close(stores);
  const report = await checkStore('data', storeOptions(folder).dataPath);
  expect(report?.faults).toEqual([]);
});

test('a live compaction keeps them', async () => {
  const { data, put } = vectorsOf(tempFolder());
  await data.write({ kind: 'putItems', batch: records('a') });
  await put('text', ['a', [1, 2, 3]]);
  await data.compact!();
  expect(data.local.vectorAt(0, 'text', 3)).toEqual(Float32Array.of(1, 2, 3));
});
