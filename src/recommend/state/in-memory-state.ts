import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import type { ChangeSet, LocalReads } from '../../store/data-store.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { NewItems } from '../catalogue/new-items.ts';
import { LatestIndex } from '../global-lists/latest-index.ts';
import { PopularIndex } from '../global-lists/popular-index.ts';
import { type NumberedTypeTest, typeTest } from '../history/counts-as-positive.ts';
import { ColdItemIndex } from '../neighbors/cold-item-index.ts';
import type { CountsByType } from '../popularity/counts-by-type.ts';
import type { FirstSights } from '../popularity/first-sights.ts';
import { type CountsStorage, LiveCounts } from '../popularity/live-counts.ts';
import type { PopularityCounts, PopularitySpans } from '../popularity/popularity-counts.ts';
import { POPULARITY_SCALES } from '../popularity/popularity-scales.ts';
import { SavedCounts } from '../popularity/saved-counts.ts';

/** Rows read before other work gets a turn: a few milliseconds. */
const SLICE_ROWS = 4096;
/** Records counted in one step while requests are served: a fraction of a millisecond. */
const COUNT_RECORDS = 512;
/** Items taken in in one step likewise. */
const STEP_ITEMS = 64;
/** The scale of popularity that counts the likes of half a day. */
const LATELY = POPULARITY_SCALES.indexOf('12h');
/** New items worked out in one turn: about a millisecond. */
const COLD_ITEMS_A_TURN = 4;

/** The part of the store that is kept in memory and follows each commit: the catalogue, latest and popular items, new items. */
export class InMemoryState {
  readonly catalogue: Catalogue;
  readonly latest: LatestIndex;
  readonly popular: PopularIndex;
  readonly popularity: PopularityCounts;
  readonly coldItems: ColdItemIndex;
  readonly isPositive: NumberedTypeTest;
  /** Types of feedback that say that a user likes an item. */
  readonly positiveTypes: readonly string[];
  readonly countsByType: CountsByType;
  /** Time at which so much was liked that lists may be others. */
  readonly movement = new Movement();
  private readonly firstSights: FirstSights;
  /** The items that became listable lately: lists made before know nothing of them. */
  readonly newItems: NewItems;
  private readonly clock: Clock;
  private readonly counts: LiveCounts;
  private readonly newestCount: boolean;
  private findingCold = false;
  /** Items from this row on came after the last fit. */
  private knownRows = 0;

  constructor(options: {
    readonly reads: LocalReads;
    readonly clock: Clock;
    readonly positiveTypes: readonly string[];
    readonly spans: PopularitySpans;
    readonly itemTtlMs: number;
    /** True where lists hold the newest items; otherwise those that are like nothing known change none. */
    readonly newestCount: boolean;
    readonly countsStorage: CountsStorage;
    readonly onTrouble: (message: string, error: unknown) => void;
    /** Told of what is as it should be and worth a line. */
    readonly onNote?: (message: string) => void;
  }) {
    this.catalogue = new Catalogue(options.clock, options.itemTtlMs);
    this.latest = new LatestIndex(this.catalogue);
    this.clock = options.clock;
    this.newItems = new NewItems(options.clock());
    this.newestCount = options.newestCount;
    const { reads, positiveTypes, clock, onTrouble, onNote, countsStorage: keeper } = options;
    this.positiveTypes = positiveTypes;
    this.isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
    const counts = new SavedCounts({ positiveTypes, ...options.spans }, clock, this.isPositive);
    this.counts = new LiveCounts({ counts, reads, keeper, onTrouble, onNote });
    this.popularity = counts.popularity;
    this.countsByType = counts.types;
    this.firstSights = counts.firstSights;
    this.popular = new PopularIndex(this.popularity, this.catalogue);
    this.coldItems = new ColdItemIndex(this.catalogue, this.popularity);
  }

  /**
   * Resolves once lists may be made: all feedback is counted, or that fails and what is known has to do; never rejects.
   */
  get settled(): Promise<void> {
    return this.counts.settled;
  }

  /** Has the counts that are saved brought up to date. */
  saveCounts(): Promise<void> {
    return this.counts.save();
  }

  /** False at a start without counts that can be used, until they are there or cannot be had. */
  get isSettled(): boolean {
    return this.counts.isSettled;
  }

  /** False where the counts that there are lack the feedback of before. */
  get isCounted(): boolean {
    return this.counts.isCounted;
  }

  /** Why feedback cannot be counted; undefined while there is hope. */
  get countError(): string | undefined {
    return this.counts.countError;
  }

