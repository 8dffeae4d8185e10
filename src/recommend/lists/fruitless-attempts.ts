import type { Clock } from '../../domain/clock.ts';
import type { History } from '../history/history.ts';

const USERS_MAX = 65_536;

/** A try that came to no list. */
interface Attempt {
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly madeMs: number;
  /** Time when other feedback of the user takes effect, milliseconds since the epoch. */
  readonly nextEffectMs: number;
}

/**
 * Remembers the users for whom no list could be made, so that it is not tried again with each request: not before their
 * feedback or the generation is another, or an answer's time to live is over.
 */
export class FruitlessAttempts {
  private readonly attempts = new Map<number, Attempt>();
  private readonly clock: Clock;
  private readonly ttlMs: number;
  private readonly generation: () => number;

  /**
   * @param ttlMs how long it is remembered, milliseconds
   * @param generation number of the generation that serves
   */
  constructor(clock: Clock, ttlMs: number, generation: () => number) {
    this.clock = clock;
    this.ttlMs = ttlMs;
    this.generation = generation;
  }

  /** Nothing could be made of this history. @param generation number of the one that it was tried with */
  note(
    { userRow, nextEffectMs }: Pick<History, 'userRow' | 'nextEffectMs'>,
    generation = this.generation(),
  ): void {
    const { attempts } = this;
    attempts.delete(userRow);
    attempts.set(userRow, { generation, madeMs: this.clock(), nextEffectMs });
    if (attempts.size <= USERS_MAX) return;
    for (const first of attempts.keys()) {
      attempts.delete(first);
      return;
    }
  }

  /** The user's feedback is another. */
  forget(userRow: number): void {
    this.attempts.delete(userRow);
  }

  /** True where it need not be tried again yet. */
  has({ userRow, untilMs }: Pick<History, 'userRow' | 'untilMs'>): boolean {
    const attempt = this.attempts.get(userRow);
    if (attempt === undefined) return false;
    const ageMs = this.clock() - attempt.madeMs;
    const isAsOfNow =
      attempt.generation === this.generation() &&
      // A clock that was set back tells nothing.
      ageMs >= 0 &&
      ageMs <= this.ttlMs &&
      untilMs < attempt.nextEffectMs;
    if (!isAsOfNow) this.attempts.delete(userRow);
    return isAsOfNow;
  }
}
