import { describe, expect, test } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import type { Kernels, PrunedNeighborTopK } from '../../src/kernel/kernels.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { arrayOf, rowOf, rowOffset, viewOf } from '../../src/memory/memory-layout.ts';
import { incidenceOfLabels } from '../../src/model/neighbors/incidence.ts';
import {
  type PlacedSimilarity,
  paddedRowCount,
  placeSimilarity,
} from '../../src/model/neighbors/memory-layout.ts';
import { placeIndex } from '../../src/model/neighbors/place-index.ts';
import { instantiatePlainKernels } from '../plain-kernels/plain-kernels.ts';
import { IMPLEMENTATIONS } from './world.ts';

const K = 20;

/** Rows of up to `labelsMax` labels, of which the first are common; every seventh is like many others, every 50th has none. */
function placedWorld(rows: number, labelsMax: number, kinds: number, shrink = 100): PlacedSimilarity {
  const random = createRandom(rows + labelsMax);
  const labels = incidenceOfLabels((row) => {
    if (row % 7 === 0) return ['label 0', 'label 1'];
    if (row % 50 === 1) return [];
    const count = 1 + random.below(labelsMax);
    return Array.from({ length: count }, () => `label ${Math.floor(kinds * random.float() ** 4)}`);
  }, rows);
  const placed = placeSimilarity(labels, { reserveIndex: true, shrink });
  placeIndex(placed);
  return placed;
}

function jobOf(placed: PlacedSimilarity, workShare: number): PrunedNeighborTopK {
  const { layout, rowCount } = placed;
  const offset = (name: string) => arrayOf(layout, name).offset;
  return {
    starts: offset('starts'),
    columns: offset('columns'),
    otherStarts: offset('elementStarts'),
    otherColumns: offset('elementRows'),
    columnWeights: offset('weights'),
    norms: offset('norms'),
    overlapShrink: placed.shrink,
    rows: paddedRowCount(placed),
    firstRow: 0,
    endRow: rowCount,
    k: K,
    outRows: offset('outRows'),
    outScores: offset('outScores'),
    outCounts: offset('outCounts'),
    scratch: rowOffset(layout, 'scratch', 0),
    records: offset('records'),
    ranks: rowCount,
    rankLists: offset('rankLists'),
    bitmapOf: offset('bitmapOf'),
    bitmaps: offset('bitmaps'),
    workShare,
  };
}

/** The lists of all rows, one call a row. @param find what is called with a job for the row */
function listsOf(placed: PlacedSimilarity, workShare: number, find: (job: PrunedNeighborTopK) => void) {
  const { memory, layout } = placed;
  const job = jobOf(placed, workShare);
  return Array.from({ length: placed.rowCount }, (_, row) => {
    find({ ...job, firstRow: row, endRow: row + 1 });
    const count = viewOf(memory, layout, 'outCounts', 'u32')[0]!;
    const rows = [...rowOf(memory, layout, 'outRows', 0, 'u32').subarray(0, count)];
    return { rows, scores: [...rowOf(memory, layout, 'outScores', 0, 'f32').subarray(0, count)] };
  });
}

function kernelsOf(name: (typeof IMPLEMENTATIONS)[number], memory: WebAssembly.Memory): Kernels {
  return name === 'plain' ? instantiatePlainKernels(memory) : loadKernels(memory, name);
}

const WORLDS = {
  'few rows': () => placedWorld(40, 4, 30),
  'few labels, many ties': () => placedWorld(600, 3, 6),
  'a catalogue': () => placedWorld(1500, 8, 900),
  'rows of labels that are all common': () => placedWorld(500, 25, 40),
  'rows of more labels than are told apart': () => placedWorld(300, 90, 400),
  'scores that are not damped': () => placedWorld(600, 6, 300, 0),
};

describe.each(IMPLEMENTATIONS)('neighbors by bounds, %s', (name) => {
  test.each(Object.entries(WORLDS))('are those that comparing in full finds: %s', (_, place) => {
    const placed = place();
    const plain = instantiatePlainKernels(placed.memory);
    const expected = listsOf(placed, 1, (job) => plain.neighborTopK({ ...job, shrink: 0 }));
    expect(expected.filter(({ rows }) => rows.length > 0).length).toBeGreaterThan(placed.rowCount / 2);
    const kernels = kernelsOf(name, placed.memory);
    for (const workShare of [Number.POSITIVE_INFINITY, 1, 0]) {
      const found = listsOf(placed, workShare, (job) => kernels.prunedNeighborTopK(job));
      expect(found).toEqual(expected);
      const scratch = viewOf(placed.memory, placed.layout, 'scratch', 'f32');
      expect(scratch.subarray(0, 2 * paddedRowCount(placed)).every((sum) => sum === 0)).toBe(true);
    }
  });

  test('tell what they took, in full as many additions as there are', () => {
    const placed = placedWorld(600, 3, 6);
    const job = jobOf(placed, 0);
    // Its two labels are those of nearly all rows.
    const endRow = 1;
    const [starts, columns, elementStarts] = ['starts', 'columns', 'elementStarts'].map((array) =>
      viewOf(placed.memory, placed.layout, array, 'u32'),
    ) as [Uint32Array, Uint32Array, Uint32Array];
    let additions = 0;
    for (const element of columns.subarray(0, starts[endRow])) {
      additions += elementStarts[element + 1]! - elementStarts[element]!;
    }
    const kernels = kernelsOf(name, placed.memory);
    expect(kernels.prunedNeighborTopK({ ...job, endRow })).toBe(additions);
    const all = { ...job, endRow, workShare: Number.POSITIVE_INFINITY };
    expect(kernels.prunedNeighborTopK(all)).toBeGreaterThan(0);
  });

  test('a range of rows writes from the start of the outputs', () => {
    const placed = placedWorld(40, 4, 30);
    const kernels = kernelsOf(name, placed.memory);
    const all = listsOf(placed, Number.POSITIVE_INFINITY, (job) => kernels.prunedNeighborTopK(job));
    const job = { ...jobOf(placed, Number.POSITIVE_INFINITY), firstRow: 11, endRow: 13 };
    kernels.prunedNeighborTopK(job);
    const counts = viewOf(placed.memory, placed.layout, 'outCounts', 'u32');
    const rows = rowOf(placed.memory, placed.layout, 'outRows', 0, 'u32');
    for (const place of [0, 1]) {
      const own = rows.subarray(place * K, place * K + counts[place]!);
      expect([...own]).toEqual(all[11 + place]!.rows);
    }
  });
});
