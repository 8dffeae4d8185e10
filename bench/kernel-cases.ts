import type { Random } from '../src/domain/random.ts';
import type { Kernels } from '../src/kernel/kernels.ts';
import {
  alsScratchBytes,
  coarseBytes,
  eigenScratchBytes,
  fmScratchBytes,
  neighborScratchBytes,
  panelBytes,
  rotateScratchBytes,
  rowRegularization,
  topKScratchBytes,
} from '../src/kernel/scratch.ts';
import type { Arena } from '../src/memory/arena.ts';

/** One row of the table: a job, what runs it, and its numbers for the C++ twin of the same name. */
export interface KernelCase {
  readonly name: string;
  /** Floating-point operations, or additions for the sparse sums, of one run. */
  readonly operations: number;
  readonly run: (kernels: Kernels) => void;
  /** Name of the file in bench/native, without extension, and its arguments. */
  readonly native?: { readonly name: string; readonly numbers: readonly number[] };
}

export interface CaseContext {
  readonly arena: Arena;
  readonly random: Random;
  readonly kernels: Kernels;
  /** 1 for the full table, larger for a smoke run. */
  readonly divisor: number;
}

type CaseMaker = (context: CaseContext) => KernelCase;

const F = 64;

function floats({ arena, random }: CaseContext, n: number, scale = 0.1): number {
  const offset = arena.alloc(n * 4);
  const view = arena.f32(offset, n);
  for (let i = 0; i < n; i++) view[i] = (random.float() + random.float() - 1) * scale;
  return offset;
}

function filled({ arena }: CaseContext, n: number, value: number): number {
  const offset = arena.alloc(n * 4);
  arena.f32(offset, n).fill(value);
  return offset;
}

function ints({ arena }: CaseContext, values: ArrayLike<number>): number {
  const offset = arena.alloc(values.length * 4);
  arena.u32(offset, values.length).set(values);
  return offset;
}

/** Rows of distinct ascending columns; low columns are the popular ones (cube of a uniform). */
function sparseRows({ random }: CaseContext, rows: number, columns: number, perRow: number): number[][] {
  return Array.from({ length: rows }, () => {
    const count = 1 + random.below(2 * perRow - 1);
    const own = new Set(Array.from({ length: count }, () => Math.floor(columns * random.float() ** 3)));
    return [...own].sort((a, b) => a - b);
  });
}

function putRows(context: CaseContext, lists: number[][]) {
  const starts = [0];
  for (const list of lists) starts.push(starts.at(-1)! + list.length);
  return { starts: ints(context, starts), columns: ints(context, lists.flat()), entries: starts.at(-1)! };
}

function panelsOf(context: CaseContext, items: number, factors = floats(context, items * F)): number {
  const panels = context.arena.alloc(panelBytes(items, F));
  context.kernels.packPanels(factors, items, F, panels);
  return panels;
}

const batchTopK: CaseMaker = (context) => {
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
  const rest = { allowedBits: 0, readStarts: 0, readItems: 0, scratch: arena.alloc(topKScratchBytes(F)) };
  return {
    name: `batch top-${k}, ${rows} queries, ${items} items, f=${F}`,
    operations: 2 * rows * items * F,
    run: (kernels) => kernels.batchTopK({ ...job, ...rest }),
    native: { name: 'batch-top-k', numbers: [queries, rows, panels, items, F, k, outItems, outScores] },
  };
};

const queryTopK =
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
    const rest = { allowedBits: 0, readItems: 0, readCount: 0, scratch };
    return {
      name: `one query top-${k}, ${items} items, f=${F}${isCoarse ? ', bytes first' : ''}`,
      operations: 2 * items * F,
      run: (kernels) =>
        kernels.queryTopK({ query, panels, coarse, items, f: F, k, outItems, outScores, ...rest }),
      native: { name: 'query-top-k', numbers: [query, panels, items, F, k, outItems, outScores] },
    };
  };

const gramian: CaseMaker = (context) => {
  const rows = Math.floor(27_000 / context.divisor);
  const factors = floats(context, rows * F);
  const out = context.arena.alloc(F * F * 4);
  return {
    name: `Gramian, ${rows} rows, f=${F}`,
    operations: rows * F * F,
    run: (kernels) => kernels.gramian(factors, rows, F, out),
    native: { name: 'gramian', numbers: [factors, rows, F, out] },
  };
};

