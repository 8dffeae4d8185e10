import { performance } from 'node:perf_hooks';
import { FurzeError, messageOf } from '../../domain/furze-error.ts';
import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import { AppendGroups } from '../append-groups.ts';
import type { TableStats } from '../data-store.ts';
import {
  packShown,
  type ShownBounds,
  type ShownLog,
  type ShownRecord,
  type ShownToUser,
  USER_RECORDS_MAX,
  unpackShown,
} from '../shown-log.ts';
import {
  allEntries,
  describeTables,
  type Engine,
  entriesFrom,
  openEngine,
  type Table,
  tableBytes,
} from './tables/engine.ts';

const TABLES = ['shown', 'segments', 'owner'];
const OWNER_KEY = Buffer.from('identity');
/** Parts of the log that are dropped as a whole: each has at most this share of the time and of the bytes. */
const SEGMENT_SHARE = 1 / 32;
/** Entries that are written or removed in one turn. */
const STEP_ENTRIES = 128;
/** Entries that are read at once, which has to be short: all segments are read side by side. */
const READ_ENTRIES = 32;
const BACKWARDS = { reverse: true, exclusiveStart: true };
/** Users that a walk hands out at once. */
const SLICE_USERS = 256;
/** Time after which others get a turn, milliseconds. */
const TURN_MS = 1;
/** Bytes of a key behind the user's id: time, number. */
const TAIL_BYTES = 10;
/** Bytes of a key beside the user's id: segment, end of the id, and these. */
const KEY_BYTES = 5 + TAIL_BYTES;
/** Bytes that an entry takes beside its key and value, about. */
const ENTRY_BYTES = 16;

/** A stretch of the log in the order of arrival. */
interface Segment {
  readonly number: number;
  firstMs: number;
  lastMs: number;
  bytes: number;
  /** Number of the next record: those of one user and time have keys of their own, after a restart too. */
  count: number;
}

interface Entry {
  readonly key: Uint8Array;
  readonly record: ShownRecord;
}

/**
 * The log in an LMDB environment of its own, so that it is never in the way of the data. A key is a segment, the user's id, a time
 * and a number: a user's records of a segment lie together, and the oldest segment is dropped as a whole.
 */
export class LmdbShownLog implements ShownLog {
  private readonly engine: Engine;
  private readonly shown: Table;
  private readonly segmentTable: Table;
  private readonly bounds: ShownBounds;
  private readonly isFlushed: boolean;
  private readonly segments: Segment[];
  private readonly groups = new AppendGroups<ShownRecord>((records) => this.write(records));
  private lastNumber: number;
  private count: number;
  private failure: unknown;
  private pruning = Promise.resolve();

  /**
   * @param isFlushed whether records are on the disk, not in the system's memory alone, before they are acknowledged
   * @param identity of the data; what is of other data is removed, since its rows are of other items
   */
  constructor(path: string, bounds: ShownBounds, isFlushed: boolean, identity: string) {
    this.engine = openEngine(path, TABLES.length, TABLES, { batchesTurns: false });
    this.shown = this.engine.table('shown');
    this.segmentTable = this.engine.table('segments');
    this.claim(identity);
    this.bounds = bounds;
    this.isFlushed = isFlushed;
    this.segments = Array.from(
      allEntries(this.segmentTable),
      ({ value }) => JSON.parse(Buffer.from(value).toString()) as Segment,
    );
    const { number = 0, count = 0 } = this.segments.at(-1) ?? {};
    this.lastNumber = number;
    this.count = count;
  }

  private claim(identity: string): void {
    const owner = this.engine.table('owner');
    const own = Buffer.from(identity);
    const known = owner.getBinary(OWNER_KEY);
    if (known !== undefined && own.equals(known)) return;
    this.engine.transact(() => {
      for (const table of [this.shown, this.segmentTable]) void table.clearSync();
      void owner.put(OWNER_KEY, own);
    });
  }

  append(records: readonly ShownRecord[]): Promise<void> {
    return this.groups.add(records);
  }

  async forget(userId: string): Promise<void> {
    await this.groups.settled();
    this.engine.renewReads();
    // Of those that are being dropped, too.
    const numbers = Array.from(this.segmentTable.getKeys(), (key) => Buffer.from(key).readUInt32BE());
    for (const number of numbers) await this.removeRange(userStart(number, userId));
    await this.flush();
  }

