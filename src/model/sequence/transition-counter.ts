/**
 * Items that users go on to: for each item those that they like around it, the later ones more than the earlier ones and the
 * near more than the far. score(a, b) = c / (n_a n_b) ^ FREQUENCY_EXPONENT, with n likes of each item and c the sum, over
 * users who like both within WINDOW likes of one another, of d ^ -DISTANCE_EXPONENT for d likes apart, times BACKWARD
 * where b came earlier. What is liked in the same moment, such as the things in one basket, goes both ways alike.
 * After the session-based counts of Ludewig and Jannach 2018 ("Evaluation of session-based recommendation algorithms").
 *
 * Each item is counted by itself, users in order: the table is the same for any number of threads.
 */
import { TopK } from '../../memory/top-k.ts';
import { takeChunks } from '../part/chunks-for-threads.ts';
import { type SequenceTask, type SequenceViews, sequenceViews } from './memory-layout.ts';
import { isFirst, isLater, itemOf } from './timelines.ts';

/** Likes of a user that are at most so many apart say something of one another. */
const WINDOW = 20;
/** A pair that is d likes apart counts d ^ -DISTANCE_EXPONENT. */
const DISTANCE_EXPONENT = 0.5;
/** Weight of going back, from the later item to the earlier one, against going on. */
const BACKWARD = 0.5;
/** A count is divided by both items' number of likes to this power: between counts and their cosine. */
const FREQUENCY_EXPONENT = 0.25;

/** Items that a thread takes at a time. */
const CHUNK_ROWS = 64;

/** Weight of a pair, by its distance. */
const BY_DISTANCE = Float64Array.from(
  { length: WINDOW + 1 },
  (_, distance) => distance ** -DISTANCE_EXPONENT,
);

/** One thread's part in counting. */
export class TransitionCounter {
  readonly #task: SequenceTask;
  readonly #views: SequenceViews;
  /** The sum of each item around the one at hand; 0 for those not met. */
  readonly #sums: Float64Array;
  readonly #best: TopK;

  constructor(task: SequenceTask) {
    this.#task = task;
    this.#views = sequenceViews(task);
    this.#sums = new Float64Array(task.itemCount);
    this.#best = new TopK(task.draft.k);
  }

  /** Works until no chunk is left. @returns false when the counting was cancelled */
  run(): boolean {
    return takeChunks(this.#task, this.#task.itemCount, CHUNK_ROWS, (first, end) => {
      for (let item = first; item < end; item++) this.#count(item);
    });
  }

  #count(item: number): void {
    const { itemStarts, places } = this.#views;
    const met: number[] = [];
    for (let at = itemStarts[item]!; at < itemStarts[item + 1]!; at++) {
      this.#goOn(places[at]!, met);
      this.#goBack(places[at]!, met);
    }
    this.#keepBest(item, met);
  }

  #goOn(place: number, met: number[]): void {
    const { timelines } = this.#views;
    const end = Math.min(timelines.length - 1, place + WINDOW);
    for (let at = place + 1; at <= end; at++) {
      const word = timelines[at]!;
      if (isFirst(word)) return;
      this.#add(itemOf(word), BY_DISTANCE[at - place]!, met);
    }
  }

  #goBack(place: number, met: number[]): void {
    const { timelines } = this.#views;
    const end = Math.max(0, place - WINDOW);
    let factor = 1;
    for (let at = place - 1; at >= end; at--) {
      const after = timelines[at + 1]!;
      if (isFirst(after)) return;
      if (isLater(after)) factor = BACKWARD;
      this.#add(itemOf(timelines[at]!), factor * BY_DISTANCE[place - at]!, met);
    }
  }

  #add(item: number, weight: number, met: number[]): void {
    if (this.#sums[item] === 0) met.push(item);
    this.#sums[item]! += weight;
  }

  #keepBest(item: number, met: number[]): void {
    const { draft } = this.#task;
    const { itemStarts } = this.#views;
    const sums = this.#sums;
    const likes = (row: number) => itemStarts[row + 1]! - itemStarts[row]!;
    const best = this.#best;
    best.clear();
    for (const row of met) {
      best.push(row, sums[row]! / (likes(item) * likes(row)) ** FREQUENCY_EXPONENT);
      sums[row] = 0;
    }
    const { rows, scores } = best.sorted();
    draft.rows.set(rows, item * draft.k);
    draft.scores.set(scores, item * draft.k);
    draft.counts[item] = rows.length;
  }
}
