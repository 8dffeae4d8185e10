import { type Clock, effectiveUntil } from '../../domain/clock.ts';
import type { UserList } from '../../store/cache-store.ts';
import type { ChangeSet, FeedbackColumns } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { History } from '../history/history.ts';
import { RowSet } from '../rows/row-set.ts';
import type { RecommendQuery } from '../sources/recommender.ts';
import { AnswerSlots, ID_LENGTH_MAX, SLOT_BYTES, SLOT_ROWS } from './answer-slots.ts';
import type { Dated } from './freshness.ts';

/** Share of the memory for answers as text; the rest is for lists. */
const TEXT_SHARE = 1 / 4;
/** Records of a commit looked at in one step. */
const STEP_RECORDS = 1024;
/** Longest time that an answer of a placement is kept, milliseconds: by then an item that came to pass its rules may stand in it. */
const PLACED_MS_MAX = 60_000;
/** Users who share a count of what was forgotten. */
const MARKS = 4096;
/** A slot and its number of rows in the text. */
const SLOT_AND_TEXT_BYTES = SLOT_BYTES + 1;

export interface AnswerCacheOptions {
  /** Memory at most; 0 for no cache. */
  readonly bytesMax: number;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  /** Feedback up to this much later than now is in effect, milliseconds. */
  readonly clockErrorMs: number;
  /** True for a list that somebody has to look after before it is served. */
  readonly isStale: (list: Dated, nowMs: number) => boolean;
  /** False for a user who is not here as of now; see `LocalReads.isKnown`. */
  readonly isKnown?: (userRow: number) => boolean;
}

/**
 * The heads of the lists of users who were asked for before, less what they have read: an answer takes one look-up
 * instead of a read of the user, of the feedback and of the list. It holds until the user's feedback changes, until
 * feedback of a later time takes effect and until the list is stale or another takes its place. What may change
 * otherwise, whether an item may be listed and its categories, is asked of the catalogue each time.
 */
export class AnswerCache {
  private readonly options: AnswerCacheOptions;
  private readonly slots: AnswerSlots;
  private readonly texts: AnswerTexts;
  private readonly seen = new RowSet();
  private readonly head = new Uint32Array(SLOT_ROWS);
  private readonly marks = new Uint32Array(MARKS);
  /** Sources of answers of placements, by slot. */
  private readonly sources: string[] = [];

  constructor(options: AnswerCacheOptions) {
    this.options = options;
    const textBytes = options.bytesMax * TEXT_SHARE;
    this.slots = new AnswerSlots(Math.floor((options.bytesMax - textBytes) / SLOT_AND_TEXT_BYTES));
    this.texts = new AnswerTexts(this.slots.count, textBytes);
  }

  /** The answer as JSON text, or undefined when it is not to be had from here. */
  find(userId: string, query: RecommendQuery): string | undefined {
    const { slots, texts } = this;
    const { n, offset, categories, writeBackType, scored } = query;
    const wanted = n + offset;
    if (slots.count === 0 || wanted === 0 || wanted > SLOT_ROWS || writeBackType !== undefined || scored)
      return undefined;
    const { clock, clockErrorMs, isStale } = this.options;
    const nowMs = clock();
    if (
      !slots.find(userId, effectiveUntil(nowMs, clockErrorMs)) ||
      wanted > slots.length ||
      isStale(slots, nowMs)
    )
      return undefined;
    const isHead = offset === 0 && categories.length === 0 && this.areListable(n);
    if (isHead && texts.countAt(slots.slot) === n) return texts.textAt(slots.slot);
    const text = this.compose(query);
    if (isHead) texts.put(slots.slot, text!, n);
    return text;
  }

  /** The row of the user whom the last answer was found for. */
  get foundUserRow(): number {
    return this.slots.userRow;
  }

  /**
   * Keeps the head of a list as it is at the moment.
   * @param history that of the list's user, loaded for the moment
   * @param accept tells which entries the user may be shown, as long as the feedback stays as it is
   */
  keep(userId: string, history: History, list: UserList, accept: (itemRow: number) => boolean): void {
    if (this.slots.count === 0 || userId.length > ID_LENGTH_MAX || !this.isKnown(history.userRow)) return;
    const { head, seen } = this;
    const { itemRows, madeMs, knowsMs } = list;
    seen.clear();
    let length = 0;
    for (let at = 0; at < itemRows.length && length < SLOT_ROWS; at++) {
      const row = itemRows[at]!;
      if (seen.has(row) || !accept(row)) continue;
      seen.add(row);
      head[length++] = row;
    }
    const { userRow, inEffectSinceMs: fromMs, nextEffectMs: untilMs } = history;
    const slot = this.slots.put(userId, userRow, head, length, { madeMs, knowsMs, fromMs, untilMs });
    this.texts.drop(slot);
  }