  async ofUser(userId: string, most = USER_RECORDS_MAX): Promise<readonly ShownRecord[]> {
    const pause = this.pauses();
    const records: ShownRecord[] = [];
    for (const { number } of this.segments.toReversed()) {
      const end = userStart(number, userId);
      let start: Uint8Array | undefined = after(end);
      while (start !== undefined && records.length < most) {
        const limit = Math.min(READ_ENTRIES, most - records.length);
        const upTo = records.length + limit;
        const from: Uint8Array = start;
        for (const { key, value } of this.shown.getRange({ start: from, end, limit, ...BACKWARDS })) {
          records.push(entryOf(key, value).record);
          start = key;
        }
        if (records.length < upTo) start = undefined;
        await pause();
      }
    }
    return byTime(records.reverse());
  }

  async *walk(): AsyncGenerator<readonly ShownToUser[]> {
    const cursors = this.segments.map(({ number }) => new SegmentCursor(this.shown, number));
    const pause = this.pauses();
    let slice: ShownToUser[] = [];
    for (;;) {
      let first: Buffer | undefined;
      for (const cursor of cursors) {
        await pause();
        const { user } = cursor;
        if (user !== undefined && (first === undefined || Buffer.compare(user, first) < 0)) first = user;
      }
      if (first === undefined) break;
      const records: ShownRecord[] = [];
      for (const cursor of cursors)
        while (cursor.user?.equals(first) === true) {
          records.push(cursor.take());
          await pause();
          if (records.length > 2 * USER_RECORDS_MAX) records.splice(0, USER_RECORDS_MAX);
        }
      slice.push({ userId: first.toString(), records: byTime(records).slice(-USER_RECORDS_MAX) });
      if (slice.length < SLICE_USERS) continue;
      yield slice;
      slice = [];
    }
    if (slice.length > 0) yield slice;
  }

  async getTables(): Promise<readonly TableStats[]> {
    this.engine.renewReads();
    return describeTables({ shown: this.shown, segments: this.segmentTable });
  }

  prune(nowMs: number): Promise<void> {
    return this.afterPruning(async () => {
      await this.clampTimes(nowMs);
      await this.dropSegments(nowMs);
    });
  }

  async ping(): Promise<void> {
    if (this.failure !== undefined) throw unavailable(this.failure);
  }

  async close(): Promise<void> {
    await this.groups.settled();
    await this.pruning;
    await this.engine.close();
  }

  /** Reads as of now, and then as of the end of the last pause: a call of what is returned is one where a turn is over. */
  private pauses(): () => Promise<void> {
    this.engine.renewReads();
    let endMs = performance.now() + TURN_MS;
    return async () => {
      if (performance.now() < endMs) return;
      await turns.take();
      this.engine.renewReads();
      endMs = performance.now() + TURN_MS;
    };
  }

  private async write(records: readonly ShownRecord[]): Promise<void> {
    const nowMs = records.reduce((last, { timeMs }) => Math.max(last, timeMs), 0);
    const segment = this.segmentAt(nowMs);
    segment.lastMs = Math.max(segment.lastMs, nowMs);
    const written: Promise<void>[] = [];
    for (let from = 0; from < records.length; from += STEP_ENTRIES) {
      if (from > 0) await turns.take();
      const part = this.carryOut(() => this.put(records.slice(from, from + STEP_ENTRIES), segment));
      // It is told below, and may fail before.
      part.catch(() => {});
      written.push(part);
    }
    await Promise.all(written);
    await this.flush();
  }

  private put(records: readonly ShownRecord[], segment: Segment): void {
    for (const record of records) {
      const key = recordKey(segment.number, record, this.count++);
      const value = Buffer.from(packShown(record));
      segment.bytes += key.length + value.length + ENTRY_BYTES;
      this.shown.put(key, value);
    }
    segment.count = this.count;
    this.keep(segment);
  }

  private keep(segment: Segment): void {
    this.segmentTable.put(numberKey(segment.number), Buffer.from(JSON.stringify(segment)));
  }

  private segmentAt(nowMs: number): Segment {
    const { retentionMs, bytesMax } = this.bounds;
    const last = this.segments.at(-1);
    const isFull =
      last === undefined ||
      last.bytes > bytesMax * SEGMENT_SHARE ||
      nowMs - last.firstMs > retentionMs * SEGMENT_SHARE;
    if (!isFull) return last;
    // A number of its own: one that was the last may be dropped just now.
    const segment = { number: ++this.lastNumber, firstMs: nowMs, lastMs: nowMs, bytes: 0, count: 0 };
    this.segments.push(segment);
    // What is old goes by the clock of who prunes: that of a record may be ahead.
    const nothingOld = Number.NEGATIVE_INFINITY;
    if (last !== undefined) void this.afterPruning(() => this.dropSegments(nothingOld)).catch(() => {});
    return segment;
  }

  private afterPruning(action: () => Promise<void>): Promise<void> {
    const pruned = this.pruning.then(action);
    this.pruning = pruned.catch(() => {});
    return pruned;
  }

