import { grown } from '../../memory/growing-u32.ts';
import { elementWeight } from '../../model/neighbors/similarity.ts';
import type { ItemLabels } from '../catalogue/item-labels.ts';

/** The latest likes that count, and after how many a like counts half. */
const LIKES_MAX = 50;
const HALF_LIKES = 10;
/** Labels of an item that count, the first. */
const LABELS_MAX = 32;

/**
 * Sums over a user's likes by the labels of items: the cosine of an item's labels with those of the likes, times the same
 * length for all items. The latest likes count more, and a label weighs what it tells, ln(items / items that have it): Spärck
 * Jones 1972, "A statistical interpretation of term specificity".
 */
export class LabelSums {
  /** The largest sum of an item that the user likes. */
  largest = 0;
  private labels: ItemLabels | undefined;
  private version = -1;
  /** The square of what a label tells, by its number; 0 where it was not asked for. */
  private squares = new Float64Array(64);
  /** How much of the likes have a label, by its number. */
  private tastes = new Float64Array(64);
  /** Labels of the item that is looked at. */
  private readonly own = new Uint32Array(LABELS_MAX);
  /** The labels that any like has. */
  private readonly liked = new Set<number>();

  /**
   * Sums up for a user.
   * @param liked item rows, the latest first
   * @param place of the first of them, 0 for the latest like
   * @returns false where no like has a label
   */
  sumUp(labels: ItemLabels, liked: readonly number[], place = 0): boolean {
    if (this.labels !== labels || this.version !== labels.version) this.squares.fill(0);
    this.labels = labels;
    this.version = labels.version;
    for (const number of this.liked) this.tastes[number] = 0;
    this.liked.clear();
    const latest = liked.slice(0, LIKES_MAX);
    for (const [at, row] of latest.entries()) {
      const weight = 2 ** (-(place + at) / HALF_LIKES);
      for (const number of this.own.subarray(0, labels.labelsInto(this.own, row))) {
        if (number >= this.tastes.length) this.tastes = grown(this.tastes, number + 1);
        this.tastes[number]! += weight;
        this.liked.add(number);
      }
    }
    this.largest = latest.reduce((largest, row) => Math.max(largest, this.get(row)), 0);
    return this.largest > 0;
  }

  get(row: number): number {
    const { labels, tastes, own } = this;
    if (labels === undefined) return 0;
    const count = labels.labelsInto(own, row);
    let [sum, whole] = [0, 0];
    for (let at = 0; at < count; at++) {
      const number = own[at]!;
      const told = this.squares[number] || this.askSquare(labels, number);
      sum += told * (tastes[number] ?? 0);
      whole += told;
    }
    return sum === 0 ? 0 : sum / Math.sqrt(whole);
  }

  private askSquare(labels: ItemLabels, number: number): number {
    if (number >= this.squares.length) this.squares = grown(this.squares, number + 1);
    return (this.squares[number] = elementWeight(labels.itemCount, labels.labelCountOf(number)) ** 2);
  }

  copy(rows: ArrayLike<number>, out: Float64Array): void {
    for (let at = 0; at < rows.length; at++) out[at] = this.get(rows[at]!);
  }
}
