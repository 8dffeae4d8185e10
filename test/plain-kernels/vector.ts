import type { Kernels } from '../../src/kernel/kernels.ts';
import type { Words } from './words.ts';

type VectorKernels = Pick<
  Kernels,
  | 'dot'
  | 'addScaled'
  | 'countNonFinite'
  | 'gramian'
  | 'packPanels'
  | 'packCoarse'
  | 'scoreItems'
  | 'normalMatrix'
  | 'choleskySolve'
>;

/** Inner product of two vectors given as float32 indexes. */
export function dotAt(floats: Words['floats'], a: number, b: number, n: number): number {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += floats[a + i]! * floats[b + i]!;
  return sum;
}

/** The nearest integer, halves to the even one; 0 for NaN. */
function nearestEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  const isUp = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  return Number.isNaN(value) ? 0 : floor + (isUp ? 1 : 0);
}

/** target += factor * source, given as float32 indexes. */
export function addScaledAt(
  floats: Words['floats'],
  target: number,
  source: number,
  factor: number,
  n: number,
): void {
  for (let i = 0; i < n; i++) floats[target + i]! += factor * floats[source + i]!;
}

/** Solves A x = b by A = UᵀU; see `Kernels.choleskySolve`. Indexes of float32, not bytes. */
export function choleskySolveAt(floats: Words['floats'], a: number, b: number, f: number): number {
  for (let k = 0; k < f; k++) {
    const pivot = floats[a + k * f + k]!;
    if (!(pivot > 0) || pivot === Infinity) return 0;
    const root = Math.sqrt(pivot);
    for (let j = k; j < f; j++) floats[a + k * f + j]! /= root;
    for (let i = k + 1; i < f; i++) {
      const factor = floats[a + k * f + i]!;
      for (let j = i; j < f; j++) floats[a + i * f + j]! -= factor * floats[a + k * f + j]!;
    }
  }
  for (let k = 0; k < f; k++) {
    const y = (floats[b + k]! /= floats[a + k * f + k]!);
    for (let j = k + 1; j < f; j++) floats[b + j]! -= y * floats[a + k * f + j]!;
  }
  for (let k = f - 1; k >= 0; k--) {
    const rest = dotAt(floats, a + k * f + k + 1, b + k + 1, f - 1 - k);
    floats[b + k] = (floats[b + k]! - rest) / floats[a + k * f + k]!;
  }
  return 1;
}

export function plainVectorKernels(words: Words): VectorKernels {
  const { floats, ints } = words;
  return {
    dot: (a, b, n) => Math.fround(dotAt(floats, a >>> 2, b >>> 2, n)),
    addScaled: (target, source, factor, n) => addScaledAt(floats, target >>> 2, source >>> 2, factor, n),
    countNonFinite(values, n) {
      let count = 0;
      for (let i = 0; i < n; i++) if (!Number.isFinite(floats[(values >>> 2) + i]!)) count++;
      return count;
    },
    gramian(factors, rows, f, out) {
      const sums = new Float64Array(f * f);
      for (let r = 0; r < rows; r++) {
        const row = (factors >>> 2) + r * f;
        for (let i = 0; i < f; i++) {
          for (let j = 0; j < f; j++) sums[i * f + j]! += floats[row + i]! * floats[row + j]!;
        }
      }
      floats.set(sums, out >>> 2);
    },
    packCoarse: (factors, rows, f, out) => packCoarse(floats, factors, rows, f, out),
    packPanels(factors, rows, f, out) {
      for (let row = 0; row < Math.ceil(rows / 8) * 8; row++) {
        const to = (out >>> 2) + (row >> 3) * 8 * f + (row & 7);
        for (let k = 0; k < f; k++)
          floats[to + k * 8] = row < rows ? floats[(factors >>> 2) + row * f + k]! : 0;
      }
    },
    scoreItems(query, factors, f, items, count, scores) {
      for (let i = 0; i < count; i++) {
        const row = (factors >>> 2) + ints[(items >>> 2) + i]! * f;
        floats[(scores >>> 2) + i] = dotAt(floats, query >>> 2, row, f);
      }
    },
    normalMatrix: (job) => normalMatrix(words, job),
    choleskySolve: (a, b, f) => choleskySolveAt(floats, a >>> 2, b >>> 2, f),
  };
}

/** See `Kernels.packCoarse`. */
function packCoarse(floats: Words['floats'], factors: number, rows: number, f: number, out: number): void {
  const bytes = new Int8Array(floats.buffer);
  for (let row = 0; row < Math.ceil(rows / 32) * 32; row++) {
    const panel = out + (row >> 5) * (32 * f + 128);
    const from = factors >>> 2;
    const values = row < rows ? floats.slice(from + row * f, from + (row + 1) * f) : new Float32Array(f);
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const scale = Math.max(Math.fround(largest / 127), Math.fround(1e-20));
    const stored = Number.isFinite(largest) ? scale : Number.NaN;
    floats[(panel + 32 * f) / 4 + (row & 31)] = row < rows ? stored : 0;
    values.forEach((value, k) => {
      const at = panel + (k >> 1) * 64 + (row & 31) * 2 + (k & 1);
      bytes[at] = nearestEven(Math.fround(value / scale));
    });
  }
}

/** See `Kernels.normalMatrix`. */
function normalMatrix({ floats, ints }: Words, job: Parameters<Kernels['normalMatrix']>[0]): void {
  const { f } = job;
  const out = job.out >>> 2;
  for (let i = 0; i < f * f; i++) floats[out + i] = job.scale * floats[(job.base >>> 2) + i]!;
  for (let i = 0; i < f; i++) floats[out + i * f + i]! += job.diagonal;
  for (let e = 0; e < job.count; e++) {
    const row = (job.source >>> 2) + ints[(job.columns >>> 2) + e]! * f;
    const weight = job.weights ? floats[(job.weights >>> 2) + e]! : 1;
    for (let i = 0; i < f; i++) addScaledAt(floats, out + i * f, row, weight * floats[row + i]!, f);
  }
}
