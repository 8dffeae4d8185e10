import type { Clock } from '../../domain/clock.ts';
import { decodeFrame, encodeFrame, type FrameKind, refuseModel } from '../../model/model-encoding.ts';
import type { FeedbackColumns, FeedbackPosition, LocalReads } from '../../store/data-store.ts';
import { scanAllFeedback } from '../../store/scan-feedback.ts';
import { typeTest } from '../history/counts-as-positive.ts';
import type { SavedDataClock } from './data-clock.ts';
import { HALF_LIVES_MS } from './decayed-counts.ts';
import { FeedbackCounts } from './feedback-counts.ts';
import type { PackedSlice } from './trend-slice.ts';
import { type SavedTrends, type TrendSpans, Trends } from './trends.ts';

/** "FRZT". */
const KIND: FrameKind = { magic: 0x465a5254, version: 2, name: 'tally of feedback', coversDescription: true };

/** What is counted; a tally of something else is no use. */
export interface TallySettings extends TrendSpans {
  /** Names of the types that count as positive. */
  readonly positiveTypes: readonly string[];
}

/** A slice by its number. */
type SliceLength = readonly [number: number, length: number];

/** Lengths are in numbers; the arrays follow in this order: ever, decayed, rows and counts of each slice. */
interface Description extends TallySettings {
  /** As of when everything was counted; the name is that of the file format. */
  readonly mark: FeedbackPosition;
  readonly halfLivesMs: readonly number[];
  readonly types: readonly (readonly [type: number, count: number])[];
  /** `leftMs` is null for none. */
  readonly newest: Omit<SavedDataClock, 'leftMs'> & { readonly leftMs: number | null };
  readonly ever: number;
  readonly decayed: readonly {
    readonly total: number;
    readonly zeroMs: number | null;
    readonly length: number;
  }[];
  readonly slices: readonly SliceLength[];
  readonly everSlices: readonly SliceLength[];
}

/**
 * Everything that is counted over all feedback. It can be saved, and brought up to date by what the store knows of the
 * latest commits, so that a start does not read all feedback again.
 */
export class Tally {
  readonly trends: Trends;
  readonly types = new FeedbackCounts();
  private readonly settings: TallySettings;
  private readonly isPositive: (type: number) => boolean;

  /** @param isPositive tells the types of `settings` by their numbers */
  constructor(settings: TallySettings, clock: Clock, isPositive: (type: number) => boolean) {
    const { positiveTypes, windowMs, ttlMs } = settings;
    this.settings = { positiveTypes, windowMs, ttlMs };
    this.trends = new Trends(settings, clock);
    this.isPositive = isPositive;
  }

  /** Adds (`sign` 1) or takes back (-1) records, which are kept until they are counted; see `Trends.apply`. */
  apply(feedback: FeedbackColumns, sign: 1 | -1): void {
    this.types.apply(feedback, sign);
    this.trends.apply(feedback, this.isPositive, sign);
  }

  /** Forgets everything. */
  clear(): void {
    const none = new Uint32Array(0);
    const decayed = HALF_LIVES_MS.map(() => ({ values: new Float32Array(0), total: 0, zeroMs: Number.NaN }));
    this.types.restore([]);
    const newest = { rows: [], timesMs: [], leftMs: Number.NEGATIVE_INFINITY };
    this.trends.restore({ slices: new Map(), ever: none, everSlices: new Map(), decayed, newest });
  }

  /** Counts all feedback that there is, in one go. Nothing was counted before. */
  countAll(reads: LocalReads): void {
    scanAllFeedback(reads, (block) => {
      this.apply(block, 1);
      this.trends.drain();
    });
  }

