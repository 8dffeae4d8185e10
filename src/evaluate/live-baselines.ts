import { topRows } from '../model/evaluation/ranker.ts';
import { DecayedCounter } from './decayed-counter.ts';
import type { Timeline } from './timeline.ts';

const HOUR_MS = 3_600_000;
const EVER = 'ever';
/** Half-lives of the counters, hours. */
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

/** Simple ways to recommend that learn from every like as it comes. */
export class LiveBaselines {
  private readonly timeline: Timeline;
  private readonly counters: ReadonlyMap<string, DecayedCounter>;
  private readonly cosine: Float64Array;
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
  }

  /** Counts what came before an index. */
  learn(before: number): void {
    const { isLike, itemRows, timesMs } = this.timeline;
    for (; this.next < before; this.next++) {
      if (isLike[this.next] !== 1) continue;
      for (const counter of this.counters.values()) counter.add(itemRows[this.next]!, timesMs[this.next]!);
    }
  }

  /** The lists of all ways, by name, for somebody with these likes. @param excluded items that no list holds, ascending */
  lists(likes: Uint32Array, excluded: Uint32Array, n: number): Map<string, Uint32Array> {
    const lists = new Map<string, Uint32Array>();
    for (const [name, { scores }] of this.counters)
      lists.set(counterName(name), topRows(scores, n, excluded));
    this.scoreByCosine(likes);
    lists.set('item cosine', topRows(this.cosine, n, excluded));
    return lists;
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

function counterName(span: string): string {
  return span === EVER ? 'most liked ever' : `most liked, ${span}`;
}
