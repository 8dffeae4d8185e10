import { randomInt } from 'node:crypto';
import type { Point } from '../../commit-effects.ts';
import { FeedbackColumns, type FeedbackPosition } from '../../data-store.ts';
import type { DataTables } from '../tables/data-tables.ts';
import { entriesFrom, firstKey, lastKey, readBytes, type Table } from '../tables/engine.ts';
import { readState, type StoreState, writeState } from '../tables/meta-table.ts';
import type { ChangeLog } from './change-log.ts';

/*
 * What the latest commits changed of feedback, so that a count of all of it that was saved can be brought up to date
 * without reading all of it again. An entry for each commit:
 *   key: number of the commit, 8 bytes big-endian
 *   value: f64 a random number | f64 records before it | f64 the commit from which on none is missing | u32 records | u32 0
 *          | f64 times (ms) | u32 user rows | u32 item rows | u16 types, the highest bit set where the record was removed
 */
const HEAD_BYTES = 32;
const RECORD_BYTES = 18;
const REMOVED = 0x8000;
const NONCE_MAX = 2 ** 48 - 1;

/** Records that are kept at least, if there were as many: 9 MB. */
const RECENT_RECORDS = 500_000;
/** Beyond this share more the oldest go, many at once. */
const SPARE_SHARE = 1 / 8;
/** Records handed out at a time. */
const STRETCH_RECORDS = 65_536;
/** Entries that go with one commit, at most. */
const TRIM_ENTRIES = 4096;

const FIRST = sequenceKey(0);
const LAST = new Uint8Array(8).fill(0xff);

interface Head {
  readonly nonce: number;
  readonly before: number;
  readonly wholeSince: number;
  readonly count: number;
}

interface Entry extends Omit<Head, 'nonce'> {
  /** 0 for none. */
  readonly number: number;
}

/** The writer's side: keeps what each of its transactions changes of feedback. */
export class RecentFeedback {
  private readonly table: Table;
  private readonly state: StoreState;
  private readonly recordsMax: number;
  private typesVersion: number;
  /** The last entry, and how many records came before the first, once they are known: nobody else writes. */
  private last: Entry | undefined;
  private oldest: number | undefined;

  /** @param state as of the transaction that is open, or the next */
  constructor(tables: DataTables, state: StoreState, recordsMax = RECENT_RECORDS) {
    this.table = tables.recentFeedback;
    this.state = state;
    this.recordsMax = recordsMax;
    this.typesVersion = state.typesVersion;
  }

  /**
   * Keeps what the logs of the open transaction say, in their order, and numbers them. The state, which may change, is the
   * caller's to write.
   * @param point the commit that they are of, where all nodes number commits alike
   * @param from place in the first log from which on what was added is of it
   */
  keep(logs: readonly ChangeLog[], point?: Point, from = 0): void {
    const { state, table } = this;
    // What was kept under a number that means another type from now on would be misread.
    const isWhole =
      state.typesVersion === this.typesVersion && !logs.some(({ isIncomplete }) => isIncomplete);
    this.typesVersion = state.typesVersion;
    const count = countOf(logs, from);
    if (count > 0 || !isWhole) {
      const last = this.last ?? lastEntry(table);
      const before = last.before + last.count;
      // Nobody can go on from what was before where something is missing.
      const follows = isWhole && last.number > 0 && last.number === state.feedbackCommits;
      const number = point ? numberAt(point) : Math.max(state.feedbackCommits, last.number) + 1;
      const wholeSince = follows ? last.wholeSince : number;
      const kept = isWhole ? count : 0;
      table.put(sequenceKey(number), pack(isWhole ? logs : [], before, wholeSince, point?.mark, from));
      state.feedbackCommits = number;
      this.last = { number, before, wholeSince, count: kept };
      this.trim(before + kept);
    }
    for (const log of logs) log.feedbackCommit = state.feedbackCommits;
  }