  /** @param position as of when everything was counted */
  save(position: FeedbackPosition): Uint8Array {
    const { slices, ever, everSlices, decayed, newest } = this.trends.save();
    const everUsed = used(ever);
    const decayedUsed = decayed.map(({ values }) => used(values));
    const description: Description = {
      ...this.settings,
      mark: position,
      halfLivesMs: HALF_LIVES_MS,
      types: this.types.save(),
      newest: { ...newest, leftMs: Number.isFinite(newest.leftMs) ? newest.leftMs : null },
      ever: everUsed.length,
      decayed: decayed.map(({ total, zeroMs }, at) => ({
        total,
        zeroMs: Number.isNaN(zeroMs) ? null : zeroMs,
        length: decayedUsed[at]!.length,
      })),
      slices: lengthsOf(slices),
      everSlices: lengthsOf(everSlices),
    };
    const packed = [...slices.values(), ...everSlices.values()].flatMap(({ rows, counts }) => [rows, counts]);
    return encodeFrame(KIND, description, [everUsed, ...decayedUsed, ...packed]);
  }

  /**
   * Takes the place of what was counted.
   * @returns as of when it was saved
   * @throws FurzeError INTERNAL when the bytes are damaged, or count something else
   */
  restore(bytes: Uint8Array): FeedbackPosition {
    const { description, floats } = decodeFrame(KIND, bytes);
    const {
      mark: position,
      types,
      newest,
      ever,
      decayed,
      slices,
      everSlices,
      halfLivesMs,
      ...settings
    } = description as Description;
    const isSame = JSON.stringify([settings, halfLivesMs]) === JSON.stringify([this.settings, HALF_LIVES_MS]);
    if (!isSame) refuseModel(KIND, 'it counts by another configuration');
    let next = 0;
    const take = (length: number) => floats.subarray(next, (next += length));
    const takeSlices = (lengths: readonly SliceLength[]) =>
      new Map(
        lengths.map(([number, length]): [number, PackedSlice] => [
          number,
          { rows: asWords(take(length)), counts: asWords(take(length)) },
        ]),
      );
    const saved: SavedTrends = {
      ever: asWords(take(ever)),
      decayed: decayed.map(({ total, zeroMs, length }) => ({
        total,
        zeroMs: zeroMs ?? Number.NaN,
        values: take(length),
      })),
      slices: takeSlices(slices),
      everSlices: takeSlices(everSlices),
      newest: { ...newest, leftMs: newest.leftMs ?? Number.NEGATIVE_INFINITY },
    };
    if (next !== floats.length) refuseModel(KIND, 'its size does not fit its shape');
    this.types.restore(types);
    this.trends.restore(saved);
    return position;
  }

  /**
   * Restores what was saved and applies what has come since.
   * @returns how many records that was; undefined where the store cannot tell: what was saved stays then
   * @throws FurzeError INTERNAL as `restore` does
   */
  resume(bytes: Uint8Array, reads: LocalReads): number | undefined {
    const position = this.restore(bytes);
    let records = 0;
    const isKnown = reads.replayFeedback(position, (feedback, sign) => {
      records += feedback.length;
      this.apply(feedback, sign);
    });
    return isKnown ? records : undefined;
  }
}

/**
 * A tally of all feedback as of now, out of one that was saved where that will do.
 * @returns undefined where the store cannot tell as of when it is
 */
export function renewTally(
  saved: Uint8Array | undefined,
  settings: TallySettings,
  reads: LocalReads,
  clock: Clock,
): Uint8Array | undefined {
  const position = reads.feedbackPosition;
  if (position === undefined) return undefined;
  const isPositive = typeTest(settings.positiveTypes, () => reads.feedbackTypes());
  if (saved !== undefined) {
    const tally = new Tally(settings, clock, isPositive);
    try {
      if (tally.resume(saved, reads) !== undefined) return tally.save(position);
    } catch {
      // Damaged, or of another configuration: everything is counted again.
    }
  }
  const tally = new Tally(settings, clock, isPositive);
  tally.countAll(reads);
  return tally.save(position);
}

/** Without the zeros at the end. */
function used<T extends Uint32Array | Float32Array>(values: T): T {
  let { length } = values;
  while (length > 0 && values[length - 1] === 0) length--;
  return values.subarray(0, length) as T;
}

function lengthsOf(slices: ReadonlyMap<number, PackedSlice>): SliceLength[] {
  return Array.from(slices, ([number, { rows }]) => [number, rows.length]);
}

function asWords({ buffer, byteOffset, length }: Float32Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length);
}
