import type { Clock } from '../../domain/clock.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { ShownLog, ShownToUser } from '../../store/shown-log.ts';

/** Time after which the log is walked anew, and after which it is where something is missing, milliseconds. */
const FRESH_MS = 3_600_000;
const PAUSE_MS = 60_000;

/** A lesson that is learned during one walk through the log. */
export interface Lesson {
  /** Takes in a user, with pauses: a robot sees very many. */
  note(user: ShownToUser): Iterable<unknown>;
  /** Puts what was learned in place. */
  end(): void;
}

/** Walks the log of what was shown beside requests, once for all that learn of it. */
export class ShownLessons {
  private readonly log: Pick<ShownLog, 'walk'>;
  private readonly clock: Clock;
  private readonly learners: readonly { learn(): Lesson }[];
  private readonly onTrouble: (message: string, error: unknown) => void;
  private begunMs = Number.NEGATIVE_INFINITY;
  private walking: Promise<void> | undefined;

  constructor(
    log: Pick<ShownLog, 'walk'>,
    clock: Clock,
    learners: readonly { learn(): Lesson }[],
    onTrouble: (message: string, error: unknown) => void,
  ) {
    this.log = log;
    this.clock = clock;
    this.learners = learners;
    this.onTrouble = onTrouble;
  }

  /** Begins a walk where the last was begun an hour ago or, with something missing, a minute ago; nobody waits for it. */
  renew(isMissing: boolean): void {
    const nowMs = this.clock();
    const isDue = Math.abs(nowMs - this.begunMs) >= (isMissing ? PAUSE_MS : FRESH_MS);
    if (this.walking !== undefined || !isDue) return;
    this.begunMs = nowMs;
    // Where the log cannot be read, what was learned before holds.
    const walked = this.walk().catch((error: unknown) =>
      this.onTrouble('the log of what was shown could not be read', error),
    );
    this.walking = walked.then(() => {
      this.walking = undefined;
    });
  }

  private async walk(): Promise<void> {
    const lessons = this.learners.map((learner) => learner.learn());
    for await (const users of this.log.walk()) await inTurns(noteAll(users, lessons));
    for (const lesson of lessons) lesson.end();
  }
}

function* noteAll(users: readonly ShownToUser[], lessons: readonly Lesson[]): Generator<unknown, void> {
  for (const user of users) for (const lesson of lessons) yield* lesson.note(user);
}