  /** @param total records ever kept, up to now */
  private trim(total: number): void {
    const { table, recordsMax, state } = this;
    this.oldest ??= headAt(table, firstSequence(table))?.before ?? total;
    if (total - this.oldest <= recordsMax * (1 + SPARE_SHARE)) return;
    this.oldest = undefined;
    const first = firstSequence(table);
    for (let number = first; number < Math.min(first + TRIM_ENTRIES, state.feedbackCommits); number++) {
      const head = headAt(table, number);
      if (head !== undefined && total - head.before - head.count < recordsMax) return;
      table.remove(sequenceKey(number));
    }
  }
}

/**
 * Notes the first position of a folder.
 * @param isOther true when what was kept means something else from now on, so that nobody may go on from before
 */
export function beginRecent(tables: DataTables, isOther = false): void {
  const { recentFeedback, engine } = tables;
  const state = readState(tables);
  const lastNumber = lastSequence(recentFeedback);
  const last = headAt(recentFeedback, lastNumber);
  if (last !== undefined && lastNumber === state.feedbackCommits && !isOther) return;
  const number = Math.max(lastNumber, state.feedbackCommits) + 1;
  engine.transact(() => {
    const before = last === undefined ? 0 : last.before + last.count;
    recentFeedback.put(sequenceKey(number), pack([], before, number));
    writeState(tables, { ...state, feedbackCommits: number });
  });
}

/** Notes the first position of a folder that numbers commits as all nodes do. @param point that of what it holds */
export function beginRecentAt(tables: DataTables, point: Point): void {
  const number = numberAt(point);
  tables.recentFeedback.put(sequenceKey(number), pack([], 0, number, point.mark));
  writeState(tables, { ...readState(tables), feedbackCommits: number });
}

/** The number of a commit of the shared database: above 0, which is none. */
function numberAt({ position }: Point): number {
  return position + 1;
}

/** The last position that is no later than a commit of the shared database; undefined where that is not known any more. */
export function readPositionAt(tables: DataTables, position: number): FeedbackPosition | undefined {
  const { recentFeedback } = tables;
  const key = lastKey(recentFeedback, sequenceKey(position + 1));
  const head = key && headAt(recentFeedback, numberOf(key));
  return head && { commit: numberOf(key), nonce: head.nonce };
}

/** See `LocalReads.feedbackPosition`. */
export function readPosition(tables: DataTables): FeedbackPosition | undefined {
  const { deletions, feedbackCommits } = readState(tables);
  if (deletions > 0 || feedbackCommits === 0) return undefined;
  const head = headAt(tables.recentFeedback, feedbackCommits);
  return head && { commit: feedbackCommits, nonce: head.nonce };
}

/** See `LocalReads.replayFeedback`. */
export function replay(
  tables: DataTables,
  since: FeedbackPosition,
  visit: (feedback: FeedbackColumns, sign: 1 | -1) => void,
): boolean {
  const { recentFeedback } = tables;
  const { deletions, feedbackCommits } = readState(tables);
  if (deletions > 0 || since.commit > feedbackCommits) return false;
  if (headAt(recentFeedback, since.commit)?.nonce !== since.nonce) return false;
  if (!(headAt(recentFeedback, feedbackCommits)!.wholeSince <= since.commit)) return false;
  const stretches = new Stretches(visit);
  const key = sequenceKey(since.commit);
  for (const { value } of entriesFrom(recentFeedback, key, Number.POSITIVE_INFINITY, true))
    unpack(value, stretches);
  stretches.end();
  return true;
}

/** Hands out records in stretches of those that were all added or all removed, whichever commits they are of. */
class Stretches {
  private readonly visit: (feedback: FeedbackColumns, sign: 1 | -1) => void;
  private sign: 1 | -1 = 1;
  private columns = new FeedbackColumns();

  constructor(visit: (feedback: FeedbackColumns, sign: 1 | -1) => void) {
    this.visit = visit;
  }

