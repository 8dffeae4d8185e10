import {
  alsScratchBytes,
  eigenScratchBytes,
  normalMatrixScratchBytes,
  rotateScratchBytes,
} from '../../src/kernel/scratch-sizes.ts';
import { rowRegularization } from '../../src/model/als/settings.ts';
import { type CaseContext, type CaseMaker, F, floats, ints, putRows, sparseRows } from './kernel-case.ts';

export const gramian: CaseMaker = (context) => {
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
  const settings = { regularization: 0.003, unobservedWeight: 0.1, regularizationExponent: 1 };
  const regularizations = lists.map((list) => rowRegularization(settings, list.length, columns));
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

export function alsSpectral(f: number): CaseMaker {
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

export function eigen(f: number): CaseMaker {
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

export const rotation: CaseMaker = (context) => {
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

export const alsCholesky: CaseMaker = (context) => {
  const job = alsJob(context, F, Math.floor(500 / context.divisor));
  return {
    name: `ALS rows, Cholesky, ${job.endRow} rows, f=${F}`,
    operations: job.entries * F * F + (job.endRow * F ** 3) / 3,
    run: (kernels) => kernels.alsCholeskyRows(job),
    native: { name: 'als-cholesky-rows', numbers: alsNumbers(job) },
  };
};

export const normalMatrix: CaseMaker = (context) => {
  const { arena } = context;
  const [columns, count] = [Math.floor(27_000 / context.divisor), Math.floor(20_000 / context.divisor)];
  const source = floats(context, columns * F);
  const listed = ints(
    context,
    Array.from({ length: count }, () => context.random.below(columns)),
  );
  const base = arena.alloc(F * F * 4);
  const out = arena.alloc(F * F * 4);
  const scratch = arena.alloc(normalMatrixScratchBytes(F));
  const settings = { weights: 0, scale: 0.1, diagonal: 1 };
  return {
    name: `normal matrix of ${count} rows, f=${F}`,
    operations: count * F * F,
    run: (kernels) =>
      kernels.normalMatrix({ source, f: F, columns: listed, count, base, out, scratch, ...settings }),
    native: { name: 'normal-matrix', numbers: [source, F, listed, count, base, 0.1, 1, out] },
  };
};

/** Each run solves anew, so the matrices are copied back first, on all sides. */
export const choleskySolve: CaseMaker = (context) => {
  const { arena, kernels } = context;
  const count = Math.ceil(50 / context.divisor);
  const matrix = arena.alloc(F * F * 4);
  kernels.gramian(floats(context, 4 * F * F), 4 * F, F, matrix);
  const [copy, right] = [arena.alloc(F * F * 4), floats(context, F)];
  return {
    name: `Cholesky, ${count} matrices, f=${F}`,
    operations: (count * F ** 3) / 3,
    run: (kernels) => {
      for (let i = 0; i < count; i++) {
        arena.f32(copy, F * F).set(arena.f32(matrix, F * F));
        kernels.choleskySolve(copy, right, F);
      }
    },
    native: { name: 'cholesky-solve', numbers: [matrix, right, F, count] },
  };
};
