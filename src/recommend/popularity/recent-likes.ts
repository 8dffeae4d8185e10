import { ascendingPlaces } from '../../memory/ascending-places.ts';
import { grown } from '../../memory/growing-u32.ts';
import type { SparseSums } from '../../memory/sparse-sums.ts';
import { type LikeColumns, secondOf } from './like-columns.ts';

/** Likes kept at least, once there are so many; up to twice as many are. A power of two. */
export const RECENT_LIKES = 32_768;
/** Likes at most, each with a place below. */
export const PLACES = 2 * RECENT_LIKES;
/** Where there is no room, the oldest of this share go, as one in so many tells which these are; no more are kept. */
const DROPPED_SHARE = 3 / 8;
const SAMPLED_EVERY = 16;
const KEPT_MAX = PLACES * (3 / 4);
/** The end of a chain, and a like that was taken back. */
const NONE = 0xffffffff;
/** Likes that are put in order in one step. */
const STEP_LIKES = 2048;
/** The user's latest likes that are looked at, of each the latest users who liked it, and of each of them the latest likes. */
const LIKES_MAX = 20;
export const USERS_MAX = 50;
const LIKES_OF_USER_MAX = 20;
/** Likes of a user of which the latest are taken by their times. */
const LOOKED_AT = 64;
/** Latest likes that are looked at: one in `CHOSEN_OF` of their givers stands for everybody. */
const LATEST = 2048;
const CHOSEN_OF = 16;
/** Share of all likes beyond which the mean place of an item's likes counts as recent; it is half for an item that is liked all the time. */
const JUST_NOW_SHARE = 7 / 8;
/** Likes from which on the items liked together with an item are kept until its next like; the bound on them, 12 bytes each. */
const KEPT_FROM = 8;
const KEPT_COMPANIONS = 2 ** 19;

/** Items liked together with an item, in the order in which they are summed. */
interface Companions {
  readonly itemRows: Uint32Array;
  readonly weights: Float64Array;
}

/**
 * The latest likes of all, which tell at once what goes with what: an item that many people of one taste have just liked
 * goes with what else they liked, though no model knows it. About two megabytes, however many users there are.
 */
export class RecentLikes {
  private readonly userRows = new Uint32Array(PLACES);
  private readonly itemRows = new Uint32Array(PLACES);
  private readonly seconds = new Uint32Array(PLACES);
  /** The place of the like before with the same hash of user or of item. */
  private readonly beforeOfUser = new Uint32Array(PLACES);
  private readonly beforeOfItem = new Uint32Array(PLACES);
  private readonly lastOfUser = new Uint32Array(PLACES).fill(NONE);
  private readonly lastOfItem = new Uint32Array(PLACES).fill(NONE);
  /** Likes that users of a hash took back. */
  private readonly takenBack = new Uint32Array(PLACES);
  /** Likes here by item row, and the sums of their places among those not taken back, unless these are to be counted anew. */
  private counts = new Uint32Array(1024);
  private placeSums = new Float64Array(1024);
  private areCounted = true;
  private likesTakenBack = 0;
  private length = 0;
  /** Likes before this place are in chains and counts. */
  private linked = 0;
  private newestSecond = 0;
  private isOutOfOrder = false;
  /** What came while likes are being put in order. */
  private meanwhile: ((ordered: RecentLikes) => void)[] | undefined;
  /** Likes of before have been dropped. */
  private droppedUntil = 0;
  /** Changes where old likes are dropped. */
  era = 0;
  private readonly kept = new Map<number, Companions>();
  private keptLength = 0;
  private anybody: readonly number[] | undefined;
  private readonly usersFound = new Uint32Array(USERS_MAX);
  private readonly itemsFound = new Uint32Array(LIKES_OF_USER_MAX);
  /** Room for the most that goes with an item. */
  private readonly found = {
    itemRows: new Uint32Array(USERS_MAX * LIKES_OF_USER_MAX),
    weights: new Float64Array(USERS_MAX * LIKES_OF_USER_MAX),
  };

  /**
   * Takes in a like, unless later ones had to make room already.
   * @param timeMs milliseconds since the epoch
   */
  add(userRow: number, itemRow: number, timeMs: number): void {
    const second = secondOf(timeMs);
    if (second < this.droppedUntil) return;
    this.meanwhile?.push((ordered) => ordered.add(userRow, itemRow, timeMs));
    if (this.length === PLACES) this.dropOldest();
    this.push(userRow, itemRow, second);
  }

