import { messageOf, OtherForm } from '../../domain/furze-error.ts';
import type { ChangeSet, LocalReads } from '../../store/data-store.ts';
import type { SavedCounts } from './saved-counts.ts';

/** The counts are saved again once this share of all records has come since, but after so many at least and at most. */
const SAVE_SHARE = 0.02;
const SAVE_RECORDS_MIN = 20_000;
const SAVE_RECORDS_MAX = 200_000;
/** Up to so many records are counted at once at a start: some ten milliseconds. */
const COUNT_AT_ONCE = 50_000;
/** Pause before counting that failed is tried again; it doubles up to the other. */
const RETRY_MS = 250;
const RETRY_MS_MAX = 60_000;
/** After so many tries that failed, some seconds, lists are made by what is known. */
const TRIES_MAX = 5;

/** Where the counts are kept, and made without keeping anybody waiting. */
export interface CountsStorage {
  /** The counts saved last. */
  read(): Promise<Uint8Array | undefined>;
  /** Brings the saved one up to date, or counts everything anew, elsewhere; answers what it saved, undefined when that is not possible now. */
  renew(): Promise<Uint8Array | undefined>;
}

/**
 * The counts of a running service: read back at the start, following each commit, saved now and then. Where nothing that was
 * saved can be used, a start does not wait for the count: until it is there, `isCounted` is false, and what is counted is what
 * was saved of other feedback, or nothing, with what is committed meanwhile. Where counting fails again and again, that has
 * to do, and it is tried on.
 */
export class LiveCounts {
  /** Resolves once all feedback is counted, or that has failed so often that nobody is to wait for it; never rejects. */
  readonly settled: Promise<void>;
  private resolveSettled = () => {};
  private hasSettled = false;
  /** The error of the last try to count everything. */
  private failure: unknown;
  private readonly options: {
    readonly counts: SavedCounts;
    readonly reads: LocalReads;
    readonly keeper: CountsStorage;
    readonly onTrouble: (message: string, error: unknown) => void;
    /** Told of what is as it should be and worth a line. */
    readonly onNote?: ((message: string) => void) | undefined;
    readonly saveRecordsMin?: number;
    readonly countAtOnce?: number;
    readonly retryMs?: number;
  };

  private readonly saveRecordsMin: number;
  private readonly countAtOnce: number;
  /** The last commit that is counted. */
  private countedCommit = 0;
  /** Records that there are, and those since it was saved. */
  private total = 0;
  private unsaved = 0;
  private isSaving = false;
  private isClosed = false;
  /** True while something is counted that cannot be brought up to date, or nothing. */
  private needsRecount = true;

  constructor(options: LiveCounts['options']) {
    this.options = options;
    this.saveRecordsMin = options.saveRecordsMin ?? SAVE_RECORDS_MIN;
    this.countAtOnce = options.countAtOnce ?? COUNT_AT_ONCE;
    this.settled = new Promise((resolve) => {
      this.resolveSettled = resolve;
    });
    options.counts.popularity.onForgotten = () => this.recountBehindClock();
  }

  /** True once `settled` has resolved. */
  get isSettled(): boolean {
    return this.hasSettled;
  }

  /** True once all feedback is counted. */
  get isCounted(): boolean {
    return this.hasSettled && this.failure === undefined;
  }

  /** Why feedback cannot be counted, once that has failed too often; undefined while there is hope. */
  get countError(): string | undefined {
    return this.hasSettled && this.failure !== undefined ? messageOf(this.failure) : undefined;
  }

  /**
   * Takes what was saved and brings it up to date, or counts what is little. Where neither can be, everything is counted
   * elsewhere from now on.
   * @param feedbackCount records that there are
   */
  async load(feedbackCount: number): Promise<void> {
    this.total = feedbackCount;
    const saved = await this.options.keeper.read().catch((error: unknown) => this.tellDamage(error));
    if (saved !== undefined && this.take(saved)) return this.settle();
    const isLittle = feedbackCount <= this.countAtOnce && !this.options.reads.isPartial;
    if (isLittle && this.countNow()) return this.settle();
    void this.recount();
  }

