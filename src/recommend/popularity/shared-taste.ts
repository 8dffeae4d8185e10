import { getOrPut } from '../../domain/get-or-put.ts';
import { grown } from '../../memory/growing-u32.ts';
import type { CollaborativeModel } from '../../model/als/collaborative-model.ts';
import { PLACES, type RecentLikes, USERS_MAX } from './recent-likes.ts';

/**
 * With ten likes somebody nearer by a standard deviation of all counts so much more, as a logarithm: the more likes there are,
 * the narrower the kernel (Scott 1992, "Multivariate Density Estimation"), by this power of their number.
 */
const STEEPNESS = 2;
const STEEP_LIKES = 10;
const NARROWING = 0.3;
/** One like tells half of somebody's taste, two tell two thirds, and so on: as if so many told of anybody's. */
const UNTOLD_LIKES = 1;
/** Some like what is not of their taste: the nearest givers of an item, so large a share, count as the next ones. */
const STRAY_SHARE = 0.1;
/** More likes tell no more than so many. */
const EVIDENCE_MAX = 256;
/** Likes that count as if anybody had given them, before there are any. */
const PRIOR_LIKES = 1;
/** Standard deviations beyond which nobody counts more or less. */
const FARTHEST = 4;
/** Likenesses that differ less tell nobody apart. */
const LEAST_DEVIATION = 1e-6;
/** Users whose vectors are kept: at 64 factors four megabytes. */
const PEOPLE_MAX = 16_384;
/** The latest likes that somebody's vector is of. */
const LIKES_MAX = 10;
/** Fewer than so many people stand for nobody. */
const COMPARED_MIN = 8;
/** Items between two pauses. */
const ROWS_A_STEP = 1024;

/** Vectors of items. */
export type Directions = Pick<CollaborativeModel, 'factors' | 'addDirection' | 'knows'>;

/**
 * How much more those like an item who share a user's taste than anybody does: the logarithm of its latest likes, each
 * counted by how near its giver is to the user, over what they would come to were they given by anybody. That is a kernel
 * estimate of two densities in the space of tastes (Rosenblatt 1956, "Remarks on some nonparametric estimates of a density
 * function"). People are compared by the directions of what they liked of late in the collaborative model, so it tells of an
 * item that no model knows from its first likes on. Whoever gave few likes counts as little nearer or farther than anybody.
 */
export class SharedTaste {
  /** Divisor of the feature: 1, since it is a logarithm and no share of the largest value. */
  largest = 1;
  private likes!: RecentLikes;
  private model!: Directions;
  private era = -1;
  /** Where the vector of a user stands, by the place of the last like; 0 for none. */
  private slots = new Uint32Array();
  private people = 0;
  /** Vectors of people, and likes that each had taken back by then. NaN where the model knows no like. */
  private vectors = new Float32Array(1024);
  private takenBack = new Uint32Array(64);
  /** The share of each one's taste that is told. */
  private toldOf = new Float32Array(64);
  private own = new Float64Array(0);
  /** The share of the user's taste that is told. */
  private told = 0;
  /** Mean and deviation of the likeness of anybody to the user, once an item asks; NaN where nothing tells people apart. */
  private mean = 0;
  private deviation: number | undefined;
  /** Who stands for anybody, where their vectors stand, how near each is, and their mean kernel by steepness. */
  private others: readonly number[] | undefined;
  private slotsOfOthers = new Uint32Array(0);
  private anybody = new Float64Array(0);
  private readonly expected = new Map<number, number>();
  private readonly kernels = new Float64Array(USERS_MAX);
  /** How like the user somebody is, where the question of that number has asked. */
  private likenesses = new Float64Array(64);
  private askedBy = new Uint32Array(64);
  private question = 0;

