import { type Overload, overloaded } from './overload-error.ts';

/** Pieces that wait at most, of most kinds of work. */
export const WAITING_MAX = 64;

export interface BoundedQueueOptions {
  /** Pieces of work at the same time at most. */
  readonly atWorkMax: number;
  /** Pieces that wait at most, `WAITING_MAX` when absent; more are refused. */
  readonly waitingMax?: number;
  /** Name of what there is too much of. */
  readonly refusedFor: Overload;
}

/** The line that a piece of work waits in: kinds take turns, and within a kind users do. */
export interface Line {
  readonly kind: string;
  readonly user: number;
}

const ONE_LINE: Line = { kind: '', user: 0 };

interface Entry extends Line {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Does so many pieces of work at the same time; as many as may wait for their turn. Kinds of work take turns, and within
 * a kind the users who ask; one line is first come, first served. A full queue gives up the last piece of its longest
 * line for a shorter one (longest queue drop: Suter and others 1998), so that no one who asks much keeps others out.
 */
export class BoundedQueue {
  private readonly options: BoundedQueueOptions;
  /** The next one first: by kind, then by user. None is empty. */
  private readonly lines = new Map<string, Map<number, Set<Entry>>>();
  private count = 0;
  private atWork = 0;

  constructor(options: BoundedQueueOptions) {
    this.options = options;
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.count;
  }

  /**
   * Does the work when it is its turn.
   * @param signal aborted when nobody waits for it any more: then it leaves the queue
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted; what the work throws
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal, line: Line = ONE_LINE): Promise<T> {
    signal?.throwIfAborted();
    if (this.atWork < this.options.atWorkMax) this.atWork++;
    else await this.wait(signal, line);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Hands the place on to the next in turn. */
  private leave(): void {
    const next = this.takeNext();
    if (next === undefined) this.atWork--;
    else next.begin();
  }

  private wait(signal: AbortSignal | undefined, { kind, user }: Line): Promise<void> {
    const { waitingMax = WAITING_MAX, refusedFor } = this.options;
    if (this.count >= waitingMax) this.makeRoom(kind, user);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.remove(entry);
        reject(signal!.reason);
      };
      const end = (settle: () => void) => () => {
        signal?.removeEventListener('abort', giveUp);
        settle();
      };
      const entry = { kind, user, begin: end(resolve), refuse: end(() => reject(overloaded(refusedFor))) };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.add(entry);
    });
  }

  /** Refuses the last piece of the longest line for a newcomer. @throws FurzeError OVERLOADED where its own line is the longest */
  private makeRoom(kind: string, user: number): void {
    const lengths = new Map<string, number>();
    for (const [name, users] of this.lines) {
      let length = 0;
      for (const line of users.values()) length += line.size;
      lengths.set(name, length);
    }
    const ofKinds = longest(lengths, kind);
    const users = this.lines.get(ofKinds ?? kind);
    const sizes = new Map(Array.from(users ?? [], ([name, line]) => [name, line.size]));
    const ofUsers = ofKinds === undefined ? longest(sizes, user) : longest(sizes, undefined);
    const last = ofUsers === undefined ? undefined : [...(users?.get(ofUsers) ?? [])].at(-1);
    if (last === undefined) throw overloaded(this.options.refusedFor);
    this.remove(last);
    last.refuse();
  }

  private add(entry: Entry): void {
    const users = this.lines.get(entry.kind) ?? new Map<number, Set<Entry>>();
    const line = users.get(entry.user) ?? new Set();
    this.lines.set(entry.kind, users.set(entry.user, line.add(entry)));
    this.count++;
  }

  private remove(entry: Entry): void {
    const users = this.lines.get(entry.kind);
    const line = users?.get(entry.user);
    if (users === undefined || line === undefined || !line.delete(entry)) return;
    this.count--;
    if (line.size === 0) users.delete(entry.user);
    if (users.size === 0) this.lines.delete(entry.kind);
  }

  /** Takes the first piece of the next line; the line and its kind come last then. */
  private takeNext(): Entry | undefined {
    for (const [kind, users] of this.lines)
      for (const [user, line] of users)
        for (const entry of line) {
          this.remove(entry);
          if (users.delete(user) && line.size > 0) users.set(user, line);
          if (this.lines.delete(kind)) this.lines.set(kind, users);
          return entry;
        }
    return undefined;
  }
}

/** The name with the most; undefined where one more of `own` would be as many. */
function longest<Name>(lengths: ReadonlyMap<Name, number>, own: Name | undefined): Name | undefined {
  let most = own === undefined ? 0 : (lengths.get(own) ?? 0) + 1;
  let found: Name | undefined;
  for (const [name, length] of lengths)
    if (length > most) {
      most = length;
      found = name;
    }
  return found;
}
