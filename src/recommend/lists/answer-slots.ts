import { fnvWord, hashText } from '../../domain/hash.ts';

/** Item rows that a slot has room for. */
export const SLOT_ROWS = 50;
/** UTF-16 units of the longest user id that has room in a slot. */
export const ID_LENGTH_MAX = 40;

/*
 * A slot, 328 bytes in words of 4: f64 from | f64 until | f64 made | f64 knows | kind and 1, 0 where it is free | user row | length of id, rows |
 * next in chain | 20 words of id | 50 item rows. A look-up reads its first two or three cache lines.
 */
const FROM_AT = 0;
const UNTIL_AT = 1;
const MADE_AT = 2;
const KNOWS_AT = 3;
const KIND_AT = 8;
const USER_ROW_AT = 9;
const LENGTHS_AT = 10;
const NEXT_AT = 11;
const ID_AT = 12;
const ROWS_AT = ID_AT + ID_LENGTH_MAX / 2;
const SLOT_WORDS = ROWS_AT + SLOT_ROWS;

/** Slots that one hash is looked for in. */
const WAYS = 16;
/** Slots whose memory is taken together, when the first of them is used: 320 KiB. */
const PAGE_SLOTS = 1024;
/** Bytes of a slot with its share of the tables beside it: hash, head of a chain, turn of the bucket. */
export const SLOT_BYTES = SLOT_WORDS * 4 + 4 + 4 + 1;

interface Page {
  readonly words: Uint32Array;
  readonly times: Float64Array;
  readonly units: Uint16Array;
}

/**
 * Item rows by user id, in a table of fixed size: 16 slots a bucket, given away in turn. Nothing in it is an object, so
 * it costs the garbage collector nothing. Chains through the slots find a user's by its row.
 */
export class AnswerSlots {
  /** After a successful `find`: the item rows are `words[rowsAt]` and the `length - 1` behind it; the list is of `userRow`, was made at `madeMs` and knows of the items up to `knowsMs`. */
  words: Uint32Array = new Uint32Array(0);
  rowsAt = 0;
  length = 0;
  slot = 0;
  userRow = 0;
  madeMs = 0;
  knowsMs = 0;
  readonly count: number;
  private readonly bucketCount: number;
  private readonly hashes: Uint32Array;
  private readonly pages: (Page | undefined)[] = [];
  private readonly turns: Uint8Array;
  /** First slot of each chain and one, 0 for none; a chain holds the rows that are the same modulo `count`. */
  private readonly heads: Uint32Array;

  /** @param countMax slots at most */
  constructor(countMax: number) {
    this.bucketCount = Math.floor(countMax / WAYS);
    this.count = this.bucketCount * WAYS;
    this.hashes = new Uint32Array(this.count);
    this.turns = new Uint8Array(this.bucketCount);
    this.heads = new Uint32Array(this.count);
  }

  /** Looks up what is kept of a user. @param kind from 0, tells several of one user apart @returns false when there is nothing that is right at `nowMs` */
  find(userId: string, nowMs: number, kind = 0): boolean {
    const slot = this.slotOf(userId, kind, hashOf(userId, kind));
    if (slot < 0) return false;
    const { words, times } = this.pages[Math.floor(slot / PAGE_SLOTS)]!;
    const at = (slot % PAGE_SLOTS) * SLOT_WORDS;
    if (!(nowMs >= times[at / 2 + FROM_AT]! && nowMs < times[at / 2 + UNTIL_AT]!)) return false;
    this.words = words;
    this.rowsAt = at + ROWS_AT;
    this.length = words[at + LENGTHS_AT]! & 0xffff;
    this.slot = slot;
    this.userRow = words[at + USER_ROW_AT]!;
    this.madeMs = times[at / 2 + MADE_AT]!;
    this.knowsMs = times[at / 2 + KNOWS_AT]!;
    return true;
  }

  /** Puts another number in the place of `knowsMs` of the slot that was found. */
  noteKnown(knowsMs: number): void {
    const { times } = this.pages[Math.floor(this.slot / PAGE_SLOTS)]!;
    times[((this.slot % PAGE_SLOTS) * SLOT_WORDS) / 2 + KNOWS_AT] = knowsMs;
  }

