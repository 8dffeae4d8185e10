import { topRows } from '../model/evaluation/ranker.ts';
import { Ease } from './ease.ts';
import type { Timeline } from './timeline.ts';

const HOUR_MS = 3_600_000;
const EVER = 'ever';
/** The counters that the items of EASE are chosen by, and that its logarithm is added to. */
const [CHOOSES, BLENDED] = ['30 days', '2 days'];
/** Weights of the logarithm of EASE beside that of the counter, and the numbers added before they are taken. */
const EASE_WEIGHTS = [0.5, 1, 2, 4];
const [COUNT_FLOOR, EASE_FLOOR] = [1e-3, 1e-2];
const HALF_LIFE_HOURS: Readonly<Record<string, number>> = {
  '1 h': 1,
  '12 h': 12,
  '2 days': 48,
  '7 days': 168,
  '30 days': 720,
  [EVER]: Number.POSITIVE_INFINITY,
};
/** Latest likes of a person that are looked at, and latest likes of an item. */
const LIKES_MAX = 100;
const LIKERS_MAX = 500;

const COSINE = 'item cosine';
const EASE = 'EASE';

/** Simple ways to recommend that learn from every like as it comes; the weights of EASE stand from one fit to the next. */
export class LiveBaselines {
  private readonly timeline: Timeline;
  private readonly counters: ReadonlyMap<string, DecayedCounter>;
  private readonly cosine: Float64Array;
  private readonly ease: Float64Array;
  private readonly blend: Float64Array;
  private model: Ease | undefined;
  /** The index of the first record that is not counted yet. */
  private next = 0;

  constructor(timeline: Timeline) {
    const items = timeline.past.itemIds.length;
    this.timeline = timeline;
    this.counters = new Map(
      Object.entries(HALF_LIFE_HOURS).map(([name, hours]) => [
        name,
        new DecayedCounter(items, hours * HOUR_MS),
      ]),
    );
    this.cosine = new Float64Array(items);
    this.ease = new Float64Array(items).fill(Number.NEGATIVE_INFINITY);
    this.blend = new Float64Array(items);
  }

  get roles(): Map<string, 'counter' | 'personal'> {
    const counters = [...this.counters.keys()].map(counterName);
    const personal = [COSINE, EASE, ...EASE_WEIGHTS.map(blendName)];
    return new Map([
      ...counters.map((name) => [name, 'counter'] as const),
      ...personal.map((name) => [name, 'personal'] as const),
    ]);
  }

  /** Counts what came before an index. */
  learn(before: number): void {
    const { isLike, itemRows, timesMs } = this.timeline;
    for (; this.next < before; this.next++) {
      if (isLike[this.next] !== 1) continue;
      for (const counter of this.counters.values()) counter.add(itemRows[this.next]!, timesMs[this.next]!);
    }
  }

  /** Learns the weights of EASE from what came before an index. */
  fit(before: number): void {
    this.learn(before);
    this.model = new Ease(this.timeline, this.counters.get(CHOOSES)!.scores, before);
  }

  /** The lists of all ways, by name, for somebody with these likes. @param excluded items that no list holds, ascending */
  lists(likes: Uint32Array, excluded: Uint32Array, nowMs: number, n: number): Map<string, Uint32Array> {
    const lists = new Map<string, Uint32Array>();
    for (const [name, { scores }] of this.counters)
      lists.set(counterName(name), topRows(scores, n, excluded));
    this.scoreByCosine(likes);
    lists.set(COSINE, topRows(this.cosine, n, excluded));
    this.model?.score(
      likes.map((at) => this.timeline.itemRows[at]!),
      this.ease,
    );
    lists.set(EASE, topRows(this.ease, likes.length === 0 ? 0 : n, excluded));
    for (const weight of EASE_WEIGHTS) {
      this.addLogarithms(nowMs, weight);
      lists.set(blendName(weight), topRows(this.blend, n, excluded));
    }
    return lists;
  }

  /** Adds the logarithm of likes of late to that of EASE, for items with either. */
  private addLogarithms(nowMs: number, weight: number): void {
    const counter = this.counters.get(BLENDED)!;
    const unit = counter.unitAt(nowMs);
    for (let item = 0; item < this.blend.length; item++) {
      const count = Math.max(0, counter.scores[item]! / unit);
      const fit = Math.max(0, this.ease[item]!);
      this.blend[item] =
        count === 0 && fit === 0
          ? Number.NEGATIVE_INFINITY
          : Math.log(count + COUNT_FLOOR) + weight * Math.log(fit + EASE_FLOOR);
    }
  }

  /** Sums, over the likes, the cosine of who liked both. */
  private scoreByCosine(likes: Uint32Array): void {
    const { timeline, cosine, next } = this;
    const counts = this.counters.get(EVER)!.scores;
    cosine.fill(0);
    for (const like of likes.subarray(-LIKES_MAX)) {
      const item = timeline.itemRows[like]!;
      const likers = timeline.likesOn(item, next, LIKERS_MAX);
      // Of an item with more likes than are looked at, these stand for all.
      const weight = Math.sqrt(counts[item]!) / likers.length;
      for (const liker of likers) {
        for (const other of timeline.likesOf(timeline.userRows[liker]!, next, LIKES_MAX))
          cosine[timeline.itemRows[other]!]! += weight;
      }
    }
    for (let item = 0; item < cosine.length; item++)
      cosine[item] = cosine[item]! > 0 ? cosine[item]! / Math.sqrt(counts[item]!) : Number.NEGATIVE_INFINITY;
  }
}

function blendName(weight: number): string {
  return `log(${BLENDED}) + ${weight} log(EASE)`;
}

function counterName(span: string): string {
  return span === EVER ? 'most liked ever' : `most liked, ${span}`;
}

/** Doublings after which all counts are made smaller, so that none becomes infinite. */
const DOUBLINGS_MAX = 500;

/** Likes of each item, of which those a half-life ago count half: as of one moment up to a common factor. */
export class DecayedCounter {
  /** By item; minus infinity for one without likes. */
  readonly scores: Float64Array;
  private readonly halfLifeMs: number;
  private sinceMs = Number.NaN;

  /** @param halfLifeMs infinite where every like counts the same for ever */
  constructor(itemCount: number, halfLifeMs: number) {
    this.scores = new Float64Array(itemCount).fill(Number.NEGATIVE_INFINITY);
    this.halfLifeMs = halfLifeMs;
  }

  /** Counts a like; times never go back. */
  add(item: number, timeMs: number): void {
    if (Number.isNaN(this.sinceMs)) this.sinceMs = timeMs;
    let doublings = (timeMs - this.sinceMs) / this.halfLifeMs;
    if (doublings > DOUBLINGS_MAX) {
      for (let row = 0; row < this.scores.length; row++) this.scores[row]! *= 2 ** -doublings;
      this.sinceMs = timeMs;
      doublings = 0;
    }
    this.scores[item] = Math.max(0, this.scores[item]!) + 2 ** doublings;
  }

  /** The count of one like at that moment. */
  unitAt(timeMs: number): number {
    return 2 ** ((timeMs - this.sinceMs) / this.halfLifeMs);
  }
}
