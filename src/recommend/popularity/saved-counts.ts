import type { Clock } from '../../domain/clock.ts';
import { OtherForm } from '../../domain/furze-error.ts';
import { decodeNested, encodeNested, type FrameKind } from '../../model/part/model-bytes-and-checksum.ts';
import { FeedbackColumns, type FeedbackPosition, type LocalReads } from '../../store/data-store.ts';
import { countsByTime } from '../../store/repeats.ts';
import { scanAllFeedback } from '../../store/scan-feedback.ts';
import { typeTest } from '../history/counts-as-positive.ts';
import { CountsByType } from './counts-by-type.ts';
import { FirstSights } from './first-sights.ts';
import type { SavedWindow } from './moving-window.ts';
import { PopularityCounts, type PopularitySpans, type SavedPopularity } from './popularity-counts.ts';
import { HALF_LIVES_MS } from './popularity-scales.ts';

/** "FRZT". */
const KIND: FrameKind = {
  magic: 0x465a5254,
  version: 7,
  name: 'counts of feedback',
};

/** The settings of the counts; counts of something else are no use. */
export interface CountsSettings extends PopularitySpans {
  /** Names of the types that count as positive. */
  readonly positiveTypes: readonly string[];
}

interface Saved {
  readonly settings: CountsSettings;
  /** As of when everything was counted; the name is that of the file format. */
  readonly mark: FeedbackPosition;
  readonly halfLivesMs: readonly number[];
  readonly types: ReturnType<CountsByType['save']>;
  readonly popularity: SavedPopularity;
  readonly firstSights: Uint32Array;
}

/**
 * Everything that is counted over all feedback. It can be saved, and brought up to date by what the store knows of the
 * latest commits, so that a start does not read all feedback again.
 */
export class SavedCounts {
  readonly popularity: PopularityCounts;
  readonly types = new CountsByType();
  readonly firstSights = new FirstSights();
  private readonly settings: CountsSettings;
  private readonly isPositive: (type: number) => boolean;

  /** @param isPositive tells the types of `settings` by their numbers */
  constructor(settings: CountsSettings, clock: Clock, isPositive: (type: number) => boolean) {
    const { positiveTypes, windowMs, ttlMs } = settings;
    this.settings = { positiveTypes, windowMs, ttlMs };
    this.popularity = new PopularityCounts(settings, clock);
    this.isPositive = isPositive;
  }

  /** Adds (`sign` 1) or takes back (-1) records, which are kept until they are counted; see `PopularityCounts.apply`. */
  apply(feedback: FeedbackColumns, sign: 1 | -1): void {
    this.types.apply(feedback, sign);
    if (sign === 1) this.firstSights.apply(feedback);
    this.popularity.apply(feedback, this.isPositive, sign);
  }

  /** Forgets everything. */
  clear(): void {
    const none = () => new Uint32Array(0);
    const window = () => ({ slices: new Map(), counts: none(), from: Number.NaN, to: Number.NaN });
    const decayed = HALF_LIVES_MS.map(() => ({ values: new Float32Array(0), total: 0, zeroMs: Number.NaN }));
    this.types.restore([]);
    this.firstSights.restore(none());
    const newest = { rows: [], timesMs: [], leftMs: Number.NEGATIVE_INFINITY };
    const recent = { userRows: none(), itemRows: none(), seconds: none() };
    const ever = Number.isFinite(this.settings.ttlMs) ? window() : none();
    this.popularity.restore({ window: window(), ever, decayed, newest, recent });
  }

  /** Counts all feedback that there is, in one go, in the order of users. Nothing was counted before. */
  countAll(reads: LocalReads): void {
    scanAllFeedback(reads, (block) => this.take(block));
    countRepeats(reads, (block) => this.take(block));
    for (const _ of this.popularity.recent.order());
  }

  /** Counts a block of all feedback. */
  take(block: FeedbackColumns): void {
    this.apply(block, 1);
    this.popularity.drain();
  }

  /** @param position as of when everything was counted */
  save(position: FeedbackPosition): Uint8Array {
    const { window, ever, decayed, ...others } = this.popularity.save();
    const saved: Saved = {
      settings: this.settings,
      mark: position,
      halfLivesMs: HALF_LIVES_MS,
      types: this.types.save(),
      popularity: {
        ...others,
        window: usedOf(window),
        ever: ever instanceof Uint32Array ? used(ever) : usedOf(ever),
        decayed: decayed.map((counts) => ({ ...counts, values: used(counts.values) })),
      },
      firstSights: used(this.firstSights.seconds),
    };
    return encodeNested(KIND, saved);
  }

