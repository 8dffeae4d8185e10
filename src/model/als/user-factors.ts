/**
 * A training whose users do not fit in one memory with everything else: their factors lie in shards, and the matrix stays
 * where it was read to. A thread copies what a chunk needs to a stage of its own in the memory of the items, works there
 * by the same kernels, and copies back what it solved: so the model has the same bits for any number of shards, but for
 * items with more users than a stage holds, which are solved exactly in blocks instead of by steps from their last value.
 */
import type { AlsRows, Kernels } from '../../kernel/kernels.ts';
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { arrayOf, rowOf, rowOffset, viewOf } from '../../memory/memory-layout.ts';
import { f32 } from '../../memory/shared-memory.ts';
import { rowRegularization } from './settings.ts';
import { USER_CHUNK_ROWS, type UserShards } from './sharding.ts';
import type { AlsTask } from './training-task.ts';

/** The users' factors, wherever they lie. */
export class UserFactors {
  private readonly views: readonly Float32Array[];
  private readonly rowsPerShard: number;
  private readonly f: number;

  constructor({ memory, layout, settings, userCount, shards }: AlsTask) {
    this.f = paddedFactors(settings.factors);
    this.rowsPerShard = shards?.rowsPerShard ?? Math.max(1, userCount);
    this.views =
      shards === undefined
        ? [viewOf(memory, layout, 'userFactors', 'f32')]
        : shards.memories.map((shard) => f32(shard, 0, shard.buffer.byteLength / 4));
  }

  row(user: number): Float32Array {
    return this.rows(user, user + 1);
  }

  /** A view of the factors of users that do not lie across two shards. */
  rows(first: number, end: number): Float32Array {
    const shard = Math.floor(first / this.rowsPerShard);
    const at = (first - shard * this.rowsPerShard) * this.f;
    return this.views[shard]!.subarray(at, at + (end - first) * this.f);
  }

  /** Copies the factors of users, `count` of them from a place in a list, one behind the other. */
  gather(users: Uint32Array, from: number, count: number, out: Float32Array): void {
    const { f, rowsPerShard, views } = this;
    for (let at = 0, to = 0; at < count; at++) {
      const user = users[from + at]!;
      const shard = Math.floor(user / rowsPerShard);
      const view = views[shard]!;
      const first = (user - shard * rowsPerShard) * f;
      for (let factor = 0; factor < f; factor++) out[to++] = view[first + factor]!;
    }
  }

  /** A copy of all of them. */
  all(userCount: number): Float32Array<ArrayBuffer> {
    const copy = new Float32Array(userCount * this.f);
    for (let user = 0; user < userCount; user += this.rowsPerShard) {
      const end = Math.min(userCount, user + this.rowsPerShard);
      copy.set(this.rows(user, end), user * this.f);
    }
    return copy;
  }
}

/** Rows of one solve, as the kernels take them. */
export type RowsToSolve = Pick<
  AlsRows,
  'starts' | 'columns' | 'weights' | 'firstRow' | 'endRow' | 'target' | 'source' | 'regularizations'
>;

/** One thread's stage. */
export class UserStage {
  private readonly task: AlsTask;
  private readonly shards: UserShards;
  private readonly kernels: Kernels;
  private readonly users: UserFactors;
  private readonly slot: number;
  private readonly f: number;

  constructor(task: AlsTask, shards: UserShards, kernels: Kernels, slot: number) {
    this.task = task;
    this.shards = shards;
    this.kernels = kernels;
    this.users = new UserFactors(task);
    this.slot = slot;
    this.f = paddedFactors(task.settings.factors);
  }

  /** Copies rows of users to the stage. @returns where they lie there */
  load(first: number, end: number): number {
    this.view('stageFactors').set(this.users.rows(first, end));
    return this.offset('stageFactors');
  }

  /** Copies rows of users back from the stage. */
  store(first: number, end: number): void {
    this.users.rows(first, end).set(this.view('stageFactors').subarray(0, (end - first) * this.f));
  }

