import { effectiveUntil } from '../../domain/clock.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { ProcessorTimes } from '../../platform/process/processor-times.ts';
import type { PassOrder } from '../../recommend/lists/active-users.ts';
import type { ListQueue } from '../../recommend/lists/list-queue.ts';
import type { InMemoryState } from '../../recommend/state/in-memory-state.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import type { ListsJob, ListsMade, PlacedGeneration } from '../../threads/messages.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';
import { type OnProgress, WRITING_RECOMMENDATIONS } from '../tasks/fit-stages.ts';
import { listBytes, plannedMb, STAGE_MEMORY } from '../training/lists-and-ranking-memory-estimate.ts';
import { ListPlanner, type ListPlannerOptions } from './list-planner.ts';
import { LIST_BLOCK_USERS, OwnCourses, type PassCourses, type PassStart } from './own-courses.ts';
import { SharedCourses } from './shared-courses.ts';

/** Users whose lists are made one after the other. */
interface Block extends Pick<ListsJob, 'plan' | 'slot' | 'userRows'> {
  readonly starvation: Starvation;
  /** The turn at full priority, shared by all threads of the pass. */
  readonly fullPriority: FullPriorityTurn;
}

const NOBODY = new Uint32Array(0);

/** The queue as a pass tells it of its course, and asks it. */
export type PassListener = Pick<ListQueue, 'beginPass' | 'takeRenewals' | 'beginBlock' | 'endPass'>;

export interface ListPassOptions extends ListPlannerOptions {
  readonly clockErrorMs: number;
  readonly states: SavedStates;
  /** The nodes that share their lists, and so the passes over them; absent where each makes its own. */
  readonly sharing?: ConstructorParameters<typeof SharedCourses>[0] | undefined;
  readonly log: Logger;
}

/**
 * Makes every user's list in the pool, block by block. Each block is served as soon as it is done, and a pass that was
 * cut off goes on where it stopped. Nodes that share their lists share the blocks of a pass, too.
 */
export class ListPass {
  readonly planner: ListPlanner;
  private readonly pool: WorkerPool;
  private readonly options: ListPassOptions;
  private readonly courses: PassCourses;
  private readonly stopping = new AbortController();

  constructor(pool: WorkerPool, options: ListPassOptions) {
    this.pool = pool;
    this.options = options;
    this.planner = new ListPlanner(options);
    const { sharing, states, clock } = options;
    this.courses = sharing === undefined ? new OwnCourses(states, clock) : new SharedCourses(sharing);
  }

  /** Lets the blocks at work end and begins no more. */
  stop(): void {
    this.stopping.abort();
  }

  /**
   * Where lists are missing that this generation and these settings make: `'all'` when there was no such pass, undefined
   * when it came to its end, of which `lists` is told, or another node is to begin it.
   */
  async missingFrom(
    generation: number,
    lists: Pick<PassListener, 'endPass'>,
  ): Promise<PassStart | 'all' | undefined> {
    const from = await this.courses.missingFrom({ generation, settings: this.settings });
    if (from === undefined || from === 'all' || 'position' in from) return from;
    lists.endPass(from.overMs);
    return undefined;
  }

