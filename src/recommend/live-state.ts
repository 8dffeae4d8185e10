import type { Clock } from '../domain/clock.ts';
import { type ChangeSet, FeedbackColumns, type LocalReads } from '../store/data-store.ts';
import { Catalogue } from './catalogue.ts';
import { typeTest } from './feedback-types.ts';
import type { TypeTest } from './history.ts';
import { LatestIndex } from './latest.ts';
import { PopularIndex } from './popular.ts';

/** Rows read before other work gets a turn: a few milliseconds. */
const SLICE_ROWS = 4096;
const SLICE_RECORDS = 65_536;
/** Records counted in one turn while requests are served: a fraction of a millisecond. */
const COUNT_RECORDS = 2048;

/** What is kept in memory of the store and follows each commit: the catalogue, the latest and the popular items. */
export class LiveState {
  readonly catalogue: Catalogue;
  readonly latest: LatestIndex;
  readonly popular: PopularIndex;
  readonly isPositive: TypeTest;
  private counting = false;

  constructor(options: {
    readonly reads: LocalReads;
    readonly clock: Clock;
    readonly positiveTypes: readonly string[];
    readonly popularWindowMs: number;
    readonly itemTtlMs: number;
  }) {
    this.catalogue = new Catalogue(options.clock, options.itemTtlMs);
    this.latest = new LatestIndex(this.catalogue);
    this.popular = new PopularIndex(options.popularWindowMs, options.clock);
    this.isPositive = typeTest(options.positiveTypes, () => options.reads.feedbackTypes());
  }

  /** Reads all items and feedback, in slices so that timers and signals get their turn. Before any `apply`. */
  async load(reads: LocalReads): Promise<void> {
    for (let from = 0; from >= 0; ) {
      let seen = 0;
      from = reads.scanItems(from, (item) => {
        this.catalogue.put(item);
        return ++seen < SLICE_ROWS;
      });
      await nextTurn();
    }
    const block = new FeedbackColumns(SLICE_RECORDS);
    for (let from = 0; from >= 0; ) {
      from = reads.scanFeedback(from, SLICE_RECORDS, block);
      this.popular.apply(block, this.isPositive, 1);
      this.popular.drain();
      await nextTurn();
    }
  }

  /** Follows a commit. */
  apply(changes: ChangeSet): void {
    for (const item of changes.items) this.catalogue.put(item);
    for (const row of changes.deletedItemRows) this.catalogue.delete(row);
    this.popular.apply(changes.removed, this.isPositive, -1);
    this.popular.apply(changes.added, this.isPositive, 1);
    this.countLater();
  }

  /** Counts what waits a slice a turn, so that requests come in between. */
  private countLater(): void {
    if (this.counting) return;
    this.counting = true;
    setImmediate(() => {
      this.counting = false;
      if (this.popular.drain(COUNT_RECORDS)) this.countLater();
    });
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
