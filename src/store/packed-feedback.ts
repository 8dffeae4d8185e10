import type { Item, User } from '../domain/entities.ts';
import type { Journal } from './journals.ts';
import { decodeOccurrences, type Occurrences, type StoredFeedback } from './repeats.ts';

/** Feedback that is gone through. */
export interface FeedbackEffects extends Iterable<FeedbackEffect> {
  readonly length: number;
}

/** A feedback that is written, or removed where `timeMs` is NaN. */
export interface FeedbackEffect extends StoredFeedback {
  readonly userRow: number;
  readonly itemRow: number;
  readonly type: string;
  /** The same before, for who does not keep it; undefined where there was none. */
  readonly before?: Before | undefined;
}

/** A feedback as far as it is counted. */
export type Before = Omit<StoredFeedback, 'comment'>;

/** A part as it is packed: columns of fixed width as bytes, and the few comments and values beside their positions. */
export type Packed = [
  deletedUserIds: readonly string[],
  deletedItemIds: readonly string[],
  users: readonly (readonly [userRow: number, user: User])[],
  items: readonly (readonly [itemRow: number, item: Item])[],
  typeNames: readonly string[],
  rows: Uint8Array,
  types: Uint8Array,
  timesMs: Uint8Array,
  comments: readonly (readonly [at: number, comment: string])[],
  values: readonly (readonly [at: number, value: number])[],
  occurrences: readonly (readonly [at: number, bytes: Uint8Array])[],
  before: readonly PackedBefore[],
  isIncomplete: boolean,
  deletedUserRows: readonly number[],
  journals: readonly (readonly [name: string, journal: Journal])[],
  vectors: readonly VectorEffect[],
];
/** A vector of an item as it is now, little-endian f32; null for none any more. */
export type VectorEffect = readonly [itemRow: number, space: string, numbers: Uint8Array | null];

export type PackedBefore = readonly [
  at: number,
  timeMs: number,
  value: number,
  occurrences: Uint8Array | null,
];

/** Feedback of a commit in columns: most has nothing but its rows, type and time. */
export class PackedFeedback implements FeedbackEffects {
  /** User and item row of each. */
  readonly rows: Uint32Array;
  /** By place in `typeNames`. */
  readonly types: Uint16Array;
  readonly typeNames: readonly string[];
  /** NaN for what is removed. */
  readonly timesMs: Float64Array;
  private readonly comments: ReadonlyMap<number, string>;
  private readonly values: ReadonlyMap<number, number>;
  private readonly occurrences: ReadonlyMap<number, Uint8Array>;
  private readonly before: ReadonlyMap<number, PackedBefore>;

  constructor(packed: Packed) {
    const [, , , , typeNames, rows, types, timesMs, comments, values, occurrences, before] = packed;
    this.typeNames = typeNames;
    this.rows = new Uint32Array(ownBuffer(rows));
    this.types = new Uint16Array(ownBuffer(types));
    this.timesMs = new Float64Array(ownBuffer(timesMs));
    this.comments = mapOf(comments);
    this.values = mapOf(values);
    this.occurrences = mapOf(occurrences);
    this.before = mapOf(before.map((each) => [each[0], each] as const));
  }

  get length(): number {
    return this.types.length;
  }

  /** True where some took the place of other feedback, or removed it. */
  get hasPast(): boolean {
    return this.before.size > 0;
  }

  /** True where each is new, happened once and has no value. */
  get isPlain(): boolean {
    return this.values.size + this.occurrences.size + this.before.size === 0;
  }

  at(at: number): FeedbackEffect {
    const { rows, comments, values, occurrences, before } = this;
    // All of one form, with nothing looked up where there is nothing.
    return {
      userRow: rows[at * 2]!,
      itemRow: rows[at * 2 + 1]!,
      type: this.typeNames[this.types[at]!]!,
      timeMs: this.timesMs[at]!,
      comment: comments.size > 0 ? (comments.get(at) ?? '') : '',
      value: values.size > 0 ? (values.get(at) ?? 0) : 0,
      occurrences: occurrences.size > 0 ? unpackOccurrences(occurrences.get(at)) : undefined,
      before: before.size > 0 ? unpackBefore(before.get(at)) : undefined,
    };
  }

  *[Symbol.iterator](): Iterator<FeedbackEffect> {
    for (let at = 0; at < this.length; at++) yield this.at(at);
  }
}

const NONE: ReadonlyMap<number, never> = new Map<number, never>();

/** Most have none of a kind. */
function mapOf<T>(entries: readonly (readonly [at: number, value: T])[]): ReadonlyMap<number, T> {
  return entries.length === 0 ? NONE : new Map(entries);
}

function unpackOccurrences(bytes: Uint8Array | null | undefined): Occurrences | undefined {
  return bytes ? decodeOccurrences(bytes) : undefined;
}

function unpackBefore(packed: PackedBefore | undefined): Before | undefined {
  if (packed === undefined) return undefined;
  const [, timeMs, value, events] = packed;
  return { timeMs, value, occurrences: unpackOccurrences(events) };
}

/** The bytes at the start of a buffer of their own, so that they can be read as words. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
