import type { Logger } from '../../platform/log/log.ts';
import { weightsOf } from '../../recommend/models/feature-names.ts';
import type { PopularitySpans } from '../../recommend/popularity/popularity-counts.ts';
import { cancelledBy } from '../../threads/cancellation.ts';
import type { ListPlan, PlacedGeneration } from '../../threads/messages.ts';
import type { SerialQueue } from '../pool/serial-queue.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';

/** Likes after which the ranking is renewed, and the share of all since the fit; the larger counts. */
const LIKES_MIN = 100;
const LIKES_SHARE = 0.1;
/** After a renewal comes a rest, so many times as long. */
const REST_SHARE = 20;

/** Collaborators of the renewal. */
export interface RankingRenewalParts {
  readonly pool: Pick<WorkerPool, 'run'>;
  /** Shared with whatever else trains: the memory of models has room for one thread in each slot. */
  readonly queue: SerialQueue;
  readonly planOf: (generation: PlacedGeneration) => Promise<ListPlan>;
  readonly spans: PopularitySpans;
  /** The generation that serves, with the ranking that its fit has learned. */
  readonly fitted: () => PlacedGeneration | undefined;
  readonly onRanking: (generation: PlacedGeneration) => void;
  /** Time that has passed, milliseconds; it never goes back. */
  readonly elapsedMs: () => number;
  readonly log: Logger;
}

/**
 * Learns between fits how to rank: what is liked after a fit tells which features are right now. Each time it begins with
 * what the fit has learned, so nothing adds up.
 */
export class RankingRenewal {
  private readonly parts: RankingRenewalParts;
  private readonly ending = new AbortController();
  private generation = 0;
  /** Likes since the fit, and those of them that are learned from. */
  private likes = 0;
  private learnedLikes = 0;
  private restUntil = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | undefined;

  constructor(parts: RankingRenewalParts) {
    this.parts = parts;
  }

  /** Positive feedback has come. */
  note(likes: number): void {
    const { number, ranking } = this.parts.fitted() ?? { number: 0, ranking: undefined };
    if (number !== this.generation) {
      this.generation = number;
      this.likes = 0;
      this.learnedLikes = 0;
    }
    this.likes += likes;
    const due = Math.max(LIKES_MIN, LIKES_SHARE * this.likes);
    if (ranking === undefined || this.likes - this.learnedLikes < due) return;
    if (this.running !== undefined || this.parts.elapsedMs() < this.restUntil) return;
    this.running = this.parts.queue
      .take(() => this.renew())
      .catch((error: unknown) => {
        if (!this.ending.signal.aborted)
          this.parts.log.warn({ err: error }, 'the ranking could not be renewed');
      })
      .finally(() => {
        this.running = undefined;
      });
  }

  /** Resolves once no renewal is under way. */
  async settled(): Promise<void> {
    await this.running;
  }

  /** Ends a renewal that is under way; no other begins. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  private async renew(): Promise<void> {
    const { fitted, planOf, pool, spans, elapsedMs, onRanking, log } = this.parts;
    const generation = fitted();
    if (generation?.ranking === undefined || this.ending.signal.aborted) return;
    const startedMs = elapsedMs();
    this.learnedLikes = this.likes;
    const plan = await planOf(generation);
    const job = { kind: 'renewRanking', plan, ranking: generation.ranking, spans, slot: 0 } as const;
    const ranking = await cancelledBy(this.ending.signal, (cancelled) => pool.run({ ...job, cancelled }));
    const nowMs = elapsedMs();
    this.restUntil = nowMs + REST_SHARE * (nowMs - startedMs);
    if (ranking === undefined || fitted() !== generation) return;
    onRanking({ ...generation, ranking });
    log.debug({ likes: this.likes, weights: ranking.byKind.map(weightsOf) }, 'renewed the ranking');
  }
}