  /**
   * The answer of a placement that was kept for the user, or undefined when it is not to be had from here.
   * @param place number of the placement @param n entries that are asked for at most
   * @param mayStand false for a row that its rules let pass no more; asked once for each `version`
   */
  findPlaced(
    place: number,
    userId: string,
    n: number,
    { version, mayStand }: { readonly version: number; readonly mayStand: (row: number) => boolean },
  ): string | undefined {
    const { slots, texts } = this;
    const { clock, clockErrorMs } = this.options;
    if (slots.count === 0 || n > SLOT_ROWS) return undefined;
    const nowMs = clock();
    const isThere = slots.find(userId, effectiveUntil(nowMs, clockErrorMs), placedKind(place, n));
    // Whether the user's own list is behind says nothing of it: it was made for the question, and goes with the next write.
    if (!isThere || Math.abs(nowMs - slots.madeMs) > PLACED_MS_MAX) return undefined;
    // It may be shorter than `n` by its rules.
    const { words, rowsAt, length, slot } = slots;
    if (!this.areListable(length)) return undefined;
    if (slots.knowsMs !== version) {
      for (let at = rowsAt; at < rowsAt + length; at++) if (!mayStand(words[at]!)) return undefined;
      slots.noteKnown(version);
    }
    let text = texts.countAt(slot) === length ? texts.textAt(slot) : undefined;
    if (text === undefined) {
      text = this.compose({ n: length, offset: 0, categories: [] });
      if (text === undefined) return undefined;
      texts.put(slot, text, length);
    }
    return text;
  }

  /** Token of the last answer of a placement that was found; undefined where none is kept with it. */
  get foundToken(): string | undefined {
    return this.texts.tokenAt(this.slots.slot);
  }

  /** Keeps the token with that answer, as long as its text is kept. */
  keepToken(token: string): string {
    this.texts.putToken(this.slots.slot, token);
    return token;
  }

  /** Tells what made the last answer of a placement that was found. */
  get foundSource(): string {
    return this.sources[this.slots.slot] ?? '';
  }

  /** A number that changes when something of the user is forgotten; NaN, which is never the same, for one who is not here. */
  markOf(userRow: number): number {
    return this.isKnown(userRow) ? this.marks[userRow % MARKS]! : Number.NaN;
  }

  private isKnown(userRow: number): boolean {
    return this.options.isKnown?.(userRow) !== false;
  }

  /**
   * Keeps the whole answer of a placement for a user.
   * @param n entries that were asked for at most, where that is not what there are
   * @param mark of the user before the answer was begun: what was forgotten since is not kept
   * @param history that the answer was made with @param untilMs when its rules change by themselves
   */
  keepPlaced(
    place: number,
    userId: string,
    history: History,
    rows: readonly number[],
    source: string,
    {
      n = rows.length,
      mark,
      untilMs,
    }: { readonly n?: number; readonly mark: number; readonly untilMs: number },
  ): void {
    const { userRow, inEffectSinceMs: fromMs, nextEffectMs } = history;
    const isTooLong = n > SLOT_ROWS || userId.length > ID_LENGTH_MAX;
    if (
      this.slots.count === 0 ||
      isTooLong ||
      rows.length === 0 ||
      userRow < 0 ||
      mark !== this.markOf(userRow)
    )
      return;
    for (const [at, row] of rows.entries()) this.head[at] = row;
    const madeMs = this.options.clock();
    // Nothing is known of the rules yet.
    const time = { madeMs, knowsMs: Number.NaN, fromMs, untilMs: Math.min(untilMs, nextEffectMs) };
    const slot = this.slots.put(userId, userRow, this.head, rows.length, time, placedKind(place, n));
    while (this.sources.length <= slot) this.sources.push('');
    this.sources[slot] = source;
    this.texts.drop(slot);
  }

  /** Forgets the users whose feedback a commit changed, and those it deleted; a fraction of a millisecond a step. */
  *follow({
    added,
    removed,
    deletedUserRows,
  }: Pick<ChangeSet, 'added' | 'removed' | 'deletedUserRows'>): Generator<unknown> {
    if (this.slots.count === 0) return;
    yield* this.forgetUsers(added);
    yield* this.forgetUsers(removed);
    for (const userRow of deletedUserRows) this.forget(userRow);
  }