  /**
   * Reads all items, in slices so that timers and signals get their turn, and what is counted of all feedback as far as
   * that is to be had at once.
   * @param feedbackCount records that there are
   */
  async load(reads: LocalReads, feedbackCount: number): Promise<void> {
    const counted = this.counts.load(feedbackCount);
    for (let from = 0; from >= 0; ) {
      // First of all, whoever was asked before gets to work.
      await nextTurn();
      let seen = 0;
      from = reads.scanItems(from, (item) => {
        this.catalogue.put(item);
        return ++seen < SLICE_ROWS;
      });
    }
    await counted;
    // The first ranking takes long, and nobody waits yet.
    this.popular.top(1, [], () => true);
  }

  close(): void {
    this.counts.close();
  }

  /** Follows a commit, a fraction of a millisecond a step. */
  *follow(changes: ChangeSet): Generator<unknown> {
    const { catalogue, popularity } = this;
    if (changes.renumbersTypes) this.isPositive.renumber();
    let taken = 0;
    for (const item of changes.items) {
      if (++taken % STEP_ITEMS === 0) yield;
      const wasListable = catalogue.isListable(item.row);
      catalogue.put(item);
      const hasArrived = !wasListable && catalogue.isListable(item.row);
      if (hasArrived && (this.newestCount || item.row < this.knownRows))
        this.newItems.add(item.row, this.clock());
    }
    for (const row of changes.deletedItemRows) catalogue.delete(row);
    this.counts.apply(changes);
    const likes = yield* this.countLikes(changes);
    while (popularity.drain(COUNT_RECORDS)) yield;
    if (likes > 0) this.movement.note(likes, popularity.totalOn(LATELY), this.clock());
    if (changes.items.length > 0) this.findColdLater();
  }

  /**
   * A fit that knows the items below this row is served from now on. Resolves once feedback is counted as far as it can be, by
   * which new items are told from known ones, and the new ones are compared with the others.
   * @param after what they are compared after
   */
  async knowItems(knownRows: number, after?: Promise<unknown>): Promise<void> {
    this.knownRows = knownRows;
    this.coldItems.clear();
    if (after !== undefined) await after;
    await this.settled;
    while (this.findCold()) await nextTurn();
  }

  /** Since when an item is there for ranking: its Timestamp, or its first feedback. Milliseconds since the epoch, NaN for neither. */
  sinceMsAt(itemRow: number): number {
    const timeMs = this.catalogue.timestampMsAt(itemRow);
    return Number.isNaN(timeMs) ? this.firstSights.timeMsAt(itemRow) : timeMs;
  }

  /** The same of all items, in shared memory. */
  *sharedSince(): Generator<undefined, Float64Array<SharedArrayBuffer>> {
    const times = yield* this.catalogue.sharedTimes();
    for (let row = 0; row < times.length; row++) {
      if (row % SLICE_ROWS === SLICE_ROWS - 1) yield;
      if (Number.isNaN(times[row])) times[row] = this.firstSights.timeMsAt(row);
    }
    return times;
  }

  private *countLikes({ added, removed }: ChangeSet): Generator<undefined, number> {
    let likes = 0;
    for (const { length, types } of [added, removed])
      for (let at = 0; at < length; at++) {
        if (at % COUNT_RECORDS === COUNT_RECORDS - 1) yield;
        likes += Number(this.isPositive(types[at]!));
      }
    return likes;
  }

  /** Works out what new items are like, some a turn. */
  private findColdLater(): void {
    if (this.findingCold || this.knownRows === 0 || !this.isSettled) return;
    this.findingCold = true;
    setImmediate(() => {
      this.findingCold = false;
      if (this.findCold()) this.findColdLater();
    });
  }

  private findCold(): boolean {
    const { isMore, gained } = this.coldItems.step(this.knownRows, COLD_ITEMS_A_TURN);
    for (const row of gained) this.newItems.add(row, this.clock());
    return isMore;
  }
}

/** Lists may be others once so large a part of the likes of half a day has come. */
const SHARE = 0.002;

/** Knows when so many likes have come that lists may be others: each of a small service, of a large one a few hundred. */
export class Movement {
  /** Milliseconds since the epoch, -Infinity for never. */
  lastMs = Number.NEGATIVE_INFINITY;
  private since = 0;

  /**
   * Notes likes.
   * @param lately likes of half a day, more or less
   * @param nowMs milliseconds since the epoch
   */
  note(likes: number, lately: number, nowMs: number): void {
    this.since += likes;
    if (likes === 0 || this.since < SHARE * lately) return;
    this.since = 0;
    this.lastMs = nowMs;
  }
}
