import { type Clock, effectiveUntil } from '../../domain/clock.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import type { Found, Question } from '../../recommend/lists/maker/answer-from-models.ts';
import type { Remade } from '../../recommend/lists/remake-queue.ts';
import type { ListPlan, PlacedGeneration } from '../../threads/messages.ts';
import { SerialQueue } from '../pool/one-at-a-time-queue.ts';
import type { WorkerPool } from '../pool/pool.ts';

/** Questions that wait at most; more are refused. */
const WAITING_MAX = 64;
/** A plan is used for so long: items that came since are taken into the lists by those who are asked for them. */
const PLAN_MS = 5000;

/** What lists are made of before there is any model. */
const NO_GENERATION: PlacedGeneration = { number: 0, ranking: undefined };

/** Makes the lists of single users in the pool, with the generation that is served. */
export class ListsOnRequest {
  private readonly pool: WorkerPool;
  private readonly planOf: (generation: PlacedGeneration) => Promise<ListPlan>;
  private readonly clock: Clock;
  private readonly clockErrorMs: number;
  private generation = NO_GENERATION;
  private plan: ListPlan | undefined;
  private plannedMs = 0;
  /** The models have one scratch memory for what is made here. */
  private readonly slot = new SerialQueue();
  private readonly questions = new BoundedQueue({
    atWorkMax: 1,
    waitingMax: WAITING_MAX,
    refusedFor: 'lists',
  });

  constructor(
    pool: WorkerPool,
    planOf: (generation: PlacedGeneration) => Promise<ListPlan>,
    clock: Clock,
    clockErrorMs: number,
  ) {
    this.pool = pool;
    this.planOf = planOf;
    this.clock = clock;
    this.clockErrorMs = clockErrorMs;
  }

  /** Makes lists with this generation from now on. */
  use(generation: PlacedGeneration): void {
    this.generation = generation;
    this.plan = undefined;
  }

  /** What was planned before, or is being planned, is out of date. */
  planAnew(): void {
    this.use({ ...this.generation });
  }

  make(userRows: readonly number[]): Promise<Remade> {
    return this.slot.take(() => this.made(userRows));
  }

  /**
   * Answers one question with the models.
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted before its turn
   */
  ask(question: Question, signal?: AbortSignal): Promise<Found> {
    return this.questions.run(() => this.slot.take(() => this.answered(question)), signal);
  }

  private async answered(question: Question): Promise<Found> {
    const nowMs = this.clock();
    const plan = await this.planAt(nowMs);
    const untilMs = effectiveUntil(nowMs, this.clockErrorMs);
    const slot = this.pool.remakeSlot;
    return this.pool.run<'question'>({ kind: 'question', ...question, plan, slot, untilMs });
  }

  private async made(userRows: readonly number[]): Promise<Remade> {
    const madeMs = this.clock();
    const plan = await this.planAt(madeMs);
    const untilMs = effectiveUntil(madeMs, this.clockErrorMs);
    const slot = this.pool.remakeSlot;
    const users = Uint32Array.from(userRows);
    const job = { kind: 'lists', plan, slot, userRows: users, madeMs, untilMs } as const;
    return this.pool.run<'lists'>({ ...job, isStored: false });
  }

  private async planAt(nowMs: number): Promise<ListPlan> {
    for (;;) {
      const { plan, generation } = this;
      if (plan !== undefined && Math.abs(nowMs - this.plannedMs) < PLAN_MS) return plan;
      const made = await this.planOf(generation);
      // Another generation may be served by now.
      if (generation !== this.generation) continue;
      this.plan = made;
      this.plannedMs = nowMs;
    }
  }
}