  /** Applies a commit, unless it is counted already. What is to be counted waits in `SavedCounts`. */
  apply({ added, removed, feedbackCommit }: ChangeSet): undefined {
    const records = added.length + removed.length;
    if (records === 0 || feedbackCommit <= this.countedCommit) return;
    this.options.counts.apply(removed, -1);
    this.options.counts.apply(added, 1);
    this.total += added.length - removed.length;
    this.unsaved += records;
    // A server is told of what all nodes write, and begins with what one of them has counted.
    if (this.options.reads.isPartial) return;
    const due = Math.max(this.saveRecordsMin, Math.min(SAVE_RECORDS_MAX, this.total * SAVE_SHARE));
    if (this.unsaved >= due) void this.save();
  }

  close(): void {
    this.isClosed = true;
  }

  private recountBehindClock(): void {
    if (this.needsRecount) return;
    this.needsRecount = true;
    this.options.onNote?.('the clock went back; all feedback is counted again');
    void this.recount();
  }

  private giveUpWaiting(): void {
    this.options.onTrouble('feedback cannot be counted; lists are made by what is known', this.failure);
    this.settle();
  }

  private settle(): void {
    this.hasSettled = true;
    this.resolveSettled();
  }

  /**
   * @param isSound whether a worker has just made it
   * @returns false when it is not up to date
   */
  private take(saved: Uint8Array, isSound = false): boolean {
    const { reads, counts } = this.options;
    reads.refresh();
    try {
      const replayed = counts.resume(saved, reads, isSound);
      this.needsRecount = replayed === undefined;
      if (replayed === undefined) return false;
      this.unsaved = replayed;
      this.countedCommit = reads.feedbackPosition?.commit ?? 0;
      return true;
    } catch (error) {
      if (error instanceof OtherForm)
        this.options.onNote?.(`${error.message}; all feedback is counted again`);
      else this.tellDamage(error);
      return false;
    }
  }

  /** @returns false where it cannot be told as of when that would be */
  private countNow(): boolean {
    const { reads, counts } = this.options;
    reads.refresh();
    const position = reads.feedbackPosition;
    if (position === undefined) return false;
    counts.clear();
    counts.countAll(reads);
    this.needsRecount = false;
    this.countedCommit = position.commit;
    return true;
  }

  private async recount(): Promise<void> {
    let pauseMs = this.options.retryMs ?? RETRY_MS;
    for (let tries = 0; !this.isClosed; pauseMs = Math.min(RETRY_MS_MAX, 2 * pauseMs)) {
      const renewed = await this.renew();
      if (this.isClosed) return;
      const isUpToDate = renewed !== undefined && this.take(renewed, true);
      // Even where more has come meanwhile than the store knows of, it is all that there was when the count began.
      if (renewed !== undefined) this.settle();
      else if (this.failure !== undefined && ++tries === TRIES_MAX) this.giveUpWaiting();
      if (isUpToDate) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
    }
  }

  /** Has what is saved brought up to date. */
  async save(): Promise<void> {
    if (this.isSaving || this.needsRecount) return;
    this.isSaving = true;
    this.unsaved = 0;
    await this.renew();
    this.isSaving = false;
  }

  private async renew(): Promise<Uint8Array | undefined> {
    try {
      const renewed = await this.options.keeper.renew();
      this.failure = undefined;
      return renewed;
    } catch (error) {
      if (this.isClosed) return undefined;
      if (this.needsRecount) this.failure = error;
      this.options.onTrouble('feedback could not be counted; trying again', error);
      return undefined;
    }
  }

  private tellDamage(error: unknown): undefined {
    this.options.onTrouble('the saved counts of feedback cannot be used; everything is counted again', error);
    return undefined;
  }
}
