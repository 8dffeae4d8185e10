import type { CompressedMatrix } from '../../src/dataset/interactions.ts';
import { transpose } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { neighborScratchBytes, panelBytes, topKScratchBytes } from '../../src/kernel/scratch-sizes.ts';
import { ARENA_START, Arena, alignedBytes } from '../../src/memory/arena.ts';
import { createSharedMemory } from '../../src/memory/shared-memory.ts';
import { KernelThreads } from './kernel-threads.ts';
import { type ModelCase, timed } from './model-case.ts';
import type { HeldOut } from './power-law.ts';
import type { Reference } from './reference.ts';

const F = 64;
const K = 100;
const CHUNK_USERS = 512;
const CHUNK_ITEMS = 128;

/** Room for the arrays, each of so many bytes. */
function arenaFor(...bytes: readonly number[]): Arena {
  return new Arena(createSharedMemory(bytes.reduce((sum, size) => sum + alignedBytes(size), ARENA_START)));
}

function placeRows(arena: Arena, matrix: CompressedMatrix): { starts: number; columns: number } {
  const starts = arena.alloc(matrix.indptr.byteLength);
  const columns = arena.alloc(matrix.indices.byteLength);
  arena.u32(starts, matrix.indptr.length).set(matrix.indptr);
  arena.u32(columns, matrix.indices.length).set(matrix.indices);
  return { starts, columns };
}

function placeFactors(arena: Arena, rows: number, seed: number): number {
  const offset = arena.alloc(rows * F * 4);
  const view = arena.f32(offset, rows * F);
  const random = createRandom(seed);
  for (let at = 0; at < view.length; at++) view[at] = (random.float() + random.float() - 1) * 0.1;
  return offset;
}

/** The best items that each user has not had; items that users have do not stand in the lists on either side. */
export async function topKCase(
  { train }: HeldOut,
  threads: number,
  reference: Reference | undefined,
): Promise<ModelCase> {
  const { userCount, itemCount, byUser } = train;
  const scratchBytes = topKScratchBytes(F);
  const arena = arenaFor(
    ...[byUser.indptr.byteLength, byUser.indices.byteLength, userCount * F * 4, itemCount * F * 4],
    ...[panelBytes(itemCount, F), userCount * K * 8, userCount * 4, threads * scratchBytes + 4096],
  );
  const { starts, columns } = placeRows(arena, byUser);
  const queries = placeFactors(arena, userCount, 1);
  const panels = arena.alloc(panelBytes(itemCount, F));
  loadKernels(arena.memory).packPanels(placeFactors(arena, itemCount, 2), itemCount, F, panels);
  const outItems = arena.alloc(userCount * K * 4);
  const outScores = arena.alloc(userCount * K * 4);
  const outCounts = arena.alloc(userCount * 4);
  const scratches = Array.from({ length: threads }, () => arena.alloc(scratchBytes, 64));
  const pool = await KernelThreads.start(arena.memory, threads);
  const work = () =>
    pool.run(Math.ceil(userCount / CHUNK_USERS), (chunk, slot) => {
      const first = chunk * CHUNK_USERS;
      const job = {
        queries: queries + first * F * 4,
        rows: Math.min(CHUNK_USERS, userCount - first),
        panels,
        items: itemCount,
        f: F,
        k: K,
        readStarts: starts + first * 4,
        readItems: columns,
        outItems: outItems + first * K * 4,
        outScores: outScores + first * K * 4,
        outCounts: outCounts + first * 4,
        scratch: scratches[slot]!,
      };
      return { kernel: 'batchTopK', job };
    });
  return {
    name: `top-${K} for every user, ${itemCount} items, f=${F}`,
    aim: '1.0',
    against: 'implicit.recommend',
    ours: () => timed(work),
    reference: reference && (() => reference.run('recommend_all', { factors: F, k: K })),
    close: () => pool.close(),
  };
}

/** Cosine of all pairs of items; transposing and norms count, as they do in the reference. */
export async function neighborCase(
  { train }: HeldOut,
  threads: number,
  reference: Reference | undefined,
): Promise<ModelCase> {
  const { itemCount, byUser, byItem } = train;
  const scratchBytes = neighborScratchBytes(itemCount);
  const matrixBytes = [byUser, byItem].flatMap(({ indptr, indices }) => [
    indptr.byteLength,
    indices.byteLength,
  ]);
  const arena = arenaFor(
    ...matrixBytes,
    ...[itemCount * 4, itemCount * K * 8, itemCount * 4, threads * (scratchBytes + 64) + 4096],
  );
  const norms = arena.alloc(itemCount * 4);
  const [outRows, outScores] = [arena.alloc(itemCount * K * 4), arena.alloc(itemCount * K * 4)];
  const outCounts = arena.alloc(itemCount * 4);
  const scratches = Array.from({ length: threads }, () => arena.alloc(scratchBytes, 64));
  const start = arena.usedBytes;
  const pool = await KernelThreads.start(arena.memory, threads);
  const work = async () => {
    const rest = new Arena(arena.memory, start);
    const items = transpose(byUser);
    const { starts, columns } = placeRows(rest, items);
    const other = placeRows(rest, byUser);
    arena.f32(norms, itemCount).set(items.indptr.subarray(1).map((end, row) => end - items.indptr[row]!));
    for (const [row, count] of arena.f32(norms, itemCount).entries())
      arena.f32(norms, itemCount)[row] = Math.sqrt(Math.max(1, count));
    await pool.run(Math.ceil(itemCount / CHUNK_ITEMS), (chunk, slot) => {
      const firstRow = chunk * CHUNK_ITEMS;
      const job = {
        starts,
        columns,
        otherStarts: other.starts,
        otherColumns: other.columns,
        columnWeights: 0,
        norms,
        shrink: 0,
        rows: itemCount,
        firstRow,
        endRow: Math.min(itemCount, firstRow + CHUNK_ITEMS),
        k: K,
        outRows: outRows + firstRow * K * 4,
        outScores: outScores + firstRow * K * 4,
        outCounts: outCounts + firstRow * 4,
        scratch: scratches[slot]!,
      };
      return { kernel: 'neighborTopK', job };
    });
  };
  return {
    name: `item-item top-${K} by co-occurrence`,
    aim: '0.8',
    against: 'implicit CosineRecommender',
    ours: () => timed(work),
    reference: reference && (() => reference.run('neighbors', { k: K })),
    close: () => pool.close(),
  };
}
