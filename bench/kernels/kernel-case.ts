import type { Random } from '../../src/domain/random.ts';
import type { Kernels } from '../../src/kernel/kernels.ts';
import { panelBytes } from '../../src/kernel/scratch-sizes.ts';
import type { Arena } from '../../src/memory/arena.ts';

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

export type CaseMaker = (context: CaseContext) => KernelCase;

/** Factors of most rows. */
export const F = 64;

export function floats({ arena, random }: CaseContext, n: number, scale = 0.1): number {
  const offset = arena.alloc(n * 4);
  const view = arena.f32(offset, n);
  for (let i = 0; i < n; i++) view[i] = (random.float() + random.float() - 1) * scale;
  return offset;
}

export function filled({ arena }: CaseContext, n: number, value: number): number {
  const offset = arena.alloc(n * 4);
  arena.f32(offset, n).fill(value);
  return offset;
}

export function ints({ arena }: CaseContext, values: ArrayLike<number>): number {
  const offset = arena.alloc(values.length * 4);
  arena.u32(offset, values.length).set(values);
  return offset;
}

/** Rows of distinct ascending columns; low columns are the popular ones (cube of a uniform). */
export function sparseRows(
  { random }: CaseContext,
  rows: number,
  columns: number,
  perRow: number,
): number[][] {
  return Array.from({ length: rows }, () => {
    const count = 1 + random.below(2 * perRow - 1);
    const own = new Set(Array.from({ length: count }, () => Math.floor(columns * random.float() ** 3)));
    return [...own].sort((a, b) => a - b);
  });
}

export function putRows(context: CaseContext, lists: number[][]) {
  const starts = [0];
  for (const list of lists) starts.push(starts.at(-1)! + list.length);
  return { starts: ints(context, starts), columns: ints(context, lists.flat()), entries: starts.at(-1)! };
}

export function panelsOf(context: CaseContext, items: number, factors = floats(context, items * F)): number {
  const panels = context.arena.alloc(panelBytes(items, F));
  context.kernels.packPanels(factors, items, F, panels);
  return panels;
}