  /** Puts what was added in chains and counts. Whoever asks comes first: of many that come unasked most make room again before. */
  link(): void {
    const { userRows, itemRows, beforeOfUser, beforeOfItem, lastOfUser, lastOfItem, length } = this;
    if (this.linked === length) return;
    this.forget();
    for (let at = this.linked; at < length; at++) {
      const itemRow = itemRows[at]!;
      const [ofUser, ofItem] = [bucket(userRows[at]!), bucket(itemRow)];
      beforeOfUser[at] = lastOfUser[ofUser]!;
      beforeOfItem[at] = lastOfItem[ofItem]!;
      lastOfUser[ofUser] = at;
      lastOfItem[ofItem] = at;
      if (itemRow >= this.counts.length) {
        this.counts = grown(this.counts, itemRow + 1);
        this.placeSums = grown(this.placeSums, itemRow + 1);
      }
      this.counts[itemRow]!++;
      this.placeSums[itemRow]! += at - this.likesTakenBack;
    }
    this.linked = length;
  }

  /**
   * Takes a like back, of several of the pair the one of that time. Looks along both chains in step: one may be very long.
   * @param timeMs milliseconds since the epoch
   */
  remove(userRow: number, itemRow: number, timeMs: number): void {
    this.link();
    this.meanwhile?.push((ordered) => ordered.remove(userRow, itemRow, timeMs));
    const second = secondOf(timeMs);
    let ofUser = this.lastOfUser[bucket(userRow)]!;
    let ofItem = this.lastOfItem[bucket(itemRow)]!;
    let found = NONE;
    while (ofUser !== NONE && ofItem !== NONE && this.seconds[found] !== second) {
      for (const at of [ofUser, ofItem])
        if (this.userRows[at] === userRow && this.itemRows[at] === itemRow)
          if (found === NONE || this.seconds[at] === second) found = at;
      ofUser = this.beforeOfUser[ofUser]!;
      ofItem = this.beforeOfItem[ofItem]!;
    }
    if (found === NONE) return;
    this.itemRows[found] = NONE;
    if (--this.counts[itemRow]! === 0) this.placeSums[itemRow] = 0;
    this.areCounted = false;
    this.likesTakenBack++;
    this.takenBack[bucket(userRow)]!++;
    this.forget();
  }

  /**
   * Sums, over the latest likes of a user, the cosine of who liked both, as far as these likes tell (Sarwar et al. 2001,
   * section 3.1.1).
   * @param liked item rows, the latest first
   * @param sums takes the sum of each item that goes with any of them
   */
  sumUp(liked: readonly number[], sums: SparseSums): void {
    this.link();
    sums.clear();
    for (let place = 0; place < liked.length && place < LIKES_MAX; place++) {
      const { itemRows, weights } = this.companionsOf(liked[place]!);
      for (let at = 0; at < itemRows.length; at++) sums.add(itemRows[at]!, weights[at]!);
    }
  }

  private companionsOf(like: number): Companions {
    const count = this.counts[like] ?? 0;
    if (count < KEPT_FROM) return this.findCompanions(like, count);
    const known = this.kept.get(like);
    if (known !== undefined) return known;
    const { itemRows, weights } = this.findCompanions(like, count);
    const companions = { itemRows: itemRows.slice(), weights: weights.slice() };
    this.keptLength += itemRows.length;
    this.kept.set(like, companions);
    for (const [other, { itemRows: rows }] of this.kept) {
      if (this.keptLength <= KEPT_COMPANIONS) break;
      this.kept.delete(other);
      this.keptLength -= rows.length;
    }
    return companions;
  }

  /** Valid until the next call. */
  private findCompanions(like: number, count: number): Companions {
    const { counts, found } = this;
    // Of an item with more users than are looked at, these stand for all.
    const weight = Math.sqrt(count) / Math.min(USERS_MAX, count);
    let length = 0;
    for (const user of this.usersOf(like)) {
      for (const item of this.itemsOf(user)) {
        if (item === like) continue;
        found.itemRows[length] = item;
        found.weights[length++] = weight / Math.sqrt(counts[item]!);
      }
    }
    return { itemRows: found.itemRows.subarray(0, length), weights: found.weights.subarray(0, length) };
  }

  /** The latest users who liked an item, the latest first. Valid until the next call. */
  usersOf(itemRow: number): Uint32Array {
    const { itemRows, userRows, beforeOfItem, usersFound } = this;
    const wanted = Math.min(USERS_MAX, this.counts[itemRow] ?? 0);
    let count = 0;
    for (let at = this.lastOfItem[bucket(itemRow)]!; count < wanted && at !== NONE; at = beforeOfItem[at]!)
      if (itemRows[at] === itemRow) usersFound[count++] = userRows[at]!;
    return usersFound.subarray(0, count);
  }

