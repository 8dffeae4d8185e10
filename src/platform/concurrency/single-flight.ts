import { turns } from './event-loop-turns.ts';

/** One piece of work and those who wait for it. */
interface Joint<T> {
  readonly answer: Promise<T>;
  readonly abandoned: AbortController;
  waiting: number;
}

/** Lets equal questions that are asked at the same time share one piece of work, which ends when nobody waits for it. */
export class SingleFlight<T> {
  private readonly underWay = new Map<string, Joint<T>>();

  /**
   * @param key equal for equal questions
   * @param signal aborted when whoever asks no longer waits
   * @param work is told by a signal that nobody waits any more
   * @throws the signal's reason where it is aborted already: no work is begun for somebody who has left
   */
  async run(
    key: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const joint = this.underWay.get(key) ?? this.begin(key, work);
    joint.waiting++;
    const leave = () => this.leave(key, joint);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      const answer = await joint.answer;
      // What each makes of it may take a while, and all of them would do so in one turn.
      if (joint.waiting > 1) await turns.take();
      return answer;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  private begin(key: string, work: (signal: AbortSignal) => Promise<T>): Joint<T> {
    const abandoned = new AbortController();
    const answer = work(abandoned.signal).finally(() => {
      if (this.underWay.get(key) === joint) this.underWay.delete(key);
    });
    const joint: Joint<T> = { answer, abandoned, waiting: 0 };
    this.underWay.set(key, joint);
    return joint;
  }

  private leave(key: string, joint: Joint<T>): void {
    if (--joint.waiting > 0 || this.underWay.get(key) !== joint) return;
    this.underWay.delete(key);
    joint.abandoned.abort();
  }
}
