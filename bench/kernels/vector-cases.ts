import { byteRecordBytes, coarseBytes, panelBytes } from '../../src/kernel/scratch-sizes.ts';
import { type CaseMaker, F, floats, ints } from './kernel-case.ts';

/** Long enough that a run can be timed, and read from the second-level cache at best. */
const LENGTH = 200_000;

export const dot: CaseMaker = (context) => {
  const n = Math.floor(LENGTH / context.divisor);
  const [a, b] = [floats(context, n), floats(context, n)];
  return {
    name: `inner product of ${n}`,
    operations: 2 * n,
    run: (kernels) => void kernels.dot(a, b, n),
    native: { name: 'dot', numbers: [a, b, n] },
  };
};

export const addScaled: CaseMaker = (context) => {
  const n = Math.floor(LENGTH / context.divisor);
  const [target, source] = [floats(context, n), floats(context, n)];
  return {
    name: `addition of ${n}, scaled`,
    operations: 2 * n,
    run: (kernels) => kernels.addScaled(target, source, 1e-6, n),
    native: { name: 'add-scaled', numbers: [target, source, 1e-6, n] },
  };
};

export const countNonFinite: CaseMaker = (context) => {
  const n = Math.floor(LENGTH / context.divisor);
  const values = floats(context, n);
  return {
    name: `look for NaN and infinity in ${n}`,
    operations: n,
    run: (kernels) => void kernels.countNonFinite(values, n),
    native: { name: 'count-non-finite', numbers: [values, n] },
  };
};

export const scoreItems: CaseMaker = (context) => {
  const { arena, random } = context;
  const [rows, count] = [Math.floor(27_000 / context.divisor), Math.floor(2_000 / context.divisor)];
  const [query, factors] = [floats(context, F), floats(context, rows * F)];
  const items = ints(
    context,
    Array.from({ length: count }, () => random.below(rows)),
  );
  const scores = arena.alloc(count * 4);
  return {
    name: `scores of ${count} listed items, f=${F}`,
    operations: 2 * count * F,
    run: (kernels) => kernels.scoreItems(query, factors, F, items, count, scores),
    native: { name: 'score-items', numbers: [query, factors, F, items, count, scores] },
  };
};

/** Numbers moved count as operations. */
export const packPanels: CaseMaker = (context) => {
  const rows = Math.floor(27_000 / context.divisor);
  const factors = floats(context, rows * F);
  const out = context.arena.alloc(panelBytes(rows, F));
  return {
    name: `panels of ${rows} rows, f=${F}`,
    operations: rows * F,
    run: (kernels) => kernels.packPanels(factors, rows, F, out),
    native: { name: 'pack-panels', numbers: [factors, rows, F, out] },
  };
};

export const packCoarse: CaseMaker = (context) => {
  const rows = Math.floor(27_000 / context.divisor);
  const factors = floats(context, rows * F);
  const out = context.arena.alloc(coarseBytes(rows, F));
  return {
    name: `bytes of ${rows} rows, f=${F}`,
    operations: rows * F,
    run: (kernels) => kernels.packCoarse(factors, rows, F, out),
    native: { name: 'pack-coarse', numbers: [factors, rows, F, out] },
  };
};

function byteRecords({ arena, random }: Parameters<CaseMaker>[0], count: number, length: number): number {
  const bytes = count * byteRecordBytes(length);
  const records = arena.alloc(bytes, 16);
  const view = new Int8Array(arena.memory.buffer, records, bytes);
  for (let at = 0; at < bytes; at++)
    view[at] = at % byteRecordBytes(length) < length ? random.below(255) - 127 : 60;
  return records;
}

export const nearestBytes: CaseMaker = (context) => {
  const { arena } = context;
  const [count, length, groupCount] = [Math.ceil(64 / context.divisor), 64, 32];
  const records = byteRecords(context, count, length);
  const centers = byteRecords(context, groupCount ** 2, length);
  const groups = byteRecords(context, groupCount, length);
  const starts = arena.alloc(4 * (groupCount + 1));
  arena.u32(starts, groupCount + 1).set(Array.from({ length: groupCount + 1 }, (_, at) => at * groupCount));
  const out = arena.alloc(4 * count);
  const scratch = arena.alloc(2 * length + 4 * groupCount, 16);
  const job = { records, count, length, centers, starts, groups, groupCount, probes: 8, out, scratch };
  return {
    name: `nearest of ${groupCount ** 2} centers for ${count} vectors of ${length} bytes`,
    operations: 2 * count * length * groupCount * 9,
    run: (kernels) => void kernels.nearestBytes(job),
  };
};

export const scanBytes: CaseMaker = (context) => {
  const { arena } = context;
  const [count, length] = [Math.floor(20_000 / context.divisor), 384];
  const records = byteRecords(context, count, length);
  const query = arena.alloc(length * 2, 16);
  new Int16Array(arena.memory.buffer, query, length).fill(1000);
  const [outPlaces, outScores] = [arena.alloc(count * 4), arena.alloc(count * 4)];
  const job = { records, count, length, query, queryScale: 1, threshold: 0, outPlaces, outScores };
  return {
    name: `scores of ${count} vectors of ${length} bytes`,
    operations: 2 * count * length,
    run: (kernels) => void kernels.scanBytes(job),
  };
};