  /**
   * @param userId at most `ID_LENGTH_MAX` UTF-16 units
   * @param length how many of `itemRows` count, at most `SLOT_ROWS`
   * @param time from (inclusive) and until (exclusive) when the rows are right, when the list was made, and up to when it knows of new items, milliseconds
   * @returns the number of the slot
   */
  put(
    userId: string,
    userRow: number,
    itemRows: Uint32Array,
    length: number,
    time: {
      readonly fromMs: number;
      readonly untilMs: number;
      readonly madeMs: number;
      readonly knowsMs: number;
    },
    kind = 0,
  ): number {
    const hash = hashOf(userId, kind);
    let slot = this.slotOf(userId, kind, hash);
    if (slot < 0) slot = this.takeSlot(hash);
    const page = (this.pages[Math.floor(slot / PAGE_SLOTS)] ??= createPage());
    const { words, times, units } = page;
    const at = (slot % PAGE_SLOTS) * SLOT_WORDS;
    if (words[at + KIND_AT] !== 0) this.unchain(slot);
    this.hashes[slot] = hash;
    times[at / 2 + FROM_AT] = time.fromMs;
    times[at / 2 + UNTIL_AT] = time.untilMs;
    times[at / 2 + MADE_AT] = time.madeMs;
    times[at / 2 + KNOWS_AT] = time.knowsMs;
    words[at + KIND_AT] = kind + 1;
    words[at + LENGTHS_AT] = (userId.length << 16) | length;
    for (let i = 0; i < userId.length; i++) units[(at + ID_AT) * 2 + i] = userId.charCodeAt(i);
    for (let i = 0; i < length; i++) words[at + ROWS_AT + i] = itemRows[i]!;
    words[at + USER_ROW_AT] = userRow;
    const chain = userRow % this.count;
    words[at + NEXT_AT] = this.heads[chain]!;
    this.heads[chain] = slot + 1;
    return slot;
  }

  /** @param kind of what is forgotten; all kinds where it is not given */
  forget(userRow: number, kind?: number): void {
    let link = this.heads[userRow % this.count]!;
    while (link !== 0) {
      const slot = link - 1;
      link = this.wordOf(slot, NEXT_AT);
      if (this.wordOf(slot, USER_ROW_AT) !== userRow) continue;
      if (kind !== undefined && this.wordOf(slot, KIND_AT) !== kind + 1) continue;
      this.unchain(slot);
      this.setWord(slot, KIND_AT, 0);
    }
  }

  private slotOf(userId: string, kind: number, hash: number): number {
    const first = (hash % this.bucketCount) * WAYS;
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.hashes[slot] === hash && this.holds(slot, userId, kind)) return slot;
    }
    return -1;
  }

  private holds(slot: number, userId: string, kind: number): boolean {
    const page = this.pages[Math.floor(slot / PAGE_SLOTS)];
    if (page === undefined) return false;
    const { words, units } = page;
    const at = (slot % PAGE_SLOTS) * SLOT_WORDS;
    const { length } = userId;
    if (words[at + KIND_AT] !== kind + 1 || words[at + LENGTHS_AT]! >>> 16 !== length) return false;
    const idAt = (at + ID_AT) * 2;
    for (let i = 0; i < length; i++) if (units[idAt + i] !== userId.charCodeAt(i)) return false;
    return true;
  }

  /** A slot of the bucket that does not count, or else the one whose turn it is. */
  private takeSlot(hash: number): number {
    const bucket = hash % this.bucketCount;
    const first = bucket * WAYS;
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.wordOf(slot, KIND_AT) === 0) return slot;
    }
    const turn = this.turns[bucket]!;
    this.turns[bucket] = (turn + 1) % WAYS;
    return first + turn;
  }

  private unchain(slot: number): void {
    const next = this.wordOf(slot, NEXT_AT);
    const chain = this.wordOf(slot, USER_ROW_AT) % this.count;
    let link = this.heads[chain]!;
    if (link === slot + 1) {
      this.heads[chain] = next;
      return;
    }
    while (this.wordOf(link - 1, NEXT_AT) !== slot + 1) link = this.wordOf(link - 1, NEXT_AT);
    this.setWord(link - 1, NEXT_AT, next);
  }

  /** 0 where no page is. */
  private wordOf(slot: number, word: number): number {
    return this.pages[Math.floor(slot / PAGE_SLOTS)]?.words[(slot % PAGE_SLOTS) * SLOT_WORDS + word] ?? 0;
  }

  private setWord(slot: number, word: number, value: number): void {
    this.pages[Math.floor(slot / PAGE_SLOTS)]!.words[(slot % PAGE_SLOTS) * SLOT_WORDS + word] = value;
  }
}

function hashOf(userId: string, kind: number): number {
  const hash = hashText(userId);
  return kind === 0 ? hash : fnvWord(hash, kind) >>> 0;
}

function createPage(): Page {
  const buffer = new ArrayBuffer(PAGE_SLOTS * SLOT_WORDS * 4);
  return { words: new Uint32Array(buffer), times: new Float64Array(buffer), units: new Uint16Array(buffer) };
}