  /**
   * @param order of the users that get lists
   * @param start where a pass goes on that was cut off; `'all'` for one from the beginning
   * @param lists is told of each block, and of the end; tells whose lists are not needed, and whose are asked for
   * @returns how many lists this node has made
   * @throws what the first block threw that failed; no other is begun then
   */
  async run(
    generation: PlacedGeneration,
    live: InMemoryState,
    order: PassOrder,
    start: PassStart | 'all',
    lists: PassListener,
    onProgress: OnProgress,
  ): Promise<number> {
    const kind = { generation: generation.number, settings: this.settings };
    const course = await this.courses.open(kind, order, start);
    if (course === undefined) return 0;
    const plan = await this.planner.plan(generation, live);
    const stageMb = plannedMb(listBytes(plan, this.pool.trainingSlots));
    this.options.log.info({ stage: WRITING_RECOMMENDATIONS, plannedMb: stageMb }, STAGE_MEMORY);
    const told = () => onProgress(WRITING_RECOMMENDATIONS, course.done, course.total);
    let made = 0;
    const failing = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, failing.signal]);
    const fullPriority = new FullPriorityTurn();
    const work = async (slot: number) => {
      const block = { plan, slot, starvation: new Starvation(), fullPriority };
      for (let turn = 0; course.isMore && !signal.aborted; turn++) {
        // Whoever is asked for comes first, but not so that the others would wait for ever.
        const asked = turn % 2 === 0 ? lists.takeRenewals(LIST_BLOCK_USERS) : NOBODY;
        const userRows = asked.length > 0 ? asked : await course.take(signal);
        if (userRows === undefined) break;
        const written = await this.makeBlock({ ...block, userRows }, lists);
        made += written;
        if (userRows === asked) continue;
        await course.end(userRows);
        told();
      }
    };
    const fail = (error: unknown) => {
      failing.abort();
      throw error;
    };
    told();
    const leave = lists.beginPass(kind.generation, course.beganMs);
    const slots = Array.from({ length: this.pool.trainingSlots }, (_, slot) => work(slot).catch(fail));
    const outcomes = await Promise.allSettled(slots);
    leave();
    if (course.isOver) lists.endPass(course.beganMs);
    await course.leave();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return made;
  }

  /** Makes the lists of a block that are needed, in pieces where its thread hardly gets on. @returns how many lists */
  private async makeBlock(
    { starvation, fullPriority, ...block }: Block,
    lists: PassListener,
  ): Promise<number> {
    const { clock, clockErrorMs } = this.options;
    const madeMs = clock();
    const untilMs = effectiveUntil(madeMs, clockErrorMs);
    const needed = lists.beginBlock(block.userRows, madeMs);
    let areStored = false;
    try {
      let written = 0;
      for (let { userRows } = needed; userRows.length > 0; ) {
        const job = { kind: 'lists', ...block, userRows, madeMs, untilMs, isStored: true } as const;
        const piece = await fullPriority.run(starvation.isStarved, (isFull) => this.makePiece(job, isFull));
        written += piece.stored;
        starvation.note(piece.processor);
        userRows = userRows.subarray(piece.users);
      }
      areStored = true;
      return written;
    } finally {
      needed.end(areStored);
    }
  }

  /** A piece that fails, as when its thread dies, is made once more. */
  private makePiece(job: ListsJob, atFullPriority: boolean): Promise<ListsMade> {
    const make = () => this.pool.run<'lists'>(job, atFullPriority);
    return make().catch((error: unknown) => {
      if (this.stopping.signal.aborted) throw error;
      const { 0: fromUserRow, length: users } = job.userRows;
      const told = { err: error, fromUserRow, users };
      this.options.log.warn(told, 'recommendations could not be written; trying again');
      return make();
    });
  }

  private get settings(): string {
    return JSON.stringify(this.options.settings);
  }
}

/** With less of a processor than this, work does not get on as those do that it gives way to. */
const FAIR_SHARE = 0.2;
/** Time after which a want counts half, milliseconds. */
const HALF_LIFE_MS = 5000;

/**
 * Tells whether work that gives way to requests is starved of a processor and should give way no longer, because requests
 * never end: as long as it has had less than a fifth of what it wanted lately. So it has a fifth of it in the end, and
 * requests have all the rest.
 */
class Starvation {
  private ranMs = 0;
  private wantedMs = 0;

  /** True when the next piece is to be done at the priority of requests. */
  get isStarved(): boolean {
    return this.ranMs < this.wantedMs * FAIR_SHARE;
  }

  /** @param times what the thread of the last piece wanted of the processors, and had */
  note({ ranMs, wantedMs }: ProcessorTimes): void {
    const fade = 2 ** (-wantedMs / HALF_LIFE_MS);
    this.ranMs = this.ranMs * fade + ranMs;
    this.wantedMs = this.wantedMs * fade + wantedMs;
  }
}

/**
 * Has one starved thread of a pass at a time give way no longer. With two of them on two cores, the thread that answers and
 * its callers would have half of their processor time, and less for as long as both threads need to catch up.
 */
class FullPriorityTurn {
  private isTaken = false;

  /** Does a piece of work: at the priority of requests where it is starved and no other piece is done so. */
  async run<T>(isStarved: boolean, work: (atFullPriority: boolean) => Promise<T>): Promise<T> {
    if (!isStarved || this.isTaken) return work(false);
    this.isTaken = true;
    try {
      return await work(true);
    } finally {
      this.isTaken = false;
    }
  }
}
