import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** User row, item row, type and high bits of the time, low word of the time, note. */
const RECORD_WORDS = 5;
const RECORD_BYTES = RECORD_WORDS * 4;
const DIGIT_BITS = 16;
const DIGITS = 2 ** DIGIT_BITS;
/** Records that are gathered before they are written to the file. */
const PIECE_RECORDS = 16_384;

/** Number of records in memory. */
export interface RunSizes {
  readonly recordsMax: number;
  /** Bytes in which all runs are read while they are merged; each has at least one page. */
  readonly mergeBytes: number;
}

/** 42 MB, and 16 more while they are sorted. */
const SIZES: RunSizes = { recordsMax: 2 ** 21, mergeBytes: 2 ** 25 };
const READ_RECORDS_MIN = 205;

/** Sorted records, in the file or, the last, in memory. */
interface Run {
  readonly source: number;
  readonly count: number;
  /** Copies records from the `from`th on; `words` has room for so many, and there are so many. */
  readonly copy: (from: number, words: Uint32Array) => void;
}

/**
 * Sorts any number of feedback by user and item in bounded memory (external merge sort; Knuth, The Art of Computer Programming
 * vol. 3, 5.4): what fits in memory is sorted and written to a file, a run, and in the end all runs are merged. Those of a pair
 * stay in the order in which they came.
 */
export class SortedRuns {
  private readonly sizes: RunSizes;
  private readonly file: number;
  private readonly records: Uint32Array;
  private count = 0;
  private runs: Run[] = [];
  private fileRecords = 0;
  private source = 0;
  private sourceAt = { runs: 0, fileRecords: 0 };

  /** @param folder where the file of runs is made */
  constructor(folder: string, sizes = SIZES) {
    this.sizes = sizes;
    this.file = openSync(join(folder, 'runs'), 'w+');
    this.records = new Uint32Array(sizes.recordsMax * RECORD_WORDS);
  }

  get length(): number {
    return this.fileRecords + this.count;
  }

  /** Begins another source, such as a file. @returns its number, counted up from 1 */
  beginSource(): number {
    this.spill();
    this.sourceAt = { runs: this.runs.length, fileRecords: this.fileRecords };
    return ++this.source;
  }

  /** Forgets what the present source has brought. */
  dropSource(): void {
    this.count = 0;
    this.runs.length = this.sourceAt.runs;
    this.fileRecords = this.sourceAt.fileRecords;
  }

  /** @param note any number below 2 ** 32 */
  add(userRow: number, itemRow: number, typeAndTime: number, timeLow: number, note: number): void {
    if (this.count === this.sizes.recordsMax) this.spill();
    const { records } = this;
    const at = this.count++ * RECORD_WORDS;
    records[at] = userRow;
    records[at + 1] = itemRow;
    records[at + 2] = typeAndTime;
    records[at + 3] = timeLow;
    records[at + 4] = note;
  }

  /** Goes through all records in order; nothing may be added from then on. */
  merge(): MergedRuns {
    const runs = this.count > 0 ? [...this.runs, this.sortInMemory()] : this.runs;
    const share = Math.floor(this.sizes.mergeBytes / RECORD_BYTES / Math.max(runs.length, 1));
    return new MergedRuns(runs, Math.max(share, READ_RECORDS_MIN));
  }

  close(): void {
    closeSync(this.file);
  }

  private sortInMemory(): Run {
    const { records, count, source } = this;
    const order = sortedOrder(records, count);
    const copy = (from: number, words: Uint32Array) => {
      for (let to = 0, at = from; to < words.length; to += RECORD_WORDS, at++) {
        const record = order[at]! * RECORD_WORDS;
        for (let word = 0; word < RECORD_WORDS; word++) words[to + word] = records[record + word]!;
      }
    };
    return { source, count, copy };
  }

  /** Writes what is in memory behind the other runs. */
  private spill(): void {
    if (this.count === 0) return;
    const { source, count, copy } = this.sortInMemory();
    const first = this.fileRecords;
    for (let from = 0; from < count; from += PIECE_RECORDS) {
      const words = new Uint32Array(Math.min(PIECE_RECORDS, count - from) * RECORD_WORDS);
      copy(from, words);
      writeAll(this.file, bytesOf(words), (first + from) * RECORD_BYTES);
    }
    this.runs.push({
      source,
      count,
      copy: (from, words) => readAll(this.file, bytesOf(words), (first + from) * RECORD_BYTES),
    });
    this.fileRecords += count;
    this.count = 0;
  }
}

