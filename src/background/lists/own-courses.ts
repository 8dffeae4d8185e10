import type { Clock } from '../../domain/clock.ts';
import type { PassOrder, PassPosition } from '../../recommend/lists/active-users.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import type { PassCourse, PassKind } from '../../store/cluster.ts';

/** Users whose lists one job makes: some hundred milliseconds of work, and one short transaction. */
export const LIST_BLOCK_USERS = 256;
/** Name of the state that says how far a pass has come. */
const STATE_NAME = 'list-pass';
/** Time between two writes of that state, milliseconds: what a crash costs of a pass. */
const MARK_MS = 1000;

/** Where a pass begins, and when it first did. */
export interface PassStart {
  readonly position: PassPosition;
  /** Milliseconds since the epoch. */
  readonly beganMs: number;
}

/** Keeps how far passes have come. */
export interface PassCourses {
  /** Where lists are missing: `'all'` for a pass that has not begun, or is shared; the time of its beginning for one that is over; undefined for one that is not for this node to begin. */
  missingFrom(kind: PassKind): Promise<PassStart | 'all' | { readonly overMs: number } | undefined>;
  /** @returns undefined where another node is to begin it */
  open(kind: PassKind, order: PassOrder, start: PassStart | 'all'): Promise<PassCourse | undefined>;
}

/** The course of the last pass: the lists of all users before `position` are made. */
interface PassState extends PassStart, PassKind {
  readonly isOver: boolean;
}

/** Passes of a node that makes all of its lists by itself: it goes on where it was cut off. */
export class OwnCourses implements PassCourses {
  private readonly states: SavedStates;
  private readonly clock: Clock;

  constructor(states: SavedStates, clock: Clock) {
    this.states = states;
    this.clock = clock;
  }

  async missingFrom({ generation, settings }: PassKind) {
    const saved = (await this.states.getState(STATE_NAME)) as PassState | undefined;
    if (saved?.generation !== generation || saved.settings !== settings || !saved.position) return 'all';
    const { position, beganMs } = saved;
    return saved.isOver ? { overMs: beganMs } : { position, beganMs };
  }

  async open(kind: PassKind, order: PassOrder, start: PassStart | 'all'): Promise<PassCourse> {
    const from = start === 'all' ? { position: order.first, beganMs: this.clock() } : start;
    return new OwnCourse(kind, order, from, this.states, this.clock);
  }
}

/** The place of a pass in the order of its users, several blocks of which are at work at a time. */
class OwnCourse implements PassCourse {
  readonly beganMs: number;
  /** Those before the start count as done, too. */
  readonly total: number;
  done: number;
  private readonly kind: PassKind;
  private readonly order: PassOrder;
  private readonly states: SavedStates;
  private readonly clock: Clock;
  /** Where the blocks at work begin, in the order of the pass. */
  private readonly open = new Map<Uint32Array, PassPosition>();
  private next: ReturnType<PassOrder['take']>;
  private nextPosition: PassPosition;
  private markedMs = Number.NEGATIVE_INFINITY;
  private marking: Promise<void> = Promise.resolve();

  constructor(kind: PassKind, order: PassOrder, start: PassStart, states: SavedStates, clock: Clock) {
    this.kind = kind;
    this.order = order;
    this.states = states;
    this.clock = clock;
    this.beganMs = start.beganMs;
    this.total = order.countFrom(order.first);
    this.done = this.total - order.countFrom(start.position);
    this.nextPosition = start.position;
    this.next = order.take(start.position, LIST_BLOCK_USERS);
  }

  get isMore(): boolean {
    return this.next !== undefined;
  }

  get isOver(): boolean {
    return this.open.size === 0 && !this.isMore;
  }

  async take(): Promise<Uint32Array | undefined> {
    if (this.next === undefined) return undefined;
    const { userRows, next } = this.next;
    this.open.set(userRows, this.nextPosition);
    this.nextPosition = next;
    this.next = this.order.take(next, LIST_BLOCK_USERS);
    return userRows;
  }

  async end(userRows: Uint32Array): Promise<void> {
    this.open.delete(userRows);
    this.done += userRows.length;
    // Not more often than worth it, and not so that a block would wait for it.
    if (Math.abs(this.clock() - this.markedMs) < MARK_MS) return;
    this.markedMs = this.clock();
    // A pass that cannot be marked is begun anew after a stop.
    this.marking = this.marking.then(() => this.mark()).catch(() => {});
  }

  leave(): Promise<void> {
    return this.marking.then(() => this.mark());
  }

  /** Writes how far the pass is: all users before the first block at work are done with. */
  private mark(): Promise<void> {
    const position = this.open.values().next().value ?? this.nextPosition;
    const { kind, beganMs, isOver } = this;
    return this.states.putState(STATE_NAME, { ...kind, position, beganMs, isOver } satisfies PassState);
  }
}