  push(userRow: number, itemRow: number, type: number, timeMs: number, sign: 1 | -1): void {
    if (sign !== this.sign || this.columns.length >= STRETCH_RECORDS) this.end();
    this.sign = sign;
    this.columns.push(userRow, itemRow, type, timeMs);
  }

  end(): void {
    if (this.columns.length > 0) this.visit(this.columns, this.sign);
    this.columns = new FeedbackColumns();
  }
}

function sequenceKey(number: number): Uint8Array {
  const key = new Uint8Array(8);
  new DataView(key.buffer).setBigUint64(0, BigInt(number));
  return key;
}

function numberOf(key: Uint8Array | undefined): number {
  if (key === undefined) return 0;
  return Number(new DataView(key.buffer, key.byteOffset).getBigUint64(0));
}

function firstSequence(table: Table): number {
  return numberOf(firstKey(table, FIRST));
}

/** 0 for none. */
function lastSequence(table: Table): number {
  return numberOf(lastKey(table, LAST));
}

function lastEntry(table: Table): Entry {
  const number = lastSequence(table);
  return { number, ...(headAt(table, number) ?? { before: 0, wholeSince: 0, count: 0 }) };
}

/** @returns undefined where there is no entry, or one of another layout, from which nobody can go on */
function headAt(table: Table, number: number): Head | undefined {
  const bytes = readBytes(table, sequenceKey(number));
  if (bytes === undefined || bytes.length < HEAD_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const count = view.getUint32(24, true);
  if (bytes.length !== HEAD_BYTES + count * RECORD_BYTES) return undefined;
  return {
    nonce: view.getFloat64(0, true),
    before: view.getFloat64(8, true),
    wholeSince: view.getFloat64(16, true),
    count,
  };
}

function pack(
  logs: readonly ChangeLog[],
  before: number,
  wholeSince: number,
  nonce = randomInt(NONCE_MAX),
  from = 0,
): Uint8Array {
  const count = logs.length > 0 ? countOf(logs, from) : 0;
  const bytes = new Uint8Array(HEAD_BYTES + count * RECORD_BYTES);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, nonce, true);
  view.setFloat64(8, before, true);
  view.setFloat64(16, wholeSince, true);
  view.setUint32(24, count, true);
  const timesMs = new Float64Array(bytes.buffer, HEAD_BYTES, count);
  const userRows = new Uint32Array(bytes.buffer, HEAD_BYTES + count * 8, count);
  const itemRows = new Uint32Array(bytes.buffer, HEAD_BYTES + count * 12, count);
  const types = new Uint16Array(bytes.buffer, HEAD_BYTES + count * 16, count);
  let next = 0;
  const append = (columns: FeedbackColumns, flag: number, first = 0) => {
    timesMs.set(columns.timesMs.subarray(first, columns.length), next);
    userRows.set(columns.userRows.subarray(first, columns.length), next);
    itemRows.set(columns.itemRows.subarray(first, columns.length), next);
    for (let at = first; at < columns.length; at++, next++) types[next] = columns.types[at]! | flag;
  };
  for (const [at, { removed, added }] of logs.entries()) {
    append(removed, REMOVED);
    append(added, 0, at === 0 ? from : 0);
  }
  return bytes;
}

function countOf(logs: readonly ChangeLog[], from: number): number {
  return logs.reduce((sum, { added, removed }) => sum + added.length + removed.length, -from);
}

function unpack(bytes: Uint8Array, stretches: Stretches): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const count = view.getUint32(24, true);
  const usersAt = HEAD_BYTES + count * 8;
  const itemsAt = usersAt + count * 4;
  const typesAt = itemsAt + count * 4;
  for (let at = 0; at < count; at++) {
    const type = view.getUint16(typesAt + at * 2, true);
    const timeMs = view.getFloat64(HEAD_BYTES + at * 8, true);
    const sign = (type & REMOVED) === 0 ? 1 : -1;
    const userRow = view.getUint32(usersAt + at * 4, true);
    stretches.push(userRow, view.getUint32(itemsAt + at * 4, true), type & ~REMOVED, timeMs, sign);
  }
}
