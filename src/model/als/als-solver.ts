import type { AlsRows, Kernels } from '../../kernel/kernels.ts';
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { arrayOf, rowOffset, viewOf } from '../../memory/memory-layout.ts';
import { markFaulty, takeChunks } from '../part/chunks-for-threads.ts';
import { gainOf, JUDGE_CHUNK_USERS, JUDGED_LENGTH } from './held-out-validation.ts';
import { GRAMIAN_CHUNK_ROWS, gramianChunks } from './memory-layout.ts';
import { USER_CHUNK_ROWS } from './sharding.ts';
import type { AlsPhase, AlsTask, Side } from './training-task.ts';
import { type RowsToSolve, UserFactors, UserStage } from './user-factors.ts';

/** Rows that a thread takes at a time: a user's row is short, a popular item's long. */
const SOLVE_CHUNK_ROWS: Readonly<Record<Side, number>> = { user: USER_CHUNK_ROWS, item: 8 };
/** Rows that are only copied; a multiple of the 8 in a panel. */
const COPY_CHUNK_ROWS = 2048;

/** The rows of one solve: which matrix, and where the solution goes. */
interface SolveArrays {
  readonly starts: string;
  readonly columns: string;
  readonly weights: string;
  readonly regularizations: string;
  readonly target: string;
  readonly source: string;
}

const SIDES: Readonly<Record<Side, SolveArrays>> = { user: sideArrays('user'), item: sideArrays('item') };
const HELD_OUT: SolveArrays = {
  starts: 'heldStarts',
  columns: 'heldColumns',
  weights: 'heldWeights',
  regularizations: 'heldRegularizations',
  target: 'heldFactors',
  source: 'itemFactors',
};

function sideArrays(side: Side): SolveArrays {
  return {
    starts: `${side}Starts`,
    columns: `${side}Columns`,
    weights: `${side}Weights`,
    regularizations: `${side}Regularizations`,
    target: `${side}Factors`,
    source: `${other(side)}Factors`,
  };
}

function other(side: Side): Side {
  return side === 'user' ? 'item' : 'user';
}

/** One thread's part in a training. */
export class AlsSolver {
  readonly #task: AlsTask;
  readonly #kernels: Kernels;
  readonly #slot: number;
  readonly #f: number;
  readonly #users: UserFactors;
  /** Where users are divided. */
  readonly #stage: UserStage | undefined;

  /** @param slot this thread's number, below `task.slots`; no two threads share one */
  constructor(task: AlsTask, kernels: Kernels, slot: number) {
    if (!(slot >= 0 && slot < task.slots)) throw new RangeError(`slot ${slot} of ${task.slots}`);
    this.#task = task;
    this.#kernels = kernels;
    this.#slot = slot;
    this.#f = paddedFactors(task.settings.factors);
    this.#users = new UserFactors(task);
    this.#stage = task.shards && new UserStage(task, task.shards, kernels, slot);
  }

