import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { topLatest, topPopular, topTrending } from '../recommend/global-lists.ts';
import type { NeighborType } from '../recommend/item-neighbors.ts';
import type { ListSettings } from '../recommend/list-settings.ts';
import type { UserLists } from '../recommend/lists/user-lists.ts';
import type { LiveState } from '../recommend/live-state.ts';
import { shareTrends } from '../recommend/trends.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { ListPlan, PlacedGeneration } from './messages.ts';
import type { WorkerPool } from './pool.ts';
import { type OnProgress, WRITING_RECOMMENDATIONS } from './progress.ts';

/** Users whose lists one job makes: some hundred milliseconds of work, and one short transaction. */
const LIST_BLOCK_USERS = 256;
/** Name of the mark that says how far a pass has come. */
const MARK = 'list-pass';
/** Time between two writes of that mark, milliseconds: what a crash costs of a pass. */
const MARK_MS = 1000;

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
  readonly log: Logger;
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
   * @param users those with rows in [from, to) get lists
   * @param lists is told of each block
   * @returns how many lists were made
   * @throws what the first block threw that failed; no other is begun then
   */
  async run(
    generation: PlacedGeneration,
    live: LiveState,
    { from, to }: { readonly from: number; readonly to: number },
    lists: Pick<UserLists, 'beginBlock'>,
    onProgress: OnProgress,
  ): Promise<number> {
    const plan = this.plan(generation, live);
    const open = new Set<number>();
    let next = from;
    let done = from;
    let made = 0;
    let failed = false;
    const marker = this.marker(() => ({
      generation: generation.number,
      nextUserRow: open.size === 0 ? next : Math.min(...open),
      isOver: open.size === 0 && next >= to,
    }));
    onProgress(WRITING_RECOMMENDATIONS, done, to);
    const work = async (slot: number) => {
      while (next < to && !this.stopped && !failed) {
        const first = next;
        const end = (next = Math.min(to, first + LIST_BLOCK_USERS));
        open.add(first);
        const written = await this.makeBlock(plan, slot, first, end, lists);
        made += written;
        open.delete(first);
        done += end - first;
        marker.later();
        onProgress(WRITING_RECOMMENDATIONS, done, to);
      }
    };
    const fail = (error: unknown) => {
      failed = true;
      throw error;
    };
    const slots = Array.from({ length: this.pool.trainingSlots }, (_, slot) => work(slot).catch(fail));
    const outcomes = await Promise.allSettled(slots);
    await marker.now();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return made;
  }

  /** A block that fails, as when its thread dies, is made once more. */
  private async makeBlock(
    plan: ListPlan,
    slot: number,
    fromUserRow: number,
    toUserRow: number,
    lists: Pick<UserLists, 'beginBlock'>,
  ): Promise<number> {
    const { clock, clockErrorMs, log } = this.options;
    const madeMs = clock();
    const untilMs = madeMs + clockErrorMs;
    const end = lists.beginBlock(fromUserRow, toUserRow);
    let areStored = false;
    try {
      const job = { plan, slot, fromUserRow, toUserRow, madeMs, untilMs };
      const make = () => this.pool.run<'lists'>({ kind: 'lists', ...job });
      const made = await make().catch((error: unknown) => {
        if (this.stopped) throw error;
        log.warn(
          { err: error, fromUserRow, toUserRow },
          'recommendations could not be written; trying again',
        );
        return make();
      });
      areStored = true;
      return made;
    } finally {
      end(areStored);
    }
  }

  /** Writes how far a pass is, not more often than worth it, and not so that a block would wait for it. */
  private marker(state: () => Omit<PassMark, 'settings'>) {
    const { marks, clock } = this.options;
    const { settings } = this;
    let last = Number.NEGATIVE_INFINITY;
    let writing: Promise<void> = Promise.resolve();
    const write = () => marks.putMark(MARK, { ...state(), settings } satisfies PassMark);
    return {
      later() {
        if (Math.abs(clock() - last) < MARK_MS) return;
        last = clock();
        // A pass that cannot be marked is begun anew after a stop.
        writing = writing.then(write).catch(() => {});
      },
      now: () => writing.then(write),
    };
  }

  private get settings(): string {
    return JSON.stringify(this.options.settings);
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
      latestRows: shareRows(topLatest(live, settings.cacheSize)),
      popularRows: shareRows(topPopular(live, settings.cacheSize)),
      trendingRows: trends.scales.map((counts) =>
        shareRows(topTrending(counts, settings.cacheSize, (row) => catalogue.isListable(row))),
      ),
      timesMs: catalogue.sharedTimes(),
      coldItems: coldItems.items,
    };
  }
}

function shareRows(rows: readonly number[]): Uint32Array<SharedArrayBuffer> {
  const shared = new Uint32Array(new SharedArrayBuffer(rows.length * 4));
  shared.set(rows);
  return shared;
}
