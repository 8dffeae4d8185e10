import type { Logger } from '../domain/log.ts';
import type { NeighborTable } from '../model/neighbors/neighbor-table.ts';
import type { NeighborType } from '../recommend/item-neighbors.ts';
import type { Ranked } from '../recommend/ranked.ts';
import type { AskedUser } from '../recommend/serving-model.ts';
import type { CacheStore } from '../store/cache-store.ts';
import { compareItems } from './item-neighbors.ts';
import { itemWeightsBytes, learnItemWeights } from './item-weights.ts';
import type { Gathered, ListPlan, PlacedClick, PlacedGeneration, PlacedUsers } from './messages.ts';
import { GENERATION_NAME, type GenerationMark } from './model-mark.ts';
import type { WorkerPool } from './pool.ts';
import type { OnProgress } from './progress.ts';
import type { JudgedModel, Training } from './training.ts';
import { Turn } from './turn.ts';

/** The progress of a job is looked at this often. */
const TELL_MS = 200;
/** The collaborative, the click-through and the sparse linear model. */
const FINISHING_STEPS = 3;

export interface LearningOptions {
  readonly dataPath: string;
  readonly cachePath: string;
  readonly readTypes: readonly string[];
  /** Whether click-through is predicted. */
  readonly clickThrough: boolean;
  readonly neighborType: NeighborType;
  readonly userNeighborType: NeighborType;
  /** Whether a recommender looks at users like a user. */
  readonly usesUsers: boolean;
  readonly enableIndex: boolean;
  readonly indexRecall: number;
  readonly popularWindowMs: number;
  /** The most that a model may take. */
  readonly memoryBytesMax: number;
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

/** How to rank, and which models that takes. */
interface LearntRanking extends Pick<PlacedGeneration, 'ranking'> {
  readonly usesItemWeights: boolean;
}

/**
 * Learns a whole generation: the collaborative, the click-through and the sparse linear model without the latest
 * feedback, from them and that feedback how to rank; then the models with everything, and the items' neighbors.
 */
export class Learning {
  private readonly pool: WorkerPool;
  private readonly training: Training;
  private readonly planOf: (generation: PlacedGeneration) => ListPlan;
  private readonly options: LearningOptions;
  private readonly cancelled = new Int32Array(new SharedArrayBuffer(4));
  private readonly turn = new Turn();
  private last: PlacedGeneration | undefined;
  /** Whether anybody asks for users like a user. */
  private asksUsers: boolean;
  /** The configuration that it was learnt with. */
  private lastWith: string | undefined;

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
    this.asksUsers = options.usesUsers;
  }

  /** Places what the last fit saved, undefined when there is none that can be read. */
  async load(): Promise<PlacedGeneration | undefined> {
    const model = await this.training.load();
    if (model === undefined) return undefined;
    const { dataPath, cachePath } = this.options;
    const { generation, placed } = model;
    const { slots } = this.pool;
    const parts = await this.pool.run<'restore'>({ kind: 'restore', dataPath, cachePath, generation, slots });
    const gathered = this.asksUsers ? await this.training.gather(false) : undefined;
    const users = gathered && (await this.placeUsers(gathered));
    this.last = { number: generation, collaborative: placed, users, ...parts };
    const mark = (await this.options.marks.getMark(GENERATION_NAME)) as GenerationMark | undefined;
    this.lastWith = mark?.learntWith;
    return this.last;
  }

  /**
   * Learns and saves generation `number`.
   * @returns undefined when there is no positive feedback yet, or `stop` was called meanwhile
   */
  async run(number: number, onProgress: OnProgress): Promise<Learnt | undefined> {
    // A fit that was cut off has saved its first part alone.
    const isWhole = this.last?.itemNeighbors !== undefined && this.lastWith === this.learntWith;
    const start = await this.training.judge(onProgress, { evenUnchanged: !isWhole });
    if (start === undefined) return undefined;
    if (start.kind === 'unchanged')
      return { generation: this.last!, positives: start.positives, unchanged: true };
    const learnt = await this.attempt('how to rank', () => this.learnRanking(start.judged, onProgress));
    const finish = (done: number) => onProgress('finishing', done, FINISHING_STEPS);
    finish(0);
    const finished = await this.training.finish(start.judged, number);
    if (finished === undefined) return undefined;
    const { gathered } = finished;
    finish(1);
    const click =
      learnt?.ranking && (await this.attempt('click-through', () => this.learnClicks(gathered, true)));
    finish(2);
    const { cachePath } = this.options;
    const itemWeights = learnt?.usesItemWeights
      ? await this.attempt('item weights', () => this.weighItems(gathered, cachePath))
      : undefined;
    finish(FINISHING_STEPS);
    const itemNeighbors = await this.compareItems(gathered, onProgress);
    if (itemNeighbors === undefined || this.isStopped) return undefined;
    this.last = {
      number,
      collaborative: finished.placed,
      clickThrough: click?.placed,
      itemNeighbors,
      itemWeights,
      users: await this.placeUsers(gathered),
      ranking: learnt?.ranking,
    };
    await this.mark(this.last);
    return { generation: this.last, positives: gathered.positives, unchanged: false };
  }

  /** The `k` users most like one; undefined where they are not laid out for it yet, which is done from then on. */
  async similarUsers(asked: AskedUser, k: number): Promise<Ranked | undefined> {
    const users = this.last?.users;
    if (users === undefined) this.placeUsersLater();
    if (users === undefined) return undefined;
    const slot = this.pool.servingSlot;
    // One slot of scratch is there for requests, so they take turns.
    return this.turn.take(() =>
      this.pool.run<'similarUsers'>({ kind: 'similarUsers', users, asked, k, slot }),
    );
  }