  /** Works on a phase until no chunk is left. @returns false when the training was cancelled */
  runPhase(phase: AlsPhase): boolean {
    if (!this.#isSpectral) {
      if (phase.kind === 'solve') this.sumGramian(phase.side);
      if (phase.kind === 'fold') this.sumGramian('user');
    }
    const [rows, chunkRows] = this.#extent(phase);
    return takeChunks(this.#task, rows, chunkRows, (first, end) => {
      this.#runChunk(phase, first, end);
    });
  }

  /** Number of rows of a phase, and of a chunk. */
  #extent(phase: AlsPhase): readonly [rows: number, chunkRows: number] {
    const { itemCount, heldOut, judged } = this.#task;
    switch (phase.kind) {
      case 'gramian':
        return [gramianChunks(this.#rowCount(other(phase.side))), 1];
      case 'basis':
        return [this.#isSpectral ? 1 : 0, 1];
      case 'turn':
        return [this.#isSpectral ? Math.max(itemCount, this.#task.userCount) : 0, COPY_CHUNK_ROWS];
      case 'solve':
        return [this.#rowCount(phase.side), SOLVE_CHUNK_ROWS[phase.side]];
      case 'judge':
        return [judged, JUDGE_CHUNK_USERS];
      case 'fold':
        return [heldOut, JUDGE_CHUNK_USERS];
      default:
        return [itemCount, COPY_CHUNK_ROWS];
    }
  }

  #runChunk(phase: AlsPhase, first: number, end: number): void {
    switch (phase.kind) {
      case 'gramian':
        this.gramianChunk(phase.side, first);
        break;
      case 'basis':
        this.#findBasis(phase.side);
        break;
      case 'turn':
        this.#turnRows(first, end);
        break;
      case 'solve':
        this.solveRows(phase.side, first, end);
        break;
      case 'pack':
        this.#packItems(first, end);
        break;
      case 'judge':
        this.#judgeUsers(first, end);
        break;
      case 'fold':
        this.#foldUsers(first, end);
        break;
      case 'keep':
        this.#copyItems('itemFactors', 'bestItemFactors', first, end);
        break;
      case 'restore':
        this.#copyItems('bestItemFactors', 'itemFactors', first, end);
        break;
    }
  }

  /** The partial Gramian over one chunk of the side opposite to `side`. */
  gramianChunk(side: Side, chunk: number): void {
    const source = other(side);
    const first = chunk * GRAMIAN_CHUNK_ROWS;
    const rows = Math.min(GRAMIAN_CHUNK_ROWS, this.#rowCount(source) - first);
    const f = this.#f;
    const staged = source === 'user' ? this.#stage?.load(first, first + rows) : undefined;
    this.#kernels.gramian(
      staged ?? this.#offset(`${source}Factors`) + first * f * 4,
      rows,
      f,
      this.#offset('gramianParts') + chunk * f * f * 4,
    );
  }

  /** Sums the partial Gramians, in order, into this thread's own; before `solveRows` unless by conjugate gradient. */
  sumGramian(side: Side): void {
    const size = this.#f * this.#f;
    const sum = this.#slotOffset('gramians');
    const parts = this.#offset('gramianParts');
    this.#view('gramians').fill(0, this.#slot * size, (this.#slot + 1) * size);
    const chunks = gramianChunks(this.#rowCount(other(side)));
    for (let chunk = 0; chunk < chunks; chunk++) {
      this.#kernels.addScaled(sum, parts + chunk * size * 4, 1, size);
    }
  }

  /** Conjugate gradient works in the basis in which the Gramian is diagonal; the other solvers take any. */
  get #isSpectral(): boolean {
    return this.#task.solver === 'cg';
  }

  /** Finds the basis in which the Gramian of the side opposite to `side` is diagonal. */
  #findBasis(side: Side): void {
    this.sumGramian(side);
    const isFound = this.#kernels.symmetricEigen(
      this.#slotOffset('gramians'),
      this.#f,
      this.#offset('spectrum'),
      this.#offset('basis'),
      this.#slotOffset('scratch'),
    );
    if (isFound === 0) markFaulty(this.#task);
  }

  /** Turns rows [first, end) of all factors to the basis, which leaves every inner product as it was. */
  #turnRows(first: number, end: number): void {
    const { userCount, itemCount, heldOut } = this.#task;
    const f = this.#f;
    const turn = (name: string, rowCount: number) => {
      const rows = Math.min(end, rowCount) - first;
      if (rows <= 0) return;
      const factors = this.#offset(name) + first * f * 4;
      this.#kernels.rotateRows(factors, rows, f, this.#offset('basis'), this.#slotOffset('scratch'));
    };
    if (this.#stage === undefined) turn('userFactors', userCount);
    else if (first < userCount) {
      const last = Math.min(end, userCount);
      const rows = this.#stage.load(first, last);
      this.#kernels.rotateRows(rows, last - first, f, this.#offset('basis'), this.#slotOffset('scratch'));
      this.#stage.store(first, last);
    }
    turn('itemFactors', itemCount);
    if (heldOut > 0) turn('bestItemFactors', itemCount);
  }

  /** Solves rows [firstRow, endRow) of a side against the other side's factors. */
  solveRows(side: Side, firstRow: number, endRow: number): void {
    const stage = this.#stage;
    if (stage === undefined) this.#solve(SIDES[side], firstRow, endRow);
    else if (side === 'user') stage.solveUsers(firstRow, endRow, (rows) => this.#solveJob(rows));
    else for (let row = firstRow; row < endRow; row++) stage.solveItem(row, (rows) => this.#solveJob(rows));
  }

  #solve(arrays: SolveArrays, firstRow: number, endRow: number): void {
    this.#solveJob({
      starts: this.#offset(arrays.starts),
      columns: this.#offset(arrays.columns),
      weights: this.#task.weighted ? this.#offset(arrays.weights) : 0,
      firstRow,
      endRow,
      target: this.#offset(arrays.target),
      source: this.#offset(arrays.source),
      regularizations: this.#offset(arrays.regularizations),
    });
  }

  #solveJob(rows: RowsToSolve): void {
    const { settings, solver, gatherRows } = this.#task;
    const f = this.#f;
    const job: AlsRows = {
      ...rows,
      gramian: this.#slotOffset('gramians'),
      f,
      unobservedWeight: settings.unobservedWeight,
      steps: settings.steps,
      scratch: this.#slotOffset('scratch'),
      gatherRows,
    };
    if (solver === 'cholesky') this.#kernels.alsCholeskyRows(job);
    else this.#kernels.alsSpectralRows({ ...job, spectrum: this.#offset('spectrum') });
    const { target, firstRow, endRow } = rows;
    const bad = this.#kernels.countNonFinite(target + firstRow * f * 4, (endRow - firstRow) * f);
    if (bad > 0) markFaulty(this.#task);
  }

  #packItems(first: number, end: number): void {
    const at = first * this.#f * 4;
    const panels = this.#offset('itemPanels') + at;
    this.#kernels.packPanels(this.#offset('itemFactors') + at, end - first, this.#f, panels);
  }

  #copyItems(from: string, to: string, first: number, end: number): void {
    const f = this.#f;
    this.#view(to).set(this.#view(from).subarray(first * f, end * f), first * f);
  }

  /** Lists the best items that each user does not have, and ranks the held-out ones among them. */
  #judgeUsers(first: number, end: number): void {
    const { memory, layout, itemCount } = this.#task;
    const f = this.#f;
    this.#gatherUsers(first, end);
    const queries = this.#offset('heldFactors') + first * f * 4;
    this.#kernels.batchTopK({
      queries,
      rows: end - first,
      panels: this.#offset('itemPanels'),
      f,
      items: itemCount,
      k: JUDGED_LENGTH,
      readStarts: this.#offset('heldStarts') + first * 4,
      readItems: this.#offset('heldColumns'),
      outItems: this.#slotOffset('listedItems'),
      outScores: this.#slotOffset('listedScores'),
      outCounts: this.#slotOffset('listedCounts'),
      scratch: this.#slotOffset('scratch'),
    });
    const counts = viewOf(memory, layout, 'listedCounts', 'u32');
    const gains = this.#view('gains');
    const listed = this.#view('listedScores');
    for (let user = first; user < end; user++) {
      const at = user - first;
      const start = (this.#slot * JUDGE_CHUNK_USERS + at) * JUDGED_LENGTH;
      const count = counts[this.#slot * JUDGE_CHUNK_USERS + at]!;
      gains[user] = gainOf(
        this.#goalScores(user, queries + at * f * 4),
        listed.subarray(start, start + count),
      );
    }
  }

  /** Scores of a user's held-out items. */
  #goalScores(user: number, query: number): Float32Array {
    const { memory, layout } = this.#task;
    const starts = viewOf(memory, layout, 'heldGoalStarts', 'u32');
    const goals = viewOf(memory, layout, 'heldGoals', 'u32').subarray(starts[user], starts[user + 1]);
    const items = this.#offset('itemFactors');
    return Float32Array.from(goals, (item) => this.#kernels.dot(query, items + item * this.#f * 4, this.#f));
  }

  /** Solves users of whom a record was held out with their whole history, as they are served. */
  #foldUsers(first: number, end: number): void {
    const { memory, layout } = this.#task;
    const f = this.#f;
    this.#gatherUsers(first, end);
    this.#solve(HELD_OUT, first, end);
    const users = viewOf(memory, layout, 'heldUsers', 'u32');
    const solved = this.#view('heldFactors');
    for (let user = first; user < end; user++) {
      this.#users.row(users[user]!).set(solved.subarray(user * f, (user + 1) * f));
    }
  }

  #gatherUsers(first: number, end: number): void {
    const f = this.#f;
    const users = viewOf(this.#task.memory, this.#task.layout, 'heldUsers', 'u32');
    const gathered = this.#view('heldFactors');
    for (let user = first; user < end; user++) gathered.set(this.#users.row(users[user]!), user * f);
  }

  #rowCount(side: Side): number {
    return side === 'user' ? this.#task.userCount : this.#task.itemCount;
  }

  #view(name: string): Float32Array<SharedArrayBuffer> {
    return viewOf(this.#task.memory, this.#task.layout, name, 'f32');
  }

  #offset(name: string): number {
    return arrayOf(this.#task.layout, name).offset;
  }

  /** Where this thread's part of an array with one row a slot begins. */
  #slotOffset(name: string): number {
    return rowOffset(this.#task.layout, name, this.#slot);
  }
}