function alsJob(context: CaseContext, f: number, rows: number) {
  const columns = Math.floor(27_000 / context.divisor);
  const { arena } = context;
  const lists = sparseRows(context, rows, columns, 144);
  const matrix = putRows(context, lists);
  const source = floats(context, columns * f);
  const gramianOut = arena.alloc(f * f * 4);
  context.kernels.gramian(source, columns, f, gramianOut);
  const regularizations = lists.map((list) => rowRegularization(0.003, list.length, 0.1, columns, 1));
  return {
    ...matrix,
    columnCount: columns,
    weights: 0,
    firstRow: 0,
    endRow: rows,
    target: floats(context, rows * f),
    source,
    gramian: gramianOut,
    f,
    unobservedWeight: 0.1,
    regularizations: ints(context, new Uint32Array(Float32Array.from(regularizations).buffer)),
    steps: 3,
    gatherRows: 2048,
    scratch: arena.alloc(alsScratchBytes(f, 2048)),
  };
}

function alsNumbers(job: ReturnType<typeof alsJob>): number[] {
  const { starts, columns, endRow, target, source, f, unobservedWeight, regularizations, steps } = job;
  return [starts, columns, endRow, target, source, job.gramian, f, unobservedWeight, regularizations, steps];
}

function alsConjugateGradient(f: number): CaseMaker {
  return (context) => {
    const job = alsJob(context, f, Math.floor(1000 / context.divisor));
    return {
      name: `ALS rows, conjugate gradient 3, ${job.endRow} rows, f=${f}`,
      operations: (job.steps + 1) * (4 * job.entries * f + 2 * job.endRow * f * f),
      run: (kernels) => kernels.alsSolveRows(job),
      native: { name: 'als-solve-rows', numbers: alsNumbers(job) },
    };
  };
}

/** The same rows in the basis of the Gramian; the turning of the factors, which rows share, has a row of its own. */
function alsSpectral(f: number): CaseMaker {
  return (context) => {
    const { arena, kernels } = context;
    const { gramian: matrix, ...job } = alsJob(context, f, Math.floor(1000 / context.divisor));
    const [spectrum, basis] = [arena.alloc(f * 4), arena.alloc(f * f * 4)];
    kernels.symmetricEigen(matrix, f, spectrum, basis, arena.alloc(eigenScratchBytes(f)));
    kernels.rotateRows(job.source, job.columnCount, f, basis, arena.alloc(rotateScratchBytes(f)));
    const spectral = { ...job, spectrum, steps: 2 };
    const { starts, columns, endRow, target, source, unobservedWeight, regularizations, steps } = spectral;
    const head = [starts, columns, endRow, target, source, spectrum, f, unobservedWeight];
    return {
      name: `ALS rows, preconditioned 2, ${job.endRow} rows, f=${f}`,
      operations: (steps + 1) * 4 * job.entries * f,
      run: (kernels) => kernels.alsSpectralRows(spectral),
      native: { name: 'als-spectral-rows', numbers: [...head, regularizations, steps] },
    };
  };
}

function eigen(f: number): CaseMaker {
  return (context) => {
    const { arena, kernels } = context;
    const matrix = arena.alloc(f * f * 4);
    kernels.gramian(floats(context, 4 * f * f), 4 * f, f, matrix);
    const [values, vectors] = [arena.alloc(f * 4), arena.alloc(f * f * 4)];
    const scratch = arena.alloc(eigenScratchBytes(f));
    return {
      name: `eigenvectors, f=${f}`,
      operations: 9 * f ** 3,
      run: (kernels) => kernels.symmetricEigen(matrix, f, values, vectors, scratch),
      native: { name: 'symmetric-eigen', numbers: [matrix, f, values, vectors] },
    };
  };
}

const rotation: CaseMaker = (context) => {
  const rows = Math.floor(27_000 / context.divisor);
  const { arena } = context;
  const factors = floats(context, rows * F);
  const basis = arena.alloc(F * F * 4);
  arena.f32(basis, F * F).set(Array.from({ length: F * F }, (_, at) => (at % (F + 1) === 0 ? 1 : 0)));
  const scratch = arena.alloc(rotateScratchBytes(F));
  return {
    name: `turning of ${rows} rows, f=${F}`,
    operations: 2 * rows * F * F,
    run: (kernels) => kernels.rotateRows(factors, rows, F, basis, scratch),
    native: { name: 'rotate-rows', numbers: [factors, rows, F, basis] },
  };
};