  /** Ends what is being learnt soon; nothing is learnt any more. */
  stop(): void {
    Atomics.store(this.cancelled, 0, 1);
    this.training.stop();
  }

  /** What of the configuration tells the models beside the collaborative one, as text. */
  private get learntWith(): string {
    const { readTypes, clickThrough, neighborType, enableIndex, indexRecall, popularWindowMs, seed } =
      this.options;
    return JSON.stringify({
      readTypes,
      clickThrough,
      neighborType,
      enableIndex,
      indexRecall,
      popularWindowMs,
      seed,
    });
  }

  /** What can be done without must not take the rest with it. */
  private async attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!this.isStopped) this.options.log.error({ err: error }, `${what} could not be learnt`);
      return undefined;
    }
  }

  private get isStopped(): boolean {
    return Atomics.load(this.cancelled, 0) !== 0;
  }

  private async learnClicks(
    gathered: Gathered,
    retrains: boolean,
    tell: (done: number, total: number) => void = () => {},
  ): Promise<PlacedClick | undefined> {
    const { dataPath, cachePath, readTypes, seed } = this.options;
    const { cancelled } = this;
    const { slots } = this.pool;
    const progress = new Int32Array(new SharedArrayBuffer(8));
    const job = { dataPath, cachePath, gathered, readTypes, retrains, seed, slots, cancelled, progress };
    const total = () => Math.max(1, progress[1]!);
    const timer = setInterval(() => tell(progress[0]!, total()), TELL_MS);
    try {
      return await this.pool.run<'click'>({ kind: 'click', ...job });
    } finally {
      clearInterval(timer);
      // Early stopping may have ended it.
      tell(total(), total());
    }
  }

  /** Trains the other models without what is held out, and learns from that how to rank by all of them together. */
  private async learnRanking(
    judged: JudgedModel,
    onProgress: OnProgress,
  ): Promise<LearntRanking | undefined> {
    const { popularWindowMs, clickThrough, log } = this.options;
    const { gathered, placed } = judged;
    const { heldOut, heldOutSinceMs } = gathered;
    if (!clickThrough || heldOut.userRows.length === 0) return undefined;
    const click = await this.learnClicks(gathered, false, (done, total) =>
      onProgress('predicting clicks', done, total),
    );
    const itemWeights = await this.weighItems(gathered, undefined, (done, total) =>
      onProgress('weighing items', done, total),
    );
    if (this.isStopped) return undefined;
    const plan = this.planOf({
      number: 0,
      collaborative: placed,
      clickThrough: click?.placed,
      itemNeighbors: undefined,
      itemWeights,
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
    if (calibration === undefined) return undefined;
    const { ranking, usesItemWeights, quality } = calibration;
    const message =
      ranking === undefined
        ? 'predicted click-through ranks no better than one recommender alone and is not used'
        : 'learnt how to rank by predicted click-through';
    log.info({ clicks: click?.quality, ranking, usesItemWeights, ...quality }, message);
    return { ranking, usesItemWeights };
  }

  private compareItems(gathered: Gathered, onProgress: OnProgress): Promise<NeighborTable | undefined> {
    const { dataPath, cachePath, neighborType: policy, enableIndex, indexRecall, seed } = this.options;
    return compareItems(
      this.pool,
      { dataPath, gathered, policy, enableIndex, indexRecall, seed },
      cachePath,
      () => this.isStopped,
      (done, total) => onProgress('comparing items', done, total),
    );
  }

  /** @param cachePath where to save the weights; not at all when absent */
  private async weighItems(
    gathered: Gathered,
    cachePath: string | undefined,
    tell: (done: number, total: number) => void = () => {},
  ): Promise<NeighborTable | undefined> {
    const { memoryBytesMax, log } = this.options;
    const bytes = itemWeightsBytes(gathered, this.pool.trainingSlots);
    if (bytes > memoryBytesMax) {
      log.warn({ bytes, memoryBytesMax }, 'the sparse linear model takes too much memory and is left out');
      return undefined;
    }
    return learnItemWeights(this.pool, gathered, cachePath, () => this.isStopped, tell);
  }

  /** Lays users out for a service that is asked for their neighbors though no recommender looks at them. */
  private placeUsersLater(): void {
    const { last } = this;
    if (this.asksUsers || last === undefined) return;
    this.asksUsers = true;
    const work = async () => {
      const gathered = await this.training.gather(false);
      const users = gathered && (await this.placeUsers(gathered));
      if (this.last === last) this.last = { ...last, users };
    };
    void this.attempt('who is like whom', work);
  }

  private async placeUsers(gathered: Gathered): Promise<PlacedUsers | undefined> {
    const { dataPath, userNeighborType: policy } = this.options;
    if (!this.asksUsers) return undefined;
    const { slots } = this.pool;
    return this.pool.run<'placeUsers'>({ kind: 'placeUsers', dataPath, gathered, policy, slots });
  }

  private mark({
    number,
    clickThrough,
    itemNeighbors,
    itemWeights,
    ranking,
  }: PlacedGeneration): Promise<void> {
    this.lastWith = this.learntWith;
    return this.options.marks.putMark(GENERATION_NAME, {
      generation: number,
      hasClickThrough: clickThrough !== undefined,
      hasItemNeighbors: itemNeighbors !== undefined,
      hasItemWeights: itemWeights !== undefined,
      ranking,
      learntWith: this.learntWith,
    } satisfies GenerationMark);
  }
}
