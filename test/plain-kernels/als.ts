import type { AlsRows, AlsSpectralRows, Kernels } from '../../src/kernel/kernels.ts';
import { addScaledAt, choleskySolveAt } from './vector.ts';
import type { Words } from './words.ts';

type Floats = Words['floats'];

type AlsJob = AlsRows | AlsSpectralRows;

/** One row of an ALS job, with what its equations need. */
interface RowEquations {
  readonly columns: Uint32Array;
  readonly weightOf: (entry: number) => number;
  readonly regularization: number;
  /** Index of the row's factors. */
  readonly x: number;
}

function equationsOf(job: AlsJob, { floats, ints }: Words, row: number): RowEquations {
  const start = ints[(job.starts >>> 2) + row]!;
  const end = ints[(job.starts >>> 2) + row + 1]!;
  const columns = job.columns >>> 2;
  const weights = (job.weights >>> 2) + start;
  return {
    columns: ints.subarray(columns + start, columns + end),
    weightOf: job.weights ? (entry) => floats[weights + entry]! : () => 1,
    regularization: floats[(job.regularizations >>> 2) + row]!,
    x: (job.target >>> 2) + row * job.f,
  };
}

/** (Σ w s sᵀ + unobservedWeight * G + regularization * I) v. */
function multiply(
  job: AlsSpectralRows,
  floats: Floats,
  row: RowEquations,
  v: ArrayLike<number>,
): Float64Array {
  const { f } = job;
  const out = new Float64Array(f);
  for (let i = 0; i < f; i++) {
    const gramian = floats[(job.spectrum >>> 2) + i]! * v[i]!;
    out[i] = job.unobservedWeight * gramian + row.regularization * v[i]!;
  }
  row.columns.forEach((column, entry) => {
    const source = (job.source >>> 2) + column * f;
    let product = 0;
    for (let i = 0; i < f; i++) product += floats[source + i]! * v[i]!;
    product *= row.weightOf(entry);
    for (let i = 0; i < f; i++) out[i]! += product * floats[source + i]!;
  });
  return out;
}

function rightSide(job: AlsJob, floats: Floats, row: RowEquations): Float64Array {
  const out = new Float64Array(job.f);
  row.columns.forEach((column, entry) => {
    const source = (job.source >>> 2) + column * job.f;
    for (let i = 0; i < job.f; i++) out[i]! += row.weightOf(entry) * floats[source + i]!;
  });
  return out;
}

function dotOf(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** The inverse of the part of the normal matrix that is the same for all rows, which is diagonal. */
function preconditionerOf(
  job: AlsSpectralRows,
  floats: Floats,
  { regularization }: RowEquations,
): Float64Array {
  return Float64Array.from(
    { length: job.f },
    (_, i) => 1 / (job.unobservedWeight * floats[(job.spectrum >>> 2) + i]! + regularization),
  );
}

/** Conjugate gradient from the row's present value (Takács, Pilászy, Tikk 2011), preconditioned. */
function solveByConjugateGradient(job: AlsSpectralRows, floats: Floats, row: RowEquations): void {
  const { f } = job;
  const inverse = preconditionerOf(job, floats, row);
  const precondition = (residual: Float64Array) => residual.map((value, i) => value * inverse[i]!);
  const x = Float64Array.from(floats.subarray(row.x, row.x + f));
  const applied = multiply(job, floats, row, x);
  const residual = rightSide(job, floats, row).map((value, i) => value - applied[i]!);
  let direction = precondition(residual);
  let square = dotOf(residual, direction);
  for (let step = 0; step < job.steps && square > 1e-20; step++) {
    const product = multiply(job, floats, row, direction);
    const curvature = dotOf(direction, product);
    if (!(curvature > 0)) break;
    const length = square / curvature;
    for (let i = 0; i < f; i++) {
      x[i]! += length * direction[i]!;
      residual[i]! -= length * product[i]!;
    }
    const steepest = precondition(residual);
    const next = dotOf(residual, steepest);
    direction = direction.map((value, i) => steepest[i]! + (next / square) * value);
    square = next;
  }
  floats.set(x, row.x);
}

/** Writes the normal matrix, f x f, at index `out`. */
function writeMatrix(job: AlsRows, floats: Floats, row: RowEquations, out: number): void {
  const { f } = job;
  for (let i = 0; i < f; i++) {
    for (let j = 0; j < f; j++) {
      const base = floats[(job.gramian >>> 2) + i * f + j]!;
      floats[out + i * f + j] = job.unobservedWeight * base + (i === j ? row.regularization : 0);
    }
  }
  row.columns.forEach((column, entry) => {
    const s = (job.source >>> 2) + column * f;
    for (let i = 0; i < f; i++) addScaledAt(floats, out + i * f, s, row.weightOf(entry) * floats[s + i]!, f);
  });
}

export function plainAlsKernels(words: Words): Pick<Kernels, 'alsSpectralRows' | 'alsCholeskyRows'> {
  const { floats } = words;
  /** Calls `solve` for each row that has entries; a row without any is zero. */
  const forEachRow = (job: AlsJob, solve: (row: RowEquations) => void) => {
    for (let r = job.firstRow; r < job.endRow; r++) {
      const row = equationsOf(job, words, r);
      if (row.columns.length === 0) floats.fill(0, row.x, row.x + job.f);
      else solve(row);
    }
  };
  return {
    alsSpectralRows: (job) => forEachRow(job, (row) => solveByConjugateGradient(job, floats, row)),
    alsCholeskyRows(job) {
      const { f } = job;
      const matrix = job.scratch >>> 2;
      const right = matrix + f * f;
      let failed = 0;
      forEachRow(job, (row) => {
        writeMatrix(job, floats, row, matrix);
        floats.set(rightSide(job, floats, row), right);
        if (choleskySolveAt(floats, matrix, right, f)) floats.copyWithin(row.x, right, right + f);
        else failed++;
      });
      return failed;
    },
  };
}