  /**
   * Takes a user to compare with anybody.
   * @param liked item rows, the latest first
   * @returns false where the model knows none of them
   */
  sumUp(likes: RecentLikes, model: Directions, liked: readonly number[]): boolean {
    this.use(likes, model);
    this.deviation = undefined;
    this.question++;
    const latest = liked.slice(0, LIKES_MAX).filter((row) => model.knows(row));
    this.own = this.directionOf(latest);
    this.told = toldBy(latest);
    return isKnown(this.own[0]!);
  }

  /** Works out in advance what any question needs to know of people; pauses, and ends where another model is in use meanwhile. */
  *prepare(likes: RecentLikes, model: Directions): Generator<undefined, void> {
    this.use(likes, model);
    const { era } = this;
    const goesOn = () => this.model === model && this.era === era && this.people < PEOPLE_MAX;
    for (const user of likes.someUsers()) {
      if (!goesOn()) return;
      this.slotOf(user);
      yield;
    }
    for (let row = 0; row < likes.rowCount && goesOn(); row++) {
      if (this.tellsOf(row)) for (const user of likes.usersOf(row)) this.slotOf(user);
      if (likes.countOf(row) > 0 || row % ROWS_A_STEP === 0) yield;
    }
  }

  /** 0 for an item of which the model knows enough, and where nothing tells people apart. */
  get(row: number): number {
    if (!this.tellsOf(row)) return 0;
    this.deviation ??= this.compare();
    if (!isKnown(this.deviation)) return 0;
    const users = this.likes.usersOf(row);
    // Of an item with more likes than are looked at, these stand for all.
    const all = Math.min(EVIDENCE_MAX, this.likes.countOf(row));
    const steepness = this.told * STEEPNESS * (all / STEEP_LIKES) ** NARROWING;
    const { kernels } = this;
    let count = 0;
    for (let at = 0; at < users.length; at++) {
      const slot = this.slotOf(users[at]!);
      const nearness = this.nearness(this.likeness(slot), slot, this.deviation);
      if (isKnown(nearness)) kernels[count++] = Math.exp(steepness * nearness);
    }
    if (count === 0) return 0;
    const near = meanWithoutStray(kernels.subarray(0, count));
    const expected = getOrPut(this.expected, steepness, () => {
      let sum = 0;
      for (let at = 0; at < this.anybody.length; at++) sum += Math.exp(steepness * this.anybody[at]!);
      return sum / this.anybody.length;
    });
    return Math.log(((near / expected) * all + PRIOR_LIKES) / (all + PRIOR_LIKES));
  }

  copy(rows: ArrayLike<number>, out: Float64Array): void {
    for (let at = 0; at < rows.length; at++) out[at] = this.get(rows[at]!);
  }

  private use(likes: RecentLikes, model: Directions): void {
    likes.link();
    if (likes === this.likes && model === this.model && likes.era === this.era) return;
    this.likes = likes;
    this.model = model;
    this.era = likes.era;
    this.forgetPeople();
  }

  private forgetPeople(): void {
    this.slots = new Uint32Array(PLACES);
    this.people = 0;
    this.others = undefined;
  }

  /** True where the model does not know enough of the item. */
  private tellsOf(row: number): boolean {
    return !this.model.knows(row) || this.likes.hasJustBeenLiked(row);
  }

  /** @returns the deviation of anybody's likeness */
  private compare(): number {
    const users = this.likes.someUsers();
    if (users !== this.others) {
      if (this.people + users.length > PEOPLE_MAX) this.forgetPeople();
      const isTold = (slot: number) => isKnown(this.vectors[slot * this.own.length]!);
      this.slotsOfOthers = Uint32Array.from(users, (user) => this.slotOf(user)).filter(isTold);
      this.others = users;
      this.anybody = new Float64Array(this.slotsOfOthers.length);
    }
    const { slotsOfOthers: slots, anybody: near } = this;
    this.expected.clear();
    if (slots.length < COMPARED_MIN) return Number.NaN;
    let sum = 0;
    for (let at = 0; at < slots.length; at++) sum += near[at] = this.likeness(slots[at]!);
    this.mean = sum / slots.length;
    let squares = 0;
    for (const likeness of near) squares += (likeness - this.mean) ** 2;
    const deviation = Math.sqrt(squares / slots.length);
    for (let at = 0; at < slots.length; at++) near[at] = this.nearness(near[at]!, slots[at]!, deviation);
    return deviation > LEAST_DEVIATION ? deviation : Number.NaN;
  }

