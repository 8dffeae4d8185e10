import {
  coarseBytes,
  neighborScratchBytes,
  rowSumsBytes,
  topKScratchBytes,
} from '../../src/kernel/scratch-sizes.ts';
import {
  type CaseContext,
  type CaseMaker,
  F,
  floats,
  ints,
  panelsOf,
  putRows,
  sparseRows,
} from './kernel-case.ts';

export const batchTopK: CaseMaker = (context) => {
  const [rows, items, k] = [64, Math.floor(27_000 / context.divisor), 100];
  const { arena } = context;
  const queries = floats(context, rows * F);
  const panels = panelsOf(context, items);
  const [outItems, outScores, outCounts] = [
    arena.alloc(rows * k * 4),
    arena.alloc(rows * k * 4),
    arena.alloc(rows * 4),
  ];
  const job = { queries, rows, panels, items, f: F, k, outItems, outScores, outCounts };
  const rest = { readStarts: 0, readItems: 0, scratch: arena.alloc(topKScratchBytes(F)) };
  return {
    name: `batch top-${k}, ${rows} queries, ${items} items, f=${F}`,
    operations: 2 * rows * items * F,
    run: (kernels) => kernels.batchTopK({ ...job, ...rest }),
    native: { name: 'batch-top-k', numbers: [queries, rows, panels, items, F, k, outItems, outScores] },
  };
};

export const queryTopK =
  (isCoarse: boolean): CaseMaker =>
  (context) => {
    const [items, k] = [Math.floor(100_000 / context.divisor), 100];
    const { arena } = context;
    const query = floats(context, F);
    const factors = floats(context, items * F);
    const panels = panelsOf(context, items, factors);
    const coarse = isCoarse ? arena.alloc(coarseBytes(items, F)) : 0;
    if (isCoarse) context.kernels.packCoarse(factors, items, F, coarse);
    const [outItems, outScores] = [arena.alloc(k * 4), arena.alloc(k * 4)];
    const scratch = arena.alloc(topKScratchBytes(F));
    const rest = { readItems: 0, readCount: 0, scratch };
    return {
      name: `one query top-${k}, ${items} items, f=${F}${isCoarse ? ', bytes first' : ''}`,
      operations: 2 * items * F,
      run: (kernels) =>
        kernels.queryTopK({ query, panels, coarse, items, f: F, k, outItems, outScores, ...rest }),
      native: { name: 'query-top-k', numbers: [query, panels, items, F, k, outItems, outScores] },
    };
  };

export const neighbors: CaseMaker = (context) => {
  const [users, items] = [Math.floor(20_000 / context.divisor), Math.floor(8_000 / context.divisor)];
  const { arena } = context;
  const byUser = sparseRows(context, users, items, 50);
  const byItem: number[][] = Array.from({ length: items }, () => []);
  byUser.forEach((list, user) => {
    for (const item of list) byItem[item]!.push(user);
  });
  const [rows, other] = [putRows(context, byItem), putRows(context, byUser)];
  const norms = arena.alloc(items * 4);
  arena.f32(norms, items).set(byItem.map((list) => Math.sqrt(list.length)));
  const [k, shrink, endRow] = [100, 5, Math.floor(400 / context.divisor)];
  const [outRows, outScores, outCounts] = [endRow * k * 4, endRow * k * 4, endRow * 4].map((n) =>
    arena.alloc(n),
  ) as [number, number, number];
  const sparse = {
    ...rows,
    otherStarts: other.starts,
    otherColumns: other.columns,
    columnWeights: 0,
    norms,
    shrink,
  };
  const out = {
    outRows,
    outScores,
    outCounts,
    scratch: arena.alloc(neighborScratchBytes(items)),
  };
  const head = [rows.starts, rows.columns, other.starts, other.columns, norms, shrink, items];
  const additions = byItem.slice(0, endRow).flatMap((list) => list.map((user) => byUser[user]!.length));
  return {
    name: `item-item top-${k}, the ${endRow} most popular of ${items} items`,
    operations: additions.reduce((sum, n) => sum + n, 0),
    run: (kernels) => kernels.neighborTopK({ ...sparse, ...out, rows: items, firstRow: 0, endRow, k }),
    native: { name: 'neighbor-top-k', numbers: [...head, endRow, k, outRows, outScores] },
  };
};

/** Scores of 145 likes, by a table of the size of MovieLens 20M. */
function summed(context: CaseContext) {
  const { arena, random, divisor } = context;
  const [items, entries, likes] = [Math.floor(27_000 / divisor), 100, 145];
  const draw = (power: number) => Math.floor(items * random.float() ** power);
  const job = {
    starts: ints(
      context,
      Array.from({ length: items + 1 }, (_, row) => row * entries),
    ),
    columns: ints(
      context,
      Array.from({ length: items * entries }, () => draw(2)),
    ),
    scores: floats(context, items * entries),
    items: ints(
      context,
      Array.from({ length: likes }, () => draw(3)),
    ),
    weights: arena.alloc(likes * 8, 8),
    sums: arena.alloc(rowSumsBytes(items), 64),
    rows: items,
    bits: 0,
    count: likes,
  };
  new Float64Array(arena.memory.buffer, job.weights, likes).fill(1);
  return { job, additions: likes * entries };
}

export const rowSums: CaseMaker = (context) => {
  const { job, additions } = summed(context);
  return {
    name: `sums of ${job.count} rows of 100 over ${job.rows} items`,
    operations: additions,
    run: (kernels) => kernels.sumRows(job),
  };
};

export const topSums: CaseMaker = (context) => {
  const { job, additions } = summed(context);
  const k = 100;
  const out = {
    outRows: context.arena.alloc(k * 4),
    outScores: context.arena.alloc(k * 8, 8),
    allowedBits: 0,
    k,
  };
  context.kernels.sumRows(job);
  return {
    name: `top-${k} of the sums of ${job.count} rows over ${job.rows} items`,
    operations: additions,
    run: (kernels) => kernels.topSums({ ...out, sums: job.sums, rows: job.rows, bits: job.bits }),
  };
};
