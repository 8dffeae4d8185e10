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
/** Kind of what is kept of a user's own list. */
const OWN_KIND = 0;

type Page = Pick<RecommendQuery, 'n' | 'offset' | 'categories'>;

/** Terms on which an answer of a placement is kept. */
interface PlacedTerms {
  /** Entries that were asked for at most, where that is not what there are. */
  readonly n?: number;
  /** That of the user before the answer was begun: what was forgotten since is not kept. */
  readonly mark: number;
  /** Time at which its rules change by themselves. */
  readonly untilMs: number;
}

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
    this.slots = new AnswerSlots(Math.floor((options.bytesMax - textBytes) / SLOT_BYTES));
    this.texts = new AnswerTexts(textBytes);
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
    const isThere = slots.find(userId, effectiveUntil(nowMs, clockErrorMs));
    if (!isThere || wanted > slots.length || isStale(slots, nowMs)) return undefined;
    const isHead = offset === 0 && categories.length === 0 && this.areListable(n);
    const kept = texts.at(slots.slot);
    if (isHead && kept?.count === n) return kept.text;
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
    const kept = texts.at(slot);
    if (kept?.count === length) return kept.text;
    const text = this.compose({ n: length, offset: 0, categories: [] });
    if (text !== undefined) texts.put(slot, text, length);
    return text;
  }

  /** Token of the last answer of a placement that was found; undefined where none is kept with it. */
  get foundToken(): string | undefined {
    return this.texts.at(this.slots.slot)?.token;
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
   * @param history that the answer was made with
   */
  keepPlaced(
    place: number,
    userId: string,
    history: History,
    rows: readonly number[],
    source: string,
    { n = rows.length, mark, untilMs }: PlacedTerms,
  ): void {
    const { userRow, inEffectSinceMs: fromMs, nextEffectMs } = history;
    const isTooLong = n > SLOT_ROWS || userId.length > ID_LENGTH_MAX;
    const isNone = this.slots.count === 0 || rows.length === 0 || userRow < 0;
    if (isTooLong || isNone || mark !== this.markOf(userRow)) return;
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

  /**
   * Another list of the user is there. Answers of placements were made for their question and not out of the list: they stay,
   * for none is kept longer than a minute.
   */
  dropList(userRow: number): void {
    if (this.slots.count > 0 && userRow >= 0) this.slots.forget(userRow, OWN_KIND);
  }

  private forget(userRow: number): void {
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
  private compose({ n, offset, categories }: Page): string | undefined {
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

/** Tells the answers of placements to one user apart, and from the head of the user's list, which is of kind `OWN_KIND`. */
function placedKind(place: number, n: number): number {
  return place * (SLOT_ROWS + 1) + n + 1;
}

/** Bytes that a short text takes beside its characters: its header and the pointers around it. */
const TEXT_OVERHEAD_BYTES = 48;
/** Characters of a text that is worth its memory. */
const TEXT_LENGTH_MAX = 1024;

interface KeptText {
  readonly text: string;
  /** Rows that it is of. */
  readonly count: number;
  token?: string;
}

/** The last answer of each slot as text, with the token of one of a placement, as long as all of them together stay within their memory. */
class AnswerTexts {
  private readonly kept: (KeptText | undefined)[] = [];
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  at(slot: number): KeptText | undefined {
    return this.kept[slot];
  }

  put(slot: number, text: string, count: number): void {
    this.drop(slot);
    if (text.length > TEXT_LENGTH_MAX || !this.take(bytesOf(text))) return;
    // Slots come in no order, and an array with holes would turn into a dictionary.
    while (this.kept.length <= slot) this.kept.push(undefined);
    this.kept[slot] = { text, count };
  }

  putToken(slot: number, token: string): void {
    const kept = this.kept[slot];
    if (kept !== undefined && this.take(bytesOf(token))) kept.token = token;
  }

  drop(slot: number): void {
    const { text = '', token = '' } = this.kept[slot] ?? {};
    if (text === '') return;
    this.bytes -= bytesOf(text) + (token === '' ? 0 : bytesOf(token));
    this.kept[slot] = undefined;
  }

  /** @returns false where there is no room */
  private take(bytes: number): boolean {
    if (this.bytes + bytes > this.bytesMax) return false;
    this.bytes += bytes;
    return true;
  }
}

/** The engine keeps a text in one byte a character when all are Latin-1, else in two. */
function bytesOf(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0xff) return TEXT_OVERHEAD_BYTES + text.length * 2;
  }
  return TEXT_OVERHEAD_BYTES + text.length;
}