  /** How much nearer somebody is than anybody, in deviations, as far as the likes tell. */
  private nearness(likeness: number, slot: number, deviation: number): number {
    const nearer = (likeness - this.mean) / deviation;
    return Math.max(-FARTHEST, Math.min(FARTHEST, nearer)) * this.toldOf[slot]!;
  }

  /** The cosine of somebody's vector with that of the user; NaN where the model knows none of their likes. */
  private likeness(slot: number): number {
    const { own, vectors, likenesses } = this;
    if (this.askedBy[slot] === this.question) return likenesses[slot]!;
    let sum = 0;
    for (let at = 0, from = slot * own.length; at < own.length; at++) sum += own[at]! * vectors[from + at]!;
    this.askedBy[slot] = this.question;
    likenesses[slot] = sum;
    return sum;
  }

  /** Where somebody's vector stands. */
  private slotOf(user: number): number {
    const { likes } = this;
    const place = likes.placeOf(user);
    const takenBack = likes.takenBackBy(user);
    const known = this.slots[place]!;
    if (known > 0 && this.takenBack[known] === takenBack) return known;
    if (known === 0 && this.people === PEOPLE_MAX) this.forgetPeople();
    const slot = known || ++this.people;
    if (slot === this.toldOf.length) {
      this.takenBack = grown(this.takenBack, slot + 1);
      this.toldOf = grown(this.toldOf, slot + 1);
      this.likenesses = grown(this.likenesses, slot + 1);
      this.askedBy = grown(this.askedBy, slot + 1);
    }
    const latest = likes.latestOf(user, LIKES_MAX).filter((row) => this.model.knows(row));
    const vector = this.directionOf(latest);
    const end = (slot + 1) * vector.length;
    if (end > this.vectors.length) this.vectors = grown(this.vectors, end);
    this.vectors.set(vector, slot * vector.length);
    this.slots[place] = slot;
    this.askedBy[slot] = 0;
    this.takenBack[slot] = takenBack;
    this.toldOf[slot] = toldBy(latest);
    return slot;
  }

  /** The mean direction of items, at length 1; NaN where the model knows none of them. */
  private directionOf(itemRows: ArrayLike<number>): Float64Array<ArrayBuffer> {
    const sum = new Float64Array(this.model.factors);
    for (let at = 0; at < itemRows.length; at++) this.model.addDirection(itemRows[at]!, sum);
    let squares = 0;
    for (const value of sum) squares += value * value;
    const length = Math.sqrt(squares);
    for (let at = 0; at < sum.length; at++) sum[at]! /= length;
    return sum;
  }
}

/** The share of a taste that so many likes tell. */
function toldBy({ length }: ArrayLike<number>): number {
  return length / (length + UNTOLD_LIKES);
}

function isKnown(value: number): boolean {
  return !Number.isNaN(value);
}

/** The mean with the largest tenth as large as the next one (Winsor, in Tukey 1962). @param values are changed */
function meanWithoutStray(values: Float64Array): number {
  const stray = Math.floor(values.length * STRAY_SHARE);
  let next = 0;
  for (let left = stray; left >= 0; left--) {
    let largest = 0;
    for (let at = 1; at < values.length; at++) if (values[at]! > values[largest]!) largest = at;
    next = values[largest]!;
    if (left > 0) values[largest] = 0;
  }
  let sum = stray * next;
  for (const value of values) sum += value;
  return sum / values.length;
}
