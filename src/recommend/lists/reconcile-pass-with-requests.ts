import type { CacheStore, UserList } from '../../store/cache-store.ts';
import { UserBits } from '../rows/user-bits.ts';
import type { ListWriter } from './list-writer.ts';
import type { RemakeQueue } from './remake-queue.ts';
import type { StaleLists } from './stale-lists.ts';

export interface PassAndRequestsOptions {
  readonly cache: Pick<CacheStore, 'local'>;
  readonly staleLists: StaleLists;
  readonly writer: ListWriter;
  readonly queue: RemakeQueue;
  /** True where lists say what they were made from: a pass then sees by itself which are as of now. */
  readonly isVersioned: boolean;
  /** Told of each user who may have another list. */
  readonly onReplaced: (userRow: number) => void;
}

/** Users whose lists a pass makes together. */
export interface PassBlock {
  /** Those that need one. */
  readonly userRows: Uint32Array;
  /** To be called at the end, with whether all of them are stored. */
  readonly end: (areStored: boolean) => void;
}

/**
 * What requests and a pass over all users know of each other, so that both make no list twice: the pass leaves out whose
 * list was made since it began, and takes over those that requests have asked for. Lists that were stale when it began are
 * left to it, so that requests do not make all of them first.
 */
export class PassAndRequests {
  private readonly options: PassAndRequestsOptions;
  /** Users whose last list is of the pass's generation and not older than it; of their feedback as it is unless that counts as new. */
  private readonly current = new UserBits();
  /** Users whose feedback has changed since the pass began: they are not left to it. */
  private readonly changed = new UserBits();
  private course: { readonly generation: number; readonly beganMs: number } | undefined;

  constructor(options: PassAndRequestsOptions) {
    this.options = options;
  }

  /**
   * A pass begins.
   * @param generation number of the one that it makes lists with
   * @param beganMs when it first did, milliseconds since the epoch
   * @returns a function to call when it ends, whichever way
   */
  begin(generation: number, beganMs: number): () => void {
    const { isVersioned, queue } = this.options;
    if (isVersioned) return () => {};
    this.current.clear();
    this.changed.clear();
    this.course = { generation, beganMs };
    queue.lend(true);
    return () => {
      this.course = undefined;
      queue.lend(false);
    };
  }

  /** The user's feedback has changed. */
  noteChanged(userRow: number): void {
    this.changed.add(userRow);
  }

  /** True for a user whose list was stale when the pass began that is under way: it is about to be made. */
  takesOver(userRow: number): boolean {
    return this.course !== undefined && !this.changed.has(userRow);
  }

  /** @param isWhole whether the list was made of all that a pass would make it of */
  noteMade({ userRow, generation, madeMs }: UserList, isWhole: boolean): void {
    const { course } = this;
    if (isWhole && course?.generation === generation && madeMs >= course.beganMs) this.current.add(userRow);
    else this.current.delete(userRow);
  }

  /** True for a user whose list is being made of the feedback as it is. */
  isMaking(userRow: number): boolean {
    const { writer, staleLists } = this.options;
    return writer.isHeld(userRow) && !staleLists.hasChanged(userRow);
  }

  /** Takes over users that were asked for and whose lists are stale, `limit` at most; to be given to `beginBlock`. */
  takeAsked(limit: number): Uint32Array {
    return Uint32Array.from(this.options.queue.take(limit));
  }

  /**
   * A worker begins to make lists of these users, but of whom one does so already: a second one would write over the first
   * one's, which may know of less feedback or of more.
   * @param madeMs what its lists will say of when they were made
   */
  beginBlock(userRows: Uint32Array, madeMs: number): PassBlock {
    const { staleLists, writer, cache, onReplaced } = this.options;
    const missing = userRows.filter(
      (row) => !writer.isHeld(row) && (!this.current.has(row) || staleLists.isDirty(row)),
    );
    staleLists.beginBlock(missing);
    writer.hold(missing);
    const end = (areStored: boolean) => {
      cache.local?.refresh();
      const isMade = (row: number) => areStored && !staleLists.hasChanged(row);
      // Of the same feedback this one was made of less, whenever that was.
      writer.release(missing, (row) => isMade(row) && this.isStored(row, madeMs));
      for (const row of missing) {
        if (isMade(row)) {
          staleLists.markMade(row);
          if (this.course !== undefined) this.current.add(row);
        }
        onReplaced(row);
      }
    };
    return { userRows: missing, end };
  }

  /**
   * A pass over the active users that began then is over: the lists of others are stale, and made again when asked for.
   * With versions their generation tells so, and what another node has made a pass leaves as it is.
   */
  endPass(beganMs: number): void {
    if (!this.options.isVersioned) this.options.staleLists.endPass(beganMs);
  }

  /** True where the store has that list of the user; lists that are not at hand tell by their versions whether they are good. */
  private isStored(userRow: number, madeMs: number): boolean {
    const { local } = this.options.cache;
    return local === undefined || local.readList(userRow)?.madeMs === madeMs;
  }
}
