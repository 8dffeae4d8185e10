import type { PassOrder, PassPosition } from '../../recommend/lists/active-users.ts';

/** The place of a pass in the order of its users, several blocks of which are at work at a time. */
export class PassProgress {
  /** Users in all, and those who are done with; those before the start count among them. */
  readonly total: number;
  done: number;
  private readonly order: PassOrder;
  private readonly blockUsers: number;
  /** Where the blocks at work begin, in the order of the pass. */
  private readonly open = new Map<Uint32Array, PassPosition>();
  private next: ReturnType<PassOrder['take']>;
  private nextPosition: PassPosition;

  /** @param blockUsers users of one block at most */
  constructor(order: PassOrder, start: PassPosition, blockUsers: number) {
    this.order = order;
    this.blockUsers = blockUsers;
    this.total = order.countFrom(order.first);
    this.done = this.total - order.countFrom(start);
    this.nextPosition = start;
    this.next = order.take(start, blockUsers);
  }

  /** True where there are users left to begin with. */
  get isMore(): boolean {
    return this.next !== undefined;
  }

  get isOver(): boolean {
    return this.open.size === 0 && !this.isMore;
  }

  /** All users before are done with. */
  get position(): PassPosition {
    return this.open.values().next().value ?? this.nextPosition;
  }

  /** The next users, of whom there must be some; to be given to `end` when they are done with. */
  begin(): Uint32Array {
    const { userRows, next } = this.next!;
    this.open.set(userRows, this.nextPosition);
    this.nextPosition = next;
    this.next = this.order.take(next, this.blockUsers);
    return userRows;
  }

  end(userRows: Uint32Array): void {
    this.open.delete(userRows);
    this.done += userRows.length;
  }
}