const alsCholesky: CaseMaker = (context) => {
  const job = alsJob(context, F, Math.floor(500 / context.divisor));
  return {
    name: `ALS rows, Cholesky, ${job.endRow} rows, f=${F}`,
    operations: job.entries * F * F + (job.endRow * F ** 3) / 3,
    run: (kernels) => kernels.alsCholeskyRows(job),
    native: { name: 'als-cholesky-rows', numbers: alsNumbers(job) },
  };
};

const alsBlocks: CaseMaker = (context) => {
  const job = { ...alsJob(context, F, Math.floor(500 / context.divisor)), steps: 1, blockSize: 32 };
  return {
    name: `ALS rows, blocks of ${job.blockSize} (iALS++), ${job.endRow} rows, f=${F}`,
    operations: job.entries * F * job.blockSize + (job.endRow * F * job.blockSize ** 2) / 3,
    run: (kernels) => kernels.alsBlockRows(job),
  };
};

const bpr: CaseMaker = (context) => {
  const [users, items] = [Math.floor(20_000 / context.divisor), Math.floor(10_000 / context.divisor)];
  const lists = sparseRows(context, users, items, 20);
  const matrix = putRows(context, lists);
  const entryUsers = ints(
    context,
    lists.flatMap((list, user) => list.map(() => user)),
  );
  const [userFactors, itemFactors] = [floats(context, users * F), floats(context, items * F)];
  const [learningRate, regularization, samples] = [0.05, 0.01, Math.floor(100_000 / context.divisor)];
  const random = ints(context, [1, 2, 3, 4]);
  const { starts, columns, entries } = matrix;
  const job = {
    starts,
    columns,
    entryUsers,
    firstEntry: 0,
    endEntry: entries,
    items,
    userFactors,
    itemFactors,
  };
  const settings = { f: F, learningRate, regularization, samples, random };
  const head = [starts, columns, entryUsers, entries, items, userFactors, itemFactors];
  return {
    name: `BPR, ${samples} samples, f=${F}`,
    operations: samples * F * 14,
    run: (kernels) => kernels.bprSteps({ ...job, ...settings }),
    native: { name: 'bpr-steps', numbers: [...head, F, learningRate, regularization, samples, random] },
  };
};

const factorizationMachine: CaseMaker = (context) => {
  const [rows, features, f] = [
    Math.floor(40_000 / context.divisor),
    Math.floor(50_000 / context.divisor),
    16,
  ];
  const { arena } = context;
  const lists = sparseRows(context, rows, features, 20);
  const { starts, columns, entries } = putRows(context, lists);
  const model = {
    bias: floats(context, 1),
    linear: floats(context, features),
    factors: floats(context, features * f),
  };
  const targets = filled(context, rows, 1);
  const squares = [1, features, features * f].map((n) => filled(context, n, 0.1)) as [number, number, number];
  const [biasSquares, linearSquares, factorSquares] = squares;
  const rates = { learningRate: 0.05, linearRegularization: 1e-4, factorRegularization: 1e-4 };
  const io = { outScores: arena.alloc(rows * 4), scratch: arena.alloc(fmScratchBytes(f)), targets, order: 0 };
  const job = {
    starts,
    features: columns,
    values: 0,
    firstRow: 0,
    endRow: rows,
    f,
    ...model,
    ...io,
    ...rates,
  };
  const head = [starts, columns, rows, model.bias, model.linear, model.factors, f, targets, ...squares];
  return {
    name: `FM AdaGrad, ${rows} rows of 20, f=${f}`,
    operations: entries * f * 14,
    run: (kernels) => kernels.fmAdaGradRows({ ...job, biasSquares, linearSquares, factorSquares }),
    native: { name: 'fm-ada-grad-rows', numbers: [...head, 0.05, 1e-4, 1e-4] },
  };
};

const neighbors: CaseMaker = (context) => {
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
    allowedBits: 0,
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

export const KERNEL_CASES: readonly CaseMaker[] = [
  batchTopK,
  queryTopK(false),
  queryTopK(true),
  gramian,
  alsConjugateGradient(64),
  alsConjugateGradient(128),
  alsSpectral(64),
  alsSpectral(128),
  eigen(64),
  rotation,
  alsCholesky,
  alsBlocks,
  bpr,
  factorizationMachine,
  neighbors,
];