/** The records of all runs in their order, one after the other. */
export class MergedRuns {
  /** The record at hand. */
  userRow = 0;
  itemRow = 0;
  typeAndTime = 0;
  timeLow = 0;
  note = 0;
  source = 0;
  /** A binary heap: the run whose next record is first stands at its head. */
  private readonly heap: RunReader[];

  constructor(runs: readonly Run[], readRecords: number) {
    this.heap = runs.map((run, rank) => new RunReader(run, rank, readRecords));
    for (let at = (this.heap.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  /** Goes on to the next record. @returns false when there is none */
  next(): boolean {
    const { heap } = this;
    const head = heap[0];
    if (head === undefined) return false;
    const { words, at, source } = head;
    this.userRow = words[at]!;
    this.itemRow = words[at + 1]!;
    this.typeAndTime = words[at + 2]!;
    this.timeLow = words[at + 3]!;
    this.note = words[at + 4]!;
    this.source = source;
    if (!head.advance()) {
      const last = heap.pop()!;
      if (heap.length > 0) heap[0] = last;
    }
    this.sink(0);
    return true;
  }

  private sink(from: number): void {
    const { heap } = this;
    for (let at = from; ; ) {
      let child = at * 2 + 1;
      if (child >= heap.length) return;
      if (child + 1 < heap.length && heap[child + 1]!.isBefore(heap[child]!)) child++;
      if (heap[at]!.isBefore(heap[child]!)) return;
      [heap[at], heap[child]] = [heap[child]!, heap[at]!];
      at = child;
    }
  }
}

class RunReader {
  readonly source: number;
  words: Uint32Array;
  at = 0;
  private readonly run: Run;
  private readonly rank: number;
  private taken = 0;

  constructor(run: Run, rank: number, readRecords: number) {
    this.run = run;
    this.source = run.source;
    this.rank = rank;
    this.words = new Uint32Array(Math.min(readRecords, run.count) * RECORD_WORDS);
    this.fill();
  }

  /** @returns false when there is no further record */
  advance(): boolean {
    this.at += RECORD_WORDS;
    return this.at < this.words.length || this.fill();
  }

  /** Of equal pairs that of the earlier run comes first. */
  isBefore(other: RunReader): boolean {
    const user = this.words[this.at]! - other.words[other.at]!;
    if (user !== 0) return user < 0;
    const item = this.words[this.at + 1]! - other.words[other.at + 1]!;
    return item === 0 ? this.rank < other.rank : item < 0;
  }

  private fill(): boolean {
    const left = (this.run.count - this.taken) * RECORD_WORDS;
    if (left < this.words.length) this.words = this.words.subarray(0, left);
    if (left > 0) this.run.copy(this.taken, this.words);
    this.taken += this.words.length / RECORD_WORDS;
    this.at = 0;
    return left > 0;
  }
}

/** The places of records by user and item; equal ones stay as they are (radix sort from the lowest digit). */
function sortedOrder(records: Uint32Array, count: number): Uint32Array {
  let order = new Uint32Array(count);
  let other = new Uint32Array(count);
  for (let at = 0; at < count; at++) order[at] = at;
  const ends = new Uint32Array(DIGITS + 1);
  for (const word of [1, 0]) {
    for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
      ends.fill(0);
      for (let at = word; at < count * RECORD_WORDS; at += RECORD_WORDS)
        ends[((records[at]! >>> shift) & (DIGITS - 1)) + 1]!++;
      if (ends[1] === count) continue;
      for (let digit = 1; digit <= DIGITS; digit++) ends[digit]! += ends[digit - 1]!;
      for (let at = 0; at < count; at++) {
        const record = order[at]!;
        other[ends[(records[record * RECORD_WORDS + word]! >>> shift) & (DIGITS - 1)]!++] = record;
      }
      [order, other] = [other, order];
    }
  }
  return order;
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Writes all the bytes. @throws Error of the system, such as ENOSPC */
export function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, position + at);
}

/** Fills the bytes as far as the file goes. */
export function readAll(file: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, bytes.length - at, position + at);
    if (read === 0) return;
    at += read;
  }
}