  /** The latest items that a user liked, the latest first. Valid until the next call. */
  itemsOf(userRow: number): Uint32Array {
    const { itemRows, userRows, beforeOfUser, itemsFound } = this;
    let count = 0;
    let at = this.lastOfUser[bucket(userRow)]!;
    for (; count < LIKES_OF_USER_MAX && at !== NONE; at = beforeOfUser[at]!)
      if (userRows[at] === userRow && itemRows[at] !== NONE) itemsFound[count++] = itemRows[at]!;
    return itemsFound.subarray(0, count);
  }

  /** True for an item most of whose likes are among the latest of all. */
  hasJustBeenLiked(itemRow: number): boolean {
    this.link();
    if (!this.areCounted) this.countPlaces();
    const likes = this.linked - this.likesTakenBack;
    return (this.placeSums[itemRow] ?? 0) > JUST_NOW_SHARE * likes * this.countOf(itemRow);
  }

  /** Of the last likes that came of a user the latest by their times, in an order that does not go by when they came. */
  latestOf(userRow: number, count: number): number[] {
    const { itemRows, userRows, beforeOfUser, seconds } = this;
    const places: number[] = [];
    const isLater = (a: number, b: number) =>
      seconds[a] === seconds[b] ? itemRows[a]! < itemRows[b]! : seconds[a]! > seconds[b]!;
    let lookedAt = 0;
    for (let at = this.placeOf(userRow); lookedAt < LOOKED_AT && at !== NONE; at = beforeOfUser[at]!) {
      if (userRows[at] !== userRow || itemRows[at] === NONE) continue;
      lookedAt++;
      let place = places.length;
      while (place > 0 && isLater(at, places[place - 1]!)) place--;
      if (place < count) places.splice(place, 0, at);
      if (places.length > count) places.pop();
    }
    return places.map((place) => itemRows[place]!);
  }

  /** Items with rows from here on have no likes. */
  get rowCount(): number {
    return this.counts.length;
  }

  /** Likes of an item. */
  countOf(itemRow: number): number {
    return this.counts[itemRow] ?? 0;
  }

  /** The place of the last like that came of a user, which nobody else has in this era; that of none is past all places. */
  placeOf(userRow: number): number {
    const { userRows, beforeOfUser } = this;
    let at = this.lastOfUser[bucket(userRow)]!;
    while (at !== NONE && userRows[at] !== userRow) at = beforeOfUser[at]!;
    return at;
  }

  /** A number that is another once a user takes a like back. */
  takenBackBy(userRow: number): number {
    return this.takenBack[bucket(userRow)]!;
  }

  /** Users who stand for anybody: some of those of the latest likes, each as often as chosen. Another array once likes have changed. */
  someUsers(): readonly number[] {
    this.link();
    if (this.anybody !== undefined) return this.anybody;
    const users: number[] = [];
    for (let at = this.linked - 1, left = LATEST; at >= 0 && left > 0; at--) {
      if (this.itemRows[at] === NONE) continue;
      left--;
      const mixed = Math.imul(this.userRows[at]! ^ Math.imul(this.itemRows[at]!, 0x85ebca6b), 0x9e3779b1);
      if ((mixed >>> 16) % CHOSEN_OF === 0) users.push(this.userRows[at]!);
    }
    this.anybody = users.reverse();
    return users;
  }

  /**
   * People who liked an item, since each of these times.
   * @param sinceMs milliseconds since the epoch; one from which on likes were dropped is answered with undefined
   */
  peopleWhoLiked(itemRow: number, sinceMs: readonly number[]): (number | undefined)[] {
    this.link();
    const latest = new Map<number, number>();
    for (let at = this.lastOfItem[bucket(itemRow)]!; at !== NONE; at = this.beforeOfItem[at]!) {
      if (this.itemRows[at] !== itemRow) continue;
      const user = this.userRows[at]!;
      latest.set(user, Math.max(latest.get(user) ?? 0, this.seconds[at]!));
    }
    const seconds = [...latest.values()];
    const countFrom = (from: number) => seconds.filter((second) => second >= from).length;
    return sinceMs.map((ms) => (ms / 1000 <= this.droppedUntil ? undefined : countFrom(ms / 1000)));
  }

