import type { Logger } from '../domain/log.ts';
import type { NeighborTable } from '../model/neighbor-table.ts';
import { cancelNeighborTask, neighborTaskProgress } from '../model/neighbor-table-task.ts';
import type { NeighborType } from '../recommend/item-neighbors.ts';
import type { Ranked } from '../recommend/ranked.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type {
  Calibration,
  Gathered,
  ListPlan,
  PlacedClick,
  PlacedGeneration,
  PlacedUsers,
} from './messages.ts';
import { GENERATION_NAME, type GenerationMark } from './model-mark.ts';
import type { WorkerPool } from './pool.ts';
import type { OnProgress } from './progress.ts';
import type { JudgedModel, Training } from './training.ts';
import { Turn } from './turn.ts';

/** Neighbors kept of an item at most, and of all items together: 8 bytes each. */
const NEIGHBORS_MAX = 100;
const NEIGHBORS_MIN = 10;
const TABLE_ENTRIES_MAX = 32_000_000;
/** Progress of the comparison of items is told this often. */
const TELL_MS = 200;

export interface LearningOptions {
  readonly dataPath: string;
  readonly cachePath: string;
  readonly readTypes: readonly string[];
  /** Whether click-through is predicted. */
  readonly clickThrough: boolean;
  readonly neighborType: NeighborType;
  /** How users are compared; undefined where the user-based recommender is not in use. */
  readonly userNeighborType: NeighborType | undefined;
  readonly enableIndex: boolean;
  readonly indexRecall: number;
  readonly popularWindowMs: number;
  readonly seed: number;
  readonly marks: Pick<CacheStore, 'getMark' | 'putMark'>;
  readonly log: Logger;
}

/** What a fit has come to. */
export interface Learnt {
  readonly generation: PlacedGeneration;
  /** Distinct pairs with positive feedback. */
  readonly positives: number;
  /** True when there was nothing new to learn, and the generation is the one that serves. */
  readonly unchanged: boolean;
}

/**
 * Learns a whole generation: the collaborative model without the latest feedback, the click-through model, from the two
 * and that feedback how to rank; then the collaborative model with everything, and the items' neighbors.
 */
export class Learning {
  private readonly pool: WorkerPool;
  private readonly training: Training;
  private readonly planOf: (generation: PlacedGeneration) => ListPlan;
  private readonly options: LearningOptions;
  private readonly cancelled = new Int32Array(new SharedArrayBuffer(4));
  private readonly turn = new Turn();
  private last: PlacedGeneration | undefined;

  /** @param planOf what lists would be made of with a generation, as of now */
  constructor(
    pool: WorkerPool,
    training: Training,
    planOf: (generation: PlacedGeneration) => ListPlan,
    options: LearningOptions,
  ) {
    this.pool = pool;
    this.training = training;
    this.planOf = planOf;
    this.options = options;
  }

  /** The slot of all that is placed which serving uses. */
  get servingSlot(): number {
    return this.training.servingSlot;
  }

  /** Places what the last fit saved, undefined when there is none that can be read. */
  async load(): Promise<PlacedGeneration | undefined> {
    const model = await this.training.load();
    if (model === undefined) return undefined;
    const { dataPath, cachePath } = this.options;
    const { generation, placed } = model;
    const slots = this.servingSlot + 1;
    const parts = await this.pool.run<'restore'>({ kind: 'restore', dataPath, cachePath, generation, slots });
    this.last = { number: generation, collaborative: placed, users: undefined, ...parts };
    return this.last;
  }

  /**
   * Learns and saves generation `number`.
   * @returns undefined when there is no positive feedback yet, or `stop` was called meanwhile
   */
  async run(number: number, onProgress: OnProgress): Promise<Learnt | undefined> {
    const start = await this.training.judge(onProgress);
    if (start === undefined) return undefined;
    if (start.kind === 'unchanged' && this.last?.number === start.model.generation)
      return { generation: this.last, positives: start.positives, unchanged: true };
    if (start.kind === 'unchanged') return undefined;
    const { judged } = start;
    const click = await this.learnClicks(judged, onProgress);
    const calibration = await this.calibrate(judged, click);
    const finished = await this.training.finish(judged, number, onProgress);
    if (finished === undefined) return undefined;
    const itemNeighbors = await this.compareItems(finished.gathered, onProgress);
    if (itemNeighbors === undefined) return undefined;
    this.last = {
      number,
      collaborative: finished.placed,
      clickThrough: click?.placed,
      itemNeighbors,
      users: await this.placeUsers(finished.gathered),
      ranking: calibration?.ranking,
    };
    await this.mark(this.last);
    return { generation: this.last, positives: finished.gathered.positives, unchanged: false };
  }

