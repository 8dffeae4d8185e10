import { describe, expect, test } from 'vitest';
import { neighborScratchBytes } from '../../src/kernel/scratch-sizes.ts';
import {
  createWorld,
  IMPLEMENTATIONS,
  LENGTHS,
  putFloats,
  putMatrix,
  putRows,
  transpose,
  type World,
} from './world.ts';

interface Shape {
  readonly rows: number;
  readonly columns: number;
  readonly density: number;
  readonly k: number;
  readonly isWeighted: boolean;
  readonly overlapShrink?: number;
}

function prepare(world: World, { rows, columns, density, k, isWeighted, overlapShrink }: Shape) {
  const { arena, random } = world;
  const matrix = putMatrix(world, rows, columns, density);
  const other = putRows(world, transpose(matrix.rowLists, columns));
  return {
    starts: matrix.starts,
    columns: matrix.columns,
    otherStarts: other.starts,
    otherColumns: other.columns,
    columnWeights: isWeighted
      ? putFloats(
          arena,
          Array.from({ length: columns }, () => 1 + random.below(3)),
        )
      : 0,
    norms: isWeighted
      ? putFloats(
          arena,
          Array.from({ length: rows }, () => 1 << random.below(3)),
        )
      : 0,
    shrink: isWeighted ? 4 : 0,
    ...(overlapShrink === undefined ? {} : { overlapShrink }),
    rows,
    firstRow: 0,
    endRow: rows,
    k,
    outRows: arena.alloc(rows * k * 4),
    outScores: arena.alloc(rows * k * 4),
    outCounts: arena.alloc(rows * 4),
    scratch: arena.alloc(neighborScratchBytes(rows)),
  };
}

function listsOf(world: World, job: ReturnType<typeof prepare>) {
  return Array.from(world.arena.u32(job.outCounts, job.rows), (count, row) => ({
    rows: [...world.arena.u32(job.outRows + row * job.k * 4, count)],
    scores: [...world.arena.f32(job.outScores + row * job.k * 4, count)],
  }));
}

describe.each(IMPLEMENTATIONS)('neighbors, %s', (name) => {
  test.each(LENGTHS)('agree with the twin for %i rows, sparse and dense', (rows) => {
    for (const density of [0.02, 0.4]) {
      for (const overlapShrink of [0, 3]) {
        const world = createWorld(name, rows);
        const isWeighted = rows % 2 === 1;
        const job = prepare(world, { rows, columns: 40, density, k: 7, isWeighted, overlapShrink });
        world.plain.neighborTopK(job);
        const expected = listsOf(world, job);
        world.kernels.neighborTopK(job);
        expect(listsOf(world, job)).toEqual(expected);
        if (rows > 0) expect(world.arena.f32(job.scratch, 2 * rows).every((sum) => sum === 0)).toBe(true);
      }
    }
  });

  test('damps a similarity by few shared columns', () => {
    const world = createWorld(name);
    // Weights 1, 2, 4, 8: row 0 shares [0 1 2] with row 1, [2] with row 2 and [3] with row 3, which weighs most.
    const lists = [[0, 1, 2, 3], [0, 1, 2], [2], [3]];
    const matrix = putRows(world, lists);
    const other = putRows(world, transpose(lists, 4));
    const job = {
      ...prepare(world, { rows: 4, columns: 4, density: 0, k: 3, isWeighted: false, overlapShrink: 1 }),
      starts: matrix.starts,
      columns: matrix.columns,
      otherStarts: other.starts,
      otherColumns: other.columns,
      columnWeights: putFloats(world.arena, [1, 2, 4, 8]),
      norms: putFloats(world.arena, [4, 2, 2, 4]),
    };
    world.kernels.neighborTopK(job);
    // 7 * 3/4 / 8, then 8 * 1/2 / 16 and 4 * 1/2 / 8: a tie
    expect(listsOf(world, job)[0]).toEqual({ rows: [1, 2, 3], scores: [0.65625, 0.25, 0.25] });
    world.kernels.neighborTopK({ ...job, overlapShrink: 0, shrink: 8 });
    // 7 / 16, 8 / 24, 4 / 16
    expect(listsOf(world, job)[0]).toEqual({ rows: [1, 3, 2], scores: [0.4375, Math.fround(1 / 3), 0.25] });
    world.kernels.neighborTopK({
      ...job,
      overlapShrink: 3,
      columnWeights: putFloats(world.arena, [0, 0, 4, 0]),
    });
    // Columns without weight count as shared, but nothing is similar by them alone: 4 * 3/6 / 8, 4 * 1/4 / 8.
    expect(listsOf(world, job)[0]).toEqual({ rows: [1, 2], scores: [0.25, 0.125] });
  });

  test('counts shared columns, leaves the row itself out, ties to the lower row', () => {
    const world = createWorld(name);
    const lists = [[0, 1, 2], [0, 1, 2], [0], [3], [1, 2], [2]];
    const matrix = putRows(world, lists);
    const other = putRows(world, transpose(lists, 4));
    const job = {
      ...prepare(world, { rows: 6, columns: 4, density: 0, k: 3, isWeighted: false }),
      starts: matrix.starts,
      columns: matrix.columns,
      otherStarts: other.starts,
      otherColumns: other.columns,
    };
    world.kernels.neighborTopK(job);
    const found = listsOf(world, job);
    expect(found[0]).toEqual({ rows: [1, 4, 2], scores: [3, 2, 1] });
    expect(found[3]).toEqual({ rows: [], scores: [] });
    expect(found[5]).toEqual({ rows: [0, 1, 4], scores: [1, 1, 1] });
  });

  test('a range of rows writes from the start of the outputs', () => {
    const world = createWorld(name);
    const job = prepare(world, { rows: 30, columns: 20, density: 0.3, k: 5, isWeighted: true });
    world.kernels.neighborTopK(job);
    const all = listsOf(world, job);
    world.kernels.neighborTopK({ ...job, firstRow: 11, endRow: 13 });
    expect(listsOf(world, job).slice(0, 2)).toEqual(all.slice(11, 13));
  });
});