  /** The likes that there are, in the order in which they came. */
  save(): LikeColumns {
    const userRows = this.userRows.slice(0, this.length);
    const itemRows = this.itemRows.slice(0, this.length);
    const seconds = this.seconds.slice(0, this.length);
    let count = this.likesTakenBack === 0 ? this.length : 0;
    for (let at = count; at < itemRows.length; at++) {
      if (itemRows[at] === NONE) continue;
      userRows[count] = userRows[at]!;
      itemRows[count] = itemRows[at]!;
      seconds[count++] = seconds[at]!;
    }
    const kept = (column: Uint32Array) => column.subarray(0, count);
    return { userRows: kept(userRows), itemRows: kept(itemRows), seconds: kept(seconds) };
  }

  /** Takes the place of all that was there, in their order. */
  restore({ userRows, itemRows, seconds }: LikeColumns): void {
    this.clear();
    this.meanwhile = undefined;
    // So many may be what was left of more.
    this.droppedUntil = seconds.length < RECENT_LIKES ? 0 : seconds.reduce((a, b) => Math.min(a, b));
    for (let at = Math.max(0, userRows.length - PLACES); at < userRows.length; at++)
      this.push(userRows[at]!, itemRows[at]!, seconds[at]!);
  }

  /** Puts all in the order of their times, which came in another, some of them a step. */
  *order(): Generator<undefined, void> {
    if (!this.isOutOfOrder || this.meanwhile !== undefined) return;
    const meanwhile: RecentLikes['meanwhile'] = [];
    this.meanwhile = meanwhile;
    const { userRows, itemRows, seconds } = this.save();
    yield;
    const places = ascendingPlaces(seconds);
    const ordered = new RecentLikes();
    for (let from = 0; from < places.length; from += STEP_LIKES) {
      yield;
      // All was replaced by what somebody has counted anew.
      if (this.meanwhile !== meanwhile) return;
      for (const at of places.subarray(from, from + STEP_LIKES))
        ordered.push(userRows[at]!, itemRows[at]!, seconds[at]!);
      ordered.link();
    }
    ordered.droppedUntil = this.droppedUntil;
    ordered.takenBack.set(this.takenBack);
    for (const change of meanwhile) change(ordered);
    this.meanwhile = undefined;
    ordered.era = this.era + 1;
    Object.assign(this, ordered);
  }

  /** Drops the oldest by their times, some three eighths, without sorting them all: on the main thread it takes a millisecond. */
  private dropOldest(): void {
    const secondAt = (_: unknown, at: number) => this.seconds[at * SAMPLED_EVERY]!;
    const sample = Uint32Array.from({ length: PLACES / SAMPLED_EVERY }, secondAt).sort();
    this.droppedUntil = sample[Math.floor(DROPPED_SHARE * sample.length)]!;
    const { userRows, itemRows, seconds } = this.save();
    // Where many are of one second, those that came first go.
    let tooMany = seconds.reduce((sum, second) => sum + Number(second >= this.droppedUntil), -KEPT_MAX);
    this.clear();
    for (let at = 0; at < seconds.length; at++)
      if (seconds[at]! >= this.droppedUntil && tooMany-- <= 0)
        this.push(userRows[at]!, itemRows[at]!, seconds[at]!);
  }

  /** Forgets what is kept until the next like. */
  private forget(): void {
    this.anybody = undefined;
    this.kept.clear();
    this.keptLength = 0;
  }

  private clear(): void {
    this.era++;
    this.forget();
    this.length = 0;
    this.linked = 0;
    this.likesTakenBack = 0;
    this.areCounted = true;
    this.newestSecond = 0;
    this.isOutOfOrder = false;
    this.lastOfUser.fill(NONE);
    this.lastOfItem.fill(NONE);
    this.counts.fill(0);
    this.placeSums.fill(0);
  }

  private push(userRow: number, itemRow: number, second: number): void {
    const at = this.length++;
    this.isOutOfOrder ||= second < this.newestSecond;
    this.newestSecond = Math.max(this.newestSecond, second);
    this.userRows[at] = userRow;
    this.itemRows[at] = itemRow;
    this.seconds[at] = second;
  }

  /** Counts the places anew, as if what was taken back had never come. */
  private countPlaces(): void {
    const itemRows = this.itemRows.subarray(0, this.linked);
    // Of these alone: all others are 0, and there may be a million of them.
    for (const item of itemRows) if (item !== NONE) this.placeSums[item] = 0;
    let place = 0;
    for (const item of itemRows) if (item !== NONE) this.placeSums[item]! += place++;
    this.areCounted = true;
  }
}

function bucket(row: number): number {
  return (Math.imul(row, 0x9e3779b1) >>> 0) & (PLACES - 1);
}