  /**
   * Takes the place of what was counted.
   * @param bytes are kept and written to, unless other threads have them
   * @param isSound whether they come from another thread as `save` made them, and are not looked over for damage
   * @returns as of when it was saved
   * @throws OtherForm when the bytes are of another version, or count by another configuration
   * @throws FurzeError INTERNAL when they are damaged
   */
  restore(bytes: Uint8Array, isSound = false): FeedbackPosition {
    const saved = decodeNested(KIND, bytes, isSound) as Saved;
    const { mark, types, popularity, halfLivesMs, firstSights, settings } = saved;
    const isSame = JSON.stringify([settings, halfLivesMs]) === JSON.stringify([this.settings, HALF_LIVES_MS]);
    if (!isSame) throw new OtherForm(`not usable ${KIND.name}: it counts by another configuration`);
    this.types.restore(types);
    this.firstSights.restore(firstSights);
    this.popularity.restore(popularity);
    return mark;
  }

  /**
   * Restores what was saved and applies what has come since.
   * @param isSound see `restore`
   * @returns how many records that was; undefined where the store cannot tell, or the clock has gone back behind what was
   *   saved, which lacks what had left its windows: what was saved stays then
   * @throws what `restore` does
   */
  resume(bytes: Uint8Array, reads: LocalReads, isSound = false): number | undefined {
    const position = this.restore(bytes, isSound);
    return this.popularity.hasForgotten ? undefined : this.catchUp(position, reads);
  }

  /**
   * Applies what has come since what is counted was that of `position`.
   * @returns how many records that was; undefined where the store cannot tell: nothing is applied then
   */
  catchUp(position: FeedbackPosition, reads: LocalReads): number | undefined {
    let records = 0;
    const isKnown = reads.replayFeedback(position, (feedback, sign) => {
      records += feedback.length;
      this.apply(feedback, sign);
    });
    return isKnown ? records : undefined;
  }
}

/** Records that are handed out at a time. */
const REPEATS_A_BLOCK = 65_536;

/** Hands out the events of feedback that happened several times, but for the latest, of which its record tells. */
function countRepeats(reads: LocalReads, visit: (block: FeedbackColumns) => void): void {
  let block = new FeedbackColumns();
  for (const { userRow, itemRow, type, occurrences } of reads.repeatedFeedback()) {
    const counts = countsByTime(occurrences);
    counts.at(-1)![1]--;
    for (const [timeMs, count] of counts)
      for (let at = 0; at < count; at++) block.push(userRow, itemRow, type, timeMs);
    if (block.length < REPEATS_A_BLOCK) continue;
    visit(block);
    block = new FeedbackColumns();
  }
  visit(block);
}

/** As of when everything was counted that was saved. @param bytes as `save` made them */
export function positionOf(bytes: Uint8Array): FeedbackPosition {
  return (decodeNested(KIND, bytes, true) as Saved).mark;
}

/**
 * The counts of all feedback as of now, out of those that were saved where these will do.
 * @returns undefined where the store cannot tell as of when it is, or does not hold all of it
 */
export function renewCounts(
  saved: Uint8Array | undefined,
  settings: CountsSettings,
  reads: LocalReads,
  clock: Clock,
): Uint8Array | undefined {
  const position = reads.feedbackPosition;
  if (position === undefined) return undefined;
  const isPositive = typeTest(settings.positiveTypes, () => reads.feedbackTypes());
  if (saved !== undefined) {
    const counts = new SavedCounts(settings, clock, isPositive);
    try {
      if (counts.resume(saved, reads) !== undefined) return counts.save(position);
    } catch {
      // Damaged, or of another configuration: everything is counted again.
    }
  }
  if (reads.isPartial) return undefined;
  const counts = new SavedCounts(settings, clock, isPositive);
  counts.countAll(reads);
  // What has come meanwhile, of which whoever takes the counts over has the less to add.
  reads.refresh();
  const isUpToDate = counts.catchUp(position, reads) !== undefined;
  return counts.save(isUpToDate ? reads.feedbackPosition! : position);
}

/** Without the zeros at the end. */
function used<T extends Uint32Array | Float32Array>(values: T): T {
  let { length } = values;
  while (length > 0 && values[length - 1] === 0) length--;
  return values.subarray(0, length) as T;
}

function usedOf(window: SavedWindow): SavedWindow {
  return { ...window, counts: used(window.counts) };
}