  /** Forgets a user: another list is there. */
  forget(userRow: number): void {
    if (this.slots.count === 0 || userRow < 0) return;
    this.marks[userRow % MARKS]!++;
    this.slots.forget(userRow);
  }

  /** True when none of the first `count` rows found is to be left out. */
  private areListable(count: number): boolean {
    const { catalogue } = this.options;
    const { words, rowsAt } = this.slots;
    for (let at = rowsAt; at < rowsAt + count; at++) if (!catalogue.isListable(words[at]!)) return false;
    return true;
  }

  /** The answer out of the rows found, undefined when they are too few. */
  private compose({
    n,
    offset,
    categories,
  }: Pick<RecommendQuery, 'n' | 'offset' | 'categories'>): string | undefined {
    const { catalogue } = this.options;
    const { words, rowsAt, length } = this.slots;
    const wanted = n + offset;
    let taken = 0;
    let json = '[';
    for (let at = rowsAt; at < rowsAt + length && taken < wanted; at++) {
      const row = words[at]!;
      if (!catalogue.isListable(row)) continue;
      if (categories.length > 0 && !catalogue.isInAll(row, categories)) continue;
      if (taken++ < offset) continue;
      json += taken > offset + 1 ? ',' : '';
      json += catalogue.jsonIdAt(row)!;
    }
    json += ']';
    return taken === wanted ? json : undefined;
  }

  private *forgetUsers({ length, userRows }: FeedbackColumns): Generator<unknown> {
    let last = -1;
    for (let at = 0; at < length; at++) {
      if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
      const userRow = userRows[at]!;
      // A batch is in the order of its users.
      if (userRow !== last) this.forget(userRow);
      last = userRow;
    }
  }
}

/** Tells the answers of placements to one user apart, and from the head of the user's list, which is of kind 0. */
function placedKind(place: number, n: number): number {
  return place * (SLOT_ROWS + 1) + n + 1;
}

/** Bytes that a short text takes beside its characters: its header and the pointer to it. */
const TEXT_OVERHEAD_BYTES = 24;
/** Characters of a text that is worth its memory. */
const TEXT_LENGTH_MAX = 1024;

/** The last answer of each slot as text, with the token of one of a placement, as long as all of them together stay within their memory. */
class AnswerTexts {
  private readonly texts: (string | undefined)[] = [];
  private readonly tokens: (string | undefined)[] = [];
  private readonly counts: Uint8Array;
  private readonly bytesMax: number;
  private bytes = 0;

  /** @param slots number of slots, numbered from 0 */
  constructor(slots: number, bytesMax: number) {
    this.counts = new Uint8Array(slots);
    this.bytesMax = bytesMax;
  }

  /** Number of rows that the slot's text is of, 0 for no text. */
  countAt(slot: number): number {
    return this.counts[slot]!;
  }

  textAt(slot: number): string | undefined {
    return this.texts[slot];
  }

  tokenAt(slot: number): string | undefined {
    return this.tokens[slot];
  }

  putToken(slot: number, token: string): void {
    const bytes = bytesOf(token);
    if (this.texts[slot] === undefined || this.bytes + bytes > this.bytesMax) return;
    while (this.tokens.length <= slot) this.tokens.push(undefined);
    this.tokens[slot] = token;
    this.bytes += bytes;
  }

  put(slot: number, text: string, count: number): void {
    this.drop(slot);
    const bytes = bytesOf(text);
    if (text.length > TEXT_LENGTH_MAX || this.bytes + bytes > this.bytesMax) return;
    // Slots come in no order, and an array with holes would turn into a dictionary.
    while (this.texts.length <= slot) this.texts.push(undefined);
    this.texts[slot] = text;
    this.counts[slot] = count;
    this.bytes += bytes;
  }

  drop(slot: number): void {
    const text = this.texts[slot];
    if (text === undefined) return;
    const token = this.tokens[slot];
    this.bytes -= bytesOf(text) + (token === undefined ? 0 : bytesOf(token));
    this.texts[slot] = undefined;
    if (token !== undefined) this.tokens[slot] = undefined;
    this.counts[slot] = 0;
  }
}

/** The engine keeps a text in one byte a character when all are Latin-1, else in two. */
function bytesOf(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0xff) return TEXT_OVERHEAD_BYTES + text.length * 2;
  }
  return TEXT_OVERHEAD_BYTES + text.length;
}
