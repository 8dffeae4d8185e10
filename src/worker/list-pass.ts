import type { Clock } from '../domain/clock.ts';
import { topLatest, topPopular } from '../recommend/global-lists.ts';
import type { NeighborType } from '../recommend/item-neighbors.ts';
import type { ListSettings } from '../recommend/list-maker.ts';
import type { LiveState } from '../recommend/live-state.ts';
import { shareTrends } from '../recommend/trends.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { ListPlan, PlacedGeneration } from './messages.ts';
import type { WorkerPool } from './pool.ts';
import type { OnProgress } from './progress.ts';

/** Users whose lists one job makes: some ten milliseconds of work, and one short transaction. */
const LIST_BLOCK_USERS = 256;
/** Name of the mark that says how far a pass has come. */
const MARK = 'list-pass';

/** How far the last pass has come. */
interface PassMark {
  readonly generation: number;
  /** What the lists are made with, as text. */
  readonly settings: string;
  /** The lists of all users before this row are made. */
  readonly nextUserRow: number;
  readonly isOver: boolean;
}

export interface ListPassOptions {
  readonly dataPath: string;
  readonly cachePath: string;
  readonly positiveTypes: readonly string[];
  readonly positiveTtlMs: number;
  readonly userNeighborType: NeighborType;
  readonly settings: ListSettings;
  readonly clockErrorMs: number;
  readonly marks: Pick<CacheStore, 'getMark' | 'putMark'>;
  readonly clock: Clock;
}

/**
 * Makes every user's list in the pool, block by block. Each block is served as soon as it is done, and a pass that was
 * cut off goes on where it stopped.
 */
export class ListPass {
  private readonly pool: WorkerPool;
  private readonly options: ListPassOptions;
  private stopped = false;
  private plans = 0;

  constructor(pool: WorkerPool, options: ListPassOptions) {
    this.pool = pool;
    this.options = options;
  }

  /** Lets the blocks at work end and begins no more. */
  stop(): void {
    this.stopped = true;
  }

  /**
   * The row from which on lists are missing that this generation and these settings make: 0 when there was no such
   * pass, undefined when it came to its end.
   */
  async missingFrom(generation: number): Promise<number | undefined> {
    const mark = (await this.options.marks.getMark(MARK)) as PassMark | undefined;
    if (mark?.generation !== generation || mark.settings !== this.settings) return 0;
    return mark.isOver ? undefined : mark.nextUserRow;
  }

  /**
   * @param userCount users with rows below it get lists
   * @param fromUserRow where to begin
   * @returns how many lists were made
   */
  async run(
    generation: PlacedGeneration,
    live: LiveState,
    userCount: number,
    fromUserRow: number,
    onProgress: OnProgress,
  ): Promise<number> {
    const { clock, clockErrorMs } = this.options;
    const plan = this.plan(generation, live);
    const open = new Set<number>();
    let next = fromUserRow;
    let done = fromUserRow;
    let lists = 0;
    const markProgress = () =>
      this.mark(generation.number, open.size === 0 ? next : Math.min(...open), userCount);
    await markProgress();
    onProgress('making lists', done, userCount);
    const work = async (slot: number) => {
      while (next < userCount && !this.stopped) {
        const from = next;
        const to = (next = Math.min(userCount, from + LIST_BLOCK_USERS));
        open.add(from);
        const made = await this.pool.run<'lists'>({
          kind: 'lists',
          plan,
          slot,
          fromUserRow: from,
          toUserRow: to,
          madeMs: clock(),
          untilMs: clock() + clockErrorMs,
        });
        lists += made;
        open.delete(from);
        done += to - from;
        await markProgress();
        onProgress('making lists', done, userCount);
      }
    };
    await Promise.all(Array.from({ length: this.pool.trainingSlots }, (_, slot) => work(slot)));
    return lists;
  }

  private get settings(): string {
    return JSON.stringify(this.options.settings);
  }

  private mark(generation: number, nextUserRow: number, userCount: number): Promise<void> {
    const { settings } = this;
    const isOver = nextUserRow >= userCount;
    return this.options.marks.putMark(MARK, { generation, settings, nextUserRow, isOver } satisfies PassMark);
  }

  /** What lists are made of with this generation, as of now. */
  plan(generation: PlacedGeneration, live: LiveState): ListPlan {
    const { dataPath, cachePath, positiveTypes, positiveTtlMs, userNeighborType, settings } = this.options;
    const { catalogue, trends, coldItems } = live;
    trends.drain();
    return {
      id: ++this.plans,
      dataPath,
      cachePath,
      positiveTypes,
      positiveTtlMs,
      userNeighborType,
      settings,
      generation,
      listable: catalogue.listableBits(),
      trends: shareTrends(trends, catalogue.rowCount),
      latestRows: topLatest(live, settings.cacheSize),
      popularRows: topPopular(live, settings.cacheSize),
      coldItems: coldItems.items,
    };
  }
}
