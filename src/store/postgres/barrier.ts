import { setImmediate as endOfTurn } from 'node:timers/promises';
import { withinTime } from '../../platform/concurrency/unless-aborted.ts';
import type { ReadBarrier } from '../data-store.ts';

/** Parts of a barrier. */
export interface BarrierParts {
  /** Largest lag of reads behind other nodes' writes, milliseconds; 0 for none. */
  readonly behindMsMax: number;
  /** Number of the last commit of all nodes. @throws Error when the database does not answer */
  readonly ask: () => Promise<number>;
  /** Has the replica look for commits that it lacks. */
  readonly follow: () => void;
  /** A clock that never goes back, milliseconds. */
  readonly elapsedMs: () => number;
  /** True for a user, told by the id or the row, whom the replica shows. */
  readonly isKnown: (user: string | number) => boolean;
  /** Has the replica show users, and all that was committed before the call, as they are then or later. @throws Error when that cannot be */
  readonly load: (users: readonly (string | number)[]) => Promise<void>;
}

/** Longest wait of a request for the database or the replica, before it is answered by what there is. */
export const WAIT_MS_MAX = 2000;
/** The same for users who are not here: without them the answer would be another, and not an older one. */
const USERS_MS_MAX = 5000;
/** After a failure nobody waits for so long. */
export const PAUSE_MS = 1000;

/**
 * Lets reads of a replica go on only when it shows everything that was committed before they were asked for (a read index:
 * Ongaro 2014, "Consensus: Bridging Theory and Practice", section 6.4). All that ask while a question is under way share
 * the next one, so the more requests there are, the less each costs.
 */
export class Barrier implements ReadBarrier {
  private readonly parts: BarrierParts;
  private readonly waiting = new Set<{ readonly position: number; readonly resolve: () => void }>();
  /** The commit up to which the replica shows all, as far as it has said. */
  position = 0;
  /** The question that is under way, and the one that is asked after it. */
  private current: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  /** Time of the latest question whose answer the replica shows. */
  private knownAt = Number.NEGATIVE_INFINITY;
  private failedAt = Number.NEGATIVE_INFINITY;
  /** Time of the latest load of users that failed, which goes by another connection. */
  private usersFailedAt = Number.NEGATIVE_INFINITY;
  private hasFollowed = false;

  constructor(parts: BarrierParts) {
    this.parts = parts;
  }

  /** True while it is not known whether the replica shows everything: the database does not answer. */
  get isUnsure(): boolean {
    return this.failedAt > this.knownAt || this.failedUsers;
  }

  /** True for a while after a question failed, until a later one is answered: who goes on meanwhile is told that it is unsure. */
  private get isPausing(): boolean {
    return this.failedAt > this.knownAt && this.parts.elapsedMs() - this.failedAt < PAUSE_MS;
  }

  /** True for a while after users could not be loaded. */
  private get failedUsers(): boolean {
    return this.parts.elapsedMs() - this.usersFailedAt < PAUSE_MS;
  }

  /** The replica shows everything up to this commit. */
  reached(position: number): void {
    if (position <= this.position) return;
    this.position = position;
    for (const each of this.waiting) if (each.position <= position) each.resolve();
  }

  /** Resolves when the replica is as fresh as asked for, or when that cannot be had; undefined when it is at once. */
  pass(users: readonly (string | number)[] = []): Promise<void> | undefined {
    if (users.length === 0 || this.isPausing) return this.passCommits();
    const unknown = this.failedUsers ? [] : users.filter((user) => !this.parts.isKnown(user));
    // Those who are loaded are as of now, and with them everything else.
    const fresh = unknown.length > 0 && this.hasFollowed ? undefined : this.passCommits();
    return fresh === undefined && unknown.length === 0 ? undefined : this.passUsers(fresh, users, unknown);
  }

  lacks(user: string): boolean {
    return this.isUnsure && !this.parts.isKnown(user);
  }

  private async passUsers(
    fresh: Promise<void> | undefined,
    users: readonly (string | number)[],
    unknown: readonly (string | number)[],
  ): Promise<void> {
    await Promise.all([fresh, this.load(unknown)]);
    if (this.isUnsure) return;
    // What others have committed may have changed those that were known, and the pause after a load that failed may be over.
    const { isKnown } = this.parts;
    await this.load(users.filter((user) => !unknown.includes(user) && !isKnown(user)));
  }

  private async load(users: readonly (string | number)[]): Promise<void> {
    if (users.length === 0) return;
    const askedAt = this.parts.elapsedMs();
    try {
      await withinTime(this.parts.load(users), USERS_MS_MAX);
      this.knownAt = Math.max(this.knownAt, askedAt);
    } catch {
      this.usersFailedAt = this.parts.elapsedMs();
    }
  }

  private passCommits(): Promise<void> | undefined {
    const { behindMsMax, elapsedMs } = this.parts;
    const nowMs = elapsedMs();
    if (this.isPausing) return undefined;
    if (behindMsMax > 0 && nowMs - this.knownAt <= behindMsMax) {
      if (nowMs - this.knownAt > behindMsMax / 2) void this.ask();
      return undefined;
    }
    return this.ask();
  }

  answers(): Promise<boolean> {
    return withinTime(this.parts.ask(), WAIT_MS_MAX).then(
      () => true,
      () => false,
    );
  }

  private ask(): Promise<void> {
    this.next ??= this.askNext();
    return this.next;
  }

  private async askNext(): Promise<void> {
    await this.current;
    // All that come in one turn of the event loop share the question: the first of them alone had it otherwise, and the others the next.
    await endOfTurn();
    this.next = undefined;
    this.current = this.askNow();
    await this.current;
  }

  private async askNow(): Promise<void> {
    const { ask, follow, elapsedMs } = this.parts;
    const askedAt = elapsedMs();
    try {
      await withinTime(
        ask().then((position) => {
          const isBehind = position > this.position;
          // From the first time on the replica follows by itself.
          if (isBehind || !this.hasFollowed) follow();
          this.hasFollowed = true;
          return isBehind ? this.until(position) : undefined;
        }),
        WAIT_MS_MAX,
      );
      this.knownAt = askedAt;
    } catch {
      this.failedAt = elapsedMs();
    }
  }

  private until(position: number): Promise<void> {
    return new Promise((resolve) => {
      const each = {
        position,
        resolve: () => {
          this.waiting.delete(each);
          resolve();
        },
      };
      this.waiting.add(each);
    });
  }
}