  /** A clock that went ahead for a while keeps nothing beyond its time. */
  private async clampTimes(nowMs: number): Promise<void> {
    for (const segment of this.segments.filter(({ lastMs }) => lastMs > nowMs)) {
      segment.firstMs = Math.min(segment.firstMs, nowMs);
      segment.lastMs = nowMs;
      await this.carryOut(() => this.keep(segment));
    }
  }

  private async dropSegments(nowMs: number): Promise<void> {
    for (;;) {
      this.engine.renewReads();
      const [oldest] = this.segments;
      if (oldest === undefined) return;
      const isOld = oldest.lastMs < nowMs - this.bounds.retentionMs;
      const isTooMuch = this.segments.length > 1 && tableBytes(this.shown) > this.bounds.bytesMax;
      if (!isOld && !isTooMuch) return;
      this.segments.shift();
      await this.removeRange(numberKey(oldest.number));
      await this.carryOut(() => this.segmentTable.remove(numberKey(oldest.number)));
    }
  }

  private async removeRange(start: Buffer): Promise<void> {
    for (;;) {
      this.engine.renewReads();
      const keys = [...this.shown.getKeys({ start, end: after(start), limit: STEP_ENTRIES })];
      if (keys.length === 0) return;
      await this.carryOut(() => {
        for (const key of keys) this.shown.remove(key);
      });
    }
  }

  private async carryOut(action: () => void): Promise<void> {
    if (this.failure !== undefined) throw unavailable(this.failure);
    try {
      await this.engine.enqueue(action);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** After a flush that fails it is not known what is on the disk, so nothing more is acknowledged until a restart. */
  private async flush(): Promise<void> {
    if (!this.isFlushed) return;
    try {
      await this.engine.flush();
    } catch (error) {
      this.failure = error;
      throw unavailable(error);
    }
  }
}

/** Walks a segment by user and time, some entries at a time, so that no snapshot is held. */
class SegmentCursor {
  private readonly table: Table;
  private readonly end: Buffer;
  private next: Uint8Array;
  private entries: Entry[] = [];
  private at = 0;
  private isAtEnd = false;

  constructor(table: Table, segment: number) {
    this.table = table;
    this.next = numberKey(segment);
    this.end = after(numberKey(segment));
  }

  /** Id of the user of the next record; undefined at the end. */
  get user(): Buffer | undefined {
    if (this.at === this.entries.length && !this.isAtEnd) this.read();
    const entry = this.entries[this.at];
    return entry && userOf(entry.key);
  }

  take(): ShownRecord {
    return this.entries[this.at++]!.record;
  }

  private read(): void {
    this.entries = [];
    this.at = 0;
    for (const { key, value } of entriesFrom(this.table, this.next, READ_ENTRIES, true)) {
      if (Buffer.compare(key, this.end) >= 0) break;
      this.entries.push(entryOf(key, value));
    }
    this.isAtEnd = this.entries.length < READ_ENTRIES;
    this.next = this.entries.at(-1)?.key ?? this.next;
  }
}

function numberKey(number: number): Buffer {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(number);
  return key;
}

/** The beginning of the keys of a user: no id has a zero byte. */
function userStart(segment: number, userId: string): Buffer {
  return Buffer.concat([numberKey(segment), Buffer.from(userId), Buffer.alloc(1)]);
}

function recordKey(segment: number, { userId, timeMs }: ShownRecord, count: number): Buffer {
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.writeUIntBE(Math.max(0, timeMs), 0, 6);
  tail.writeUInt32BE(count >>> 0, 6);
  return Buffer.concat([userStart(segment, userId), tail]);
}

function userOf(key: Uint8Array): Buffer {
  return Buffer.from(key.buffer, key.byteOffset + 4, key.length - KEY_BYTES);
}

function entryOf(key: Uint8Array, value: Uint8Array): Entry {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  const timeMs = bytes.readUIntBE(key.length - TAIL_BYTES, 6);
  return { key, record: unpackShown(userOf(key).toString(), timeMs, Buffer.from(value).toString()) };
}

/** The first key behind those that begin with `start`. */
function after(start: Buffer): Buffer {
  const end = Buffer.from(start);
  for (let at = end.length - 1; at >= 0; at--) {
    end[at] = end[at]! + 1;
    if (end[at] !== 0) break;
  }
  return end;
}

function byTime(records: ShownRecord[]): readonly ShownRecord[] {
  return records.sort((a, b) => a.timeMs - b.timeMs);
}

function unavailable(error: unknown): FurzeError {
  return new FurzeError('STORE_UNAVAILABLE', `What is shown cannot be stored: ${messageOf(error)}.`);
}
