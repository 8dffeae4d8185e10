import { type Clock, effectiveUntil } from '../../domain/clock.ts';
import type { ListWorker, Remade } from '../../recommend/lists/list-queue.ts';
import type { Found, Question } from '../../recommend/lists/maker/answer-from-models.ts';
import { UNTAUGHT } from '../../recommend/models/feature-names.ts';
import type { ListPlan, PlacedGeneration } from '../../threads/messages.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';

/** A plan is used for so long, milliseconds: items that came since are taken into the lists by those who are asked for them. */
const PLAN_MS = 5000;
/** For so long it is used while the next one is made: planning gives way to requests. */
const OLD_PLAN_MS = 60_000;

/** Generation number 0: lists are made without any model. */
const NO_GENERATION: PlacedGeneration = { number: 0, ranking: UNTAUGHT, parts: {} };

interface Planned {
  readonly plan: ListPlan;
  readonly madeMs: number;
}

/**
 * Makes the lists of single users in the pool, with the generation that is served. The models have one scratch memory for
 * what is made here: `ListQueue` asks for one piece of work at a time.
 */
export class ListsOnRequest implements ListWorker {
  private readonly pool: WorkerPool;
  private readonly planOf: (generation: PlacedGeneration) => Promise<ListPlan>;
  private readonly clock: Clock;
  private readonly clockErrorMs: number;
  private generation = NO_GENERATION;
  private planned: Planned | undefined;
  private planning: Promise<Planned> | undefined;

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

  use(generation: PlacedGeneration): void {
    this.generation = generation;
    this.planned = undefined;
    this.planning = undefined;
  }

  /** Drops what was planned before, or is being planned. */
  planAnew(): void {
    this.use({ ...this.generation });
  }

  async make(userRows: readonly number[], isAwaited: boolean): Promise<Remade> {
    const madeMs = this.clock();
    const plan = await this.planAt(madeMs);
    const untilMs = effectiveUntil(madeMs, this.clockErrorMs);
    const slot = this.pool.remakeSlot;
    const users = Uint32Array.from(userRows);
    const job = { kind: 'lists', plan, slot, userRows: users, madeMs, untilMs } as const;
    return this.pool.run<'lists'>({ ...job, isStored: false }, isAwaited);
  }

  async answer(question: Question): Promise<Found> {
    const nowMs = this.clock();
    const plan = await this.planAt(nowMs);
    const untilMs = effectiveUntil(nowMs, this.clockErrorMs);
    const slot = this.pool.remakeSlot;
    return this.pool.run<'question'>({ kind: 'question', ...question, plan, slot, untilMs }, true);
  }

  private async planAt(nowMs: number): Promise<ListPlan> {
    const { planned } = this;
    const ageMs = planned === undefined ? Number.POSITIVE_INFINITY : Math.abs(nowMs - planned.madeMs);
    if (planned !== undefined && ageMs < PLAN_MS) return planned.plan;
    const next = this.renewPlan(nowMs);
    if (planned === undefined || ageMs >= OLD_PLAN_MS) return (await next).plan;
    next.catch(() => {});
    return planned.plan;
  }

  private renewPlan(nowMs: number): Promise<Planned> {
    if (this.planning !== undefined) return this.planning;
    const planning = this.madePlan(nowMs).finally(() => {
      if (this.planning === planning) this.planning = undefined;
    });
    this.planning = planning;
    return planning;
  }

  private async madePlan(madeMs: number): Promise<Planned> {
    const { generation } = this;
    const made = { plan: await this.planOf(generation), madeMs };
    // Another generation may be served by now.
    if (generation !== this.generation) return this.planned ?? this.renewPlan(madeMs);
    this.planned = made;
    return made;
  }
}