  /** The users most like one as of the last fit; undefined where that did not lay them out. */
  async similarUsers(userRow: number, byLabels: boolean): Promise<Ranked | undefined> {
    const users = this.last?.users;
    if (users === undefined) return undefined;
    // One slot of scratch is there for requests, so they take turns.
    return this.turn.take(() =>
      this.pool.run<'similarUsers'>({
        kind: 'similarUsers',
        users,
        userRow,
        byLabels,
        slot: this.servingSlot,
      }),
    );
  }

  /** Ends what is being learnt soon; nothing is learnt any more. */
  stop(): void {
    Atomics.store(this.cancelled, 0, 1);
    this.training.stop();
  }

  private get isStopped(): boolean {
    return Atomics.load(this.cancelled, 0) !== 0;
  }

  private async learnClicks(
    { gathered }: JudgedModel,
    onProgress: OnProgress,
  ): Promise<PlacedClick | undefined> {
    const { dataPath, cachePath, readTypes, seed, clickThrough } = this.options;
    if (!clickThrough || gathered.heldOut.userRows.length === 0) return undefined;
    onProgress('predicting clicks', 0, 1);
    const click = await this.pool.run<'click'>({
      kind: 'click',
      dataPath,
      cachePath,
      gathered,
      readTypes,
      seed,
      slots: this.servingSlot + 1,
      cancelled: this.cancelled,
    });
    onProgress('predicting clicks', 1, 1);
    return click;
  }

  private async calibrate(
    { gathered, placed }: JudgedModel,
    click: PlacedClick | undefined,
  ): Promise<Calibration | undefined> {
    const { clickThrough, popularWindowMs, log } = this.options;
    const { heldOut, heldOutSinceMs } = gathered;
    if (!clickThrough || heldOut.userRows.length === 0 || this.isStopped) return undefined;
    const plan = this.planOf({
      number: 0,
      collaborative: placed,
      clickThrough: click?.placed,
      itemNeighbors: undefined,
      users: undefined,
      ranking: undefined,
    });
    const calibration = await this.pool.run<'calibrate'>({
      kind: 'calibrate',
      plan,
      heldOut,
      heldOutSinceMs,
      popularWindowMs,
      slot: 0,
    });
    if (calibration !== undefined) {
      const message =
        calibration.ranking === undefined
          ? 'predicted click-through ranks no better than one recommender alone and is not used'
          : 'learnt how to rank by predicted click-through';
      log.info({ clicks: click?.quality, ranking: calibration.ranking, ...calibration.quality }, message);
    }
    return calibration;
  }

  private async compareItems(gathered: Gathered, onProgress: OnProgress): Promise<NeighborTable | undefined> {
    const { dataPath, cachePath, neighborType: policy, enableIndex, indexRecall, seed } = this.options;
    const { itemCount } = gathered.interactions;
    const k = Math.max(NEIGHBORS_MIN, Math.min(NEIGHBORS_MAX, Math.floor(TABLE_ENTRIES_MAX / itemCount)));
    const slots = this.pool.trainingSlots;
    onProgress('comparing items', 0, itemCount);
    const tasks = await this.pool.run<'placeNeighbors'>({
      kind: 'placeNeighbors',
      dataPath,
      gathered,
      policy,
      k,
      enableIndex,
      indexRecall,
      seed,
      slots,
    });
    const timer = setInterval(() => {
      if (this.isStopped) tasks.forEach(cancelNeighborTask);
      const done = Math.min(...tasks.map((task) => neighborTaskProgress(task).done));
      onProgress('comparing items', done, itemCount);
    }, TELL_MS);
    try {
      const parts = Array.from({ length: slots }, (_, slot) =>
        this.pool.run<'compare'>({ kind: 'compare', tasks, slot }),
      );
      if (!(await Promise.all(parts)).every(Boolean) || this.isStopped) return undefined;
    } finally {
      clearInterval(timer);
    }
    const { fingerprint } = gathered;
    const table = await this.pool.run<'finishNeighbors'>({
      kind: 'finishNeighbors',
      tasks,
      fingerprint,
      cachePath,
    });
    onProgress('comparing items', itemCount, itemCount);
    return table;
  }

  private async placeUsers(gathered: Gathered): Promise<PlacedUsers | undefined> {
    const { dataPath, userNeighborType: policy } = this.options;
    if (policy === undefined) return undefined;
    const slots = this.servingSlot + 1;
    return this.pool.run<'placeUsers'>({ kind: 'placeUsers', dataPath, gathered, policy, slots });
  }

  private mark({ number, clickThrough, itemNeighbors, ranking }: PlacedGeneration): Promise<void> {
    return this.options.marks.putMark(GENERATION_NAME, {
      generation: number,
      hasClickThrough: clickThrough !== undefined,
      hasItemNeighbors: itemNeighbors !== undefined,
      ranking,
    } satisfies GenerationMark);
  }
}
