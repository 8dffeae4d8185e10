import type { Clock } from '../../domain/clock.ts';
import { bitWords, clearBit, setBit } from '../../memory/bits.ts';
import { grown } from '../../memory/growing-u32.ts';
import { filledInSteps, sharedF64, sharedU32 } from '../../memory/shared-arrays.ts';

/** States of a row: without an item, with one that may be listed, with a hidden one. */
const ABSENT = 0;
const VISIBLE = 1;
const HIDDEN = 2;

const FIRST_ROWS = 1024;
/** Rows that are looked at for being out of date at a time: some ten microseconds. */
const SWEPT_ROWS = 4096;
/** Rows whose bits are made between two pauses: some tenths of a millisecond. */
const STEP_ROWS = 65_536;

/** Which items may stand in a list: those that exist, are not hidden and not out of date. */
export class ListableItems {
  /** One of the states above by row. */
  private states = new Uint8Array(FIRST_ROWS);
  private timesMs = new Float64Array(FIRST_ROWS).fill(Number.NaN);
  /** Rows that may be listed unless they are out of date; those are taken out some at a time. */
  private visible = new Uint32Array(bitWords(FIRST_ROWS));
  private sweptRows = 0;
  private readonly clock: Clock;
  private readonly ttlMs: number;

  /** @param ttlMs an item whose timestamp is older than this is not listed any more; Infinity for never */
  constructor(clock: Clock, ttlMs: number) {
    this.clock = clock;
    this.ttlMs = ttlMs;
  }

  /** @param timestampMs milliseconds since the epoch, NaN for none */
  put(row: number, isHidden: boolean, timestampMs: number): void {
    if (row >= this.states.length) this.grow(row);
    this.states[row] = isHidden ? HIDDEN : VISIBLE;
    this.timesMs[row] = timestampMs;
    if (this.has(row)) setBit(this.visible, row);
    else clearBit(this.visible, row);
  }

  delete(row: number): void {
    this.states[row] = ABSENT;
    this.timesMs[row] = Number.NaN;
    clearBit(this.visible, row);
  }

  has(row: number): boolean {
    if (this.states[row] !== VISIBLE) return false;
    return this.ttlMs === Number.POSITIVE_INFINITY || !(this.timesMs[row]! < this.clock() - this.ttlMs);
  }

  isHidden(row: number): boolean {
    return this.states[row] === HIDDEN;
  }

  /** Milliseconds since the epoch, NaN for none. */
  timestampMsAt(row: number): number {
    return this.timesMs[row] ?? Number.NaN;
  }

  /**
   * As bits, and some that are out of date since a short time: each call takes out of these what a few thousand rows have.
   * In use, not to be changed.
   */
  bits(rowCount: number): Uint32Array {
    if (this.ttlMs !== Number.POSITIVE_INFINITY && rowCount > 0) {
      const end = this.sweptRows + Math.min(SWEPT_ROWS, rowCount);
      for (let at = this.sweptRows; at < end; at++) {
        const row = at % rowCount;
        if (!this.has(row)) clearBit(this.visible, row);
      }
      this.sweptRows = end % rowCount;
    }
    return this.visible;
  }

  /**
   * As bits of this moment, row i in bit i & 31 of word i >> 5, in shared memory for the workers. Pauses now and then; what
   * changes meanwhile may be in it or not.
   */
  *sharedBits(rowCount: number): Generator<undefined, Uint32Array<SharedArrayBuffer>> {
    const bits = sharedU32(bitWords(rowCount));
    const sinceMs = this.clock() - this.ttlMs;
    for (let from = 0; from < rowCount; from += STEP_ROWS) {
      if (from > 0) yield;
      const { states, timesMs } = this;
      const end = Math.min(rowCount, from + STEP_ROWS);
      for (let row = from; row < end; row++)
        if (states[row] === VISIBLE && !(timesMs[row]! < sinceMs)) setBit(bits, row);
    }
    return bits;
  }

  /** A copy of the timestamps by row, NaN for none, in shared memory for the workers; as `sharedBits`. */
  sharedTimes(rowCount: number): Generator<undefined, Float64Array<SharedArrayBuffer>> {
    return filledInSteps(sharedF64(rowCount), () => this.timesMs);
  }

  private grow(row: number): void {
    const { length } = this.states;
    this.states = grown(this.states, row + 1);
    this.timesMs = grown(this.timesMs, row + 1).fill(Number.NaN, length);
    this.visible = grown(this.visible, bitWords(this.states.length));
  }
}
