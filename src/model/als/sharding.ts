/** Division of the users of a training that does not fit in one memory (`train-and-serve.ts` decides that); see `user-factors.ts`. */
import type { Interactions } from '../../dataset/interactions.ts';
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import type { ArrayPlan } from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';

const SHARD_BYTES = 2 ** 30;
/** Rows of users that are copied at a time; shards and chunks of Gramians begin at a multiple. */
export const STAGE_ROWS_MIN = 2048;
/** Users of an item that are gathered at once; at 64 factors 16 MiB a thread. */
export const STAGE_ROWS_MAX = 65_536;
/** Users that a thread solves at a time. */
export const USER_CHUNK_ROWS = 64;

/** Division of the users of a training. */
export interface Sharding {
  /** A multiple of `STAGE_ROWS_MIN`. */
  readonly rowsPerShard: number;
  /** Rows of factors that a thread's stage holds. */
  readonly stageRows: number;
  /** The most pairs that a chunk of users has. */
  readonly chunkEntries: number;
}

/** Users of a task when they are divided. */
export interface UserShards extends Sharding {
  readonly memories: readonly WebAssembly.Memory[];
  /** In shared memory. */
  readonly matrix: Pick<Interactions, 'byUser' | 'byItem'>;
}

/** @param given for tests; chosen by the data and the number of factors when absent */
export function shardingOf(
  { byUser, byItem }: Pick<Interactions, 'byUser' | 'byItem'>,
  factors: number,
  given: Partial<Sharding> = {},
): Sharding {
  const rows = Math.floor(SHARD_BYTES / (paddedFactors(factors) * 4) / STAGE_ROWS_MIN) * STAGE_ROWS_MIN;
  let longest = 0;
  for (let item = 0; item < byItem.rowCount; item++) {
    longest = Math.max(longest, byItem.indptr[item + 1]! - byItem.indptr[item]!);
  }
  let chunkEntries = 0;
  for (let user = 0; user < byUser.rowCount; user += USER_CHUNK_ROWS) {
    const end = Math.min(byUser.rowCount, user + USER_CHUNK_ROWS);
    chunkEntries = Math.max(chunkEntries, byUser.indptr[end]! - byUser.indptr[user]!);
  }
  const stageRows = Math.max(STAGE_ROWS_MIN, Math.min(STAGE_ROWS_MAX, longest));
  return { rowsPerShard: rows, stageRows, chunkEntries, ...given };
}

/** The threads' stages in the memory of the items. */
export function stagePlans(
  { stageRows, chunkEntries }: Sharding,
  slots: number,
  f: number,
  weighted: boolean,
): ArrayPlan[] {
  const entries = Math.max(stageRows, chunkEntries);
  return [
    ['stageFactors', 'f32', [slots, stageRows * f]],
    ['stageStarts', 'u32', [slots, USER_CHUNK_ROWS + 1]],
    ['stageColumns', 'u32', [slots, chunkEntries]],
    ['stageWeights', 'f32', [slots, weighted ? entries : 0]],
    ['stageRegularizations', 'f32', [slots, USER_CHUNK_ROWS]],
    ['stageMatrices', 'f32', [slots, 2 * f * f]],
    ['stageVector', 'f32', [slots, f]],
    ['everyRow', 'u32', [stageRows]],
  ];
}

/** Bytes of the shards of so many users. */
export function shardBytes(userCount: number, { rowsPerShard }: Sharding, f: number): number {
  return shardRows(userCount, rowsPerShard).reduce((sum, rows) => sum + Math.max(1, rows * f * 4), 0);
}

export function allocateShards(
  userCount: number,
  sharding: Sharding,
  f: number,
  matrix: UserShards['matrix'],
  allocate: AllocateMemory,
): UserShards {
  const rows = shardRows(userCount, sharding.rowsPerShard);
  return { ...sharding, matrix, memories: rows.map((count) => allocate(Math.max(1, count * f * 4))) };
}

function shardRows(userCount: number, rowsPerShard: number): number[] {
  const shards = Math.max(1, Math.ceil(userCount / rowsPerShard));
  return Array.from({ length: shards }, (_, at) => Math.min(rowsPerShard, userCount - at * rowsPerShard));
}