  solveUsers(first: number, end: number, solve: (rows: RowsToSolve) => void): void {
    const { settings, itemCount } = this.task;
    const { indptr, indices, weights } = this.shards.matrix.byUser;
    const [from, to] = [indptr[first]!, indptr[end]!];
    const starts = viewOf(this.task.memory, this.task.layout, 'stageStarts', 'u32');
    const columns = viewOf(this.task.memory, this.task.layout, 'stageColumns', 'u32');
    const regularizations = this.view('stageRegularizations');
    columns.set(indices.subarray(from, to), this.slot * this.shards.chunkEntries);
    if (weights !== null) this.view('stageWeights').set(weights.subarray(from, to));
    const startsAt = this.slot * (USER_CHUNK_ROWS + 1);
    for (let user = first; user <= end; user++) starts[startsAt + user - first] = indptr[user]! - from;
    for (let user = first; user < end; user++) {
      const count = indptr[user + 1]! - indptr[user]!;
      regularizations[user - first] = rowRegularization(settings, count, itemCount);
    }
    const target = this.load(first, end);
    solve({
      starts: this.offset('stageStarts'),
      columns: this.offset('stageColumns'),
      weights: weights === null ? 0 : this.offset('stageWeights'),
      firstRow: 0,
      endRow: end - first,
      target,
      source: arrayOf(this.task.layout, 'itemFactors').offset,
      regularizations: this.offset('stageRegularizations'),
    });
    this.store(first, end);
  }

  solveItem(item: number, solve: (rows: RowsToSolve) => void): void {
    const { memory, layout } = this.task;
    const { indptr, indices, weights } = this.shards.matrix.byItem;
    const [from, to] = [indptr[item]!, indptr[item + 1]!];
    if (to - from > this.shards.stageRows) {
      this.solveInBlocks(item, from, to);
      return;
    }
    this.users.gather(indices, from, to - from, this.view('stageFactors'));
    if (weights !== null) this.view('stageWeights').set(weights.subarray(from, to));
    const at = this.slot * (USER_CHUNK_ROWS + 1);
    viewOf(memory, layout, 'stageStarts', 'u32').set([0, to - from], at);
    solve({
      starts: this.offset('stageStarts'),
      columns: arrayOf(layout, 'everyRow').offset,
      weights: weights === null ? 0 : this.offset('stageWeights'),
      firstRow: 0,
      endRow: 1,
      target: arrayOf(layout, 'itemFactors').offset + item * this.f * 4,
      source: this.offset('stageFactors'),
      regularizations: arrayOf(layout, 'itemRegularizations').offset + item * 4,
    });
  }

  /** Sums the normal equations of an item over blocks of its users, in their order, and solves them exactly. */
  private solveInBlocks(item: number, from: number, to: number): void {
    const { f, kernels } = this;
    const { memory, layout, settings } = this.task;
    const { indices, weights } = this.shards.matrix.byItem;
    const matrices = [0, f * f * 4].map((at) => this.offset('stageMatrices') + at);
    const vector = f32(memory, this.offset('stageVector'), f).fill(0);
    const source = this.offset('stageFactors');
    let base = this.gramian(matrices[1]!);
    let scale = settings.unobservedWeight;
    let diagonal = viewOf(memory, layout, 'itemRegularizations', 'f32')[item]!;
    for (let at = from, block = 0; at < to; at += this.shards.stageRows, block++) {
      const count = Math.min(this.shards.stageRows, to - at);
      this.users.gather(indices, at, count, this.view('stageFactors'));
      if (weights !== null) this.view('stageWeights').set(weights.subarray(at, at + count));
      const out = matrices[block % 2]!;
      kernels.normalMatrix({
        source,
        f,
        columns: arrayOf(layout, 'everyRow').offset,
        weights: weights === null ? 0 : this.offset('stageWeights'),
        count,
        base,
        scale,
        diagonal,
        out,
        scratch: this.offset('scratch'),
      });
      for (let row = 0; row < count; row++) {
        kernels.addScaled(vector.byteOffset, source + row * f * 4, weights?.[at + row] ?? 1, f);
      }
      [base, scale, diagonal] = [out, 1, 0];
    }
    if (kernels.choleskySolve(base, vector.byteOffset, f) === 0) return;
    viewOf(memory, layout, 'itemFactors', 'f32').set(vector, item * f);
  }

  /** The Gramian of all users; written to `at` where only its diagonal is kept. */
  private gramian(at: number): number {
    const { memory, layout, solver } = this.task;
    if (solver === 'cholesky') return this.offset('gramians');
    const matrix = f32(memory, at, this.f * this.f).fill(0);
    viewOf(memory, layout, 'spectrum', 'f32').forEach((value, factor) => {
      matrix[factor * (this.f + 1)] = value;
    });
    return at;
  }

  /** This thread's part of an array with one row a slot. */
  private view(name: string): Float32Array {
    return rowOf(this.task.memory, this.task.layout, name, this.slot, 'f32');
  }

  private offset(name: string): number {
    return rowOffset(this.task.layout, name, this.slot);
  }
}
