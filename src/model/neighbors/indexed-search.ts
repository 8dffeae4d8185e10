/** The search by classes that `index-plan.ts` plans. */

import { viewOf } from '../../memory/array-layout.ts';
import { TopK } from '../../memory/top-k.ts';
import type { PlacedSimilarity } from './memory-layout.ts';
import type { ClassPlan } from './row-classes.ts';
import type { RankedRows, VisitNeighbors } from './similarity-search.ts';

/** Rows compared exactly beyond those wanted, for what rounding may have put in another order. */
const ROUNDING_ROWS = 8;

type ClassElements = Pick<ClassPlan, 'elements' | 'classCount'>;

/** One thread's search by classes. */
export class IndexedSearch {
  readonly #placed: PlacedSimilarity;
  readonly #comparison: Comparison;
  readonly #classes: ClassWeights;
  /** What each row shares with the row at hand of the rare elements; zero between rows. */
  readonly #sums: Float64Array;
  readonly #counts: Uint32Array;
  readonly #touched: Uint32Array;
  #touchedCount = 0;
  readonly #isFrequent: Uint8Array;

  /** @param placed one whose memory holds the classes of `plan` */
  constructor(placed: PlacedSimilarity, plan: ClassElements) {
    this.#placed = placed;
    this.#comparison = new Comparison(placed);
    this.#classes = new ClassWeights(placed, plan);
    this.#sums = new Float64Array(placed.rowCount);
    this.#counts = new Uint32Array(placed.rowCount);
    this.#touched = new Uint32Array(placed.rowCount);
    this.#isFrequent = new Uint8Array(placed.elementCount);
    for (const element of plan.elements) this.#isFrequent[element] = 1;
  }

  /** As `SimilaritySearch.topRows`. */
  topRows(firstRow: number, endRow: number, k: number, visit: VisitNeighbors): void {
    const best = new TopK(k + ROUNDING_ROWS);
    for (let row = firstRow; row < endRow; row++) {
      best.clear();
      this.#addRare(row);
      this.#offerTouched(row, best);
      this.#classes.offerOthers(row, best, this.#counts);
      for (let at = 0; at < this.#touchedCount; at++) {
        this.#sums[this.#touched[at]!] = 0;
        this.#counts[this.#touched[at]!] = 0;
      }
      visit(row, this.#comparison.rank(row, best.rows(), k));
    }
  }

  /** As `SimilaritySearch.neighborsOf`. */
  neighborsOf(row: number, k: number): RankedRows {
    let found: RankedRows | undefined;
    const keep: VisitNeighbors = (_row, neighbors) => {
      found = neighbors;
    };
    this.topRows(row, row + 1, k, keep);
    return found!;
  }

  #addRare(row: number): void {
    const { starts, columns, elementStarts, elementRows, weights } = this.#comparison.views;
    const [sums, counts, touched] = [this.#sums, this.#counts, this.#touched];
    let count = 0;
    for (let entry = starts[row]!; entry < starts[row + 1]!; entry++) {
      const element = columns[entry]!;
      if (this.#isFrequent[element] === 1) continue;
      const weight = weights[element]!;
      for (let at = elementStarts[element]!; at < elementStarts[element + 1]!; at++) {
        const other = elementRows[at]!;
        if (counts[other] === 0) touched[count++] = other;
        counts[other] = counts[other]! + 1;
        sums[other] = sums[other]! + weight;
      }
    }
    this.#touchedCount = count;
  }

  /** Rows that share a rare element. */
  #offerTouched(row: number, best: TopK): void {
    const { norms } = this.#comparison.views;
    const { shrink } = this.#placed;
    for (let at = 0; at < this.#touchedCount; at++) {
      const other = this.#touched[at]!;
      if (other === row) continue;
      const frequent = this.#classes.sharedMask(row, other);
      const shared = this.#counts[other]! + this.#classes.count(frequent);
      const sum = this.#sums[other]! + this.#classes.weight(frequent);
      best.push(other, (sum * shared) / (shared + shrink) / norms[other]!);
    }
  }
}

/** What rows share by the frequent elements. */
class ClassWeights {
  readonly #placed: PlacedSimilarity;
  readonly #classCount: number;
  readonly #classOf: Uint32Array;
  readonly #masks: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #rows: Uint32Array;
  readonly #norms: Float32Array;
  /** The sum of weights of each value of each of a mask's four bytes, and the number of its bits. */
  readonly #byteWeights = new Float64Array(4 * 256);
  readonly #byteCounts = new Uint8Array(256);

  constructor(placed: PlacedSimilarity, { elements, classCount }: ClassElements) {
    const view = (name: string) => viewOf(placed.memory, placed.layout, name, 'u32');
    this.#placed = placed;
    this.#classCount = classCount;
    this.#classOf = view('classOf');
    this.#masks = view('classMasks');
    this.#starts = view('classStarts');
    this.#rows = view('classRows');
    this.#norms = viewOf(placed.memory, placed.layout, 'norms', 'f32');
    const weights = viewOf(placed.memory, placed.layout, 'weights', 'f32');
    for (let value = 1; value < 256; value++) {
      const low = 31 - Math.clz32(value & -value);
      const rest = value & (value - 1);
      this.#byteCounts[value] = this.#byteCounts[rest]! + 1;
      for (let byte = 0; byte < 4; byte++) {
        const element = elements[byte * 8 + low];
        const weight = element === undefined ? 0 : weights[element]!;
        this.#byteWeights[byte * 256 + value] = this.#byteWeights[byte * 256 + rest]! + weight;
      }
    }
  }

  sharedMask(row: number, other: number): number {
    return this.#masks[this.#classOf[row]!]! & this.#masks[this.#classOf[other]!]!;
  }

  weight(mask: number): number {
    const weights = this.#byteWeights;
    return (
      weights[mask & 255]! +
      weights[256 + ((mask >>> 8) & 255)]! +
      weights[512 + ((mask >>> 16) & 255)]! +
      weights[768 + (mask >>> 24)]!
    );
  }

  count(mask: number): number {
    const counts = this.#byteCounts;
    return (
      counts[mask & 255]! + counts[(mask >>> 8) & 255]! + counts[(mask >>> 16) & 255]! + counts[mask >>> 24]!
    );
  }

  /** Offers the rows that share frequent elements alone: of each class the first, as long as they enter the list. */
  offerOthers(row: number, best: TopK, rareCounts: Uint32Array): void {
    const own = this.#masks[this.#classOf[row]!]!;
    if (own === 0) return;
    for (let at = 0; at < this.#classCount; at++) {
      const mask = own & this.#masks[at]!;
      if (mask === 0) continue;
      const shared = this.count(mask);
      const score = (this.weight(mask) * shared) / (shared + this.#placed.shrink);
      const end = this.#starts[at + 1]!;
      for (let place = this.#starts[at]!; place < end; place++) {
        const other = this.#rows[place]!;
        if (other === row || rareCounts[other] !== 0) continue;
        if (!best.push(other, score / this.#norms[other]!)) break;
      }
    }
  }
}

/** Compares rows exactly, one with many. */
class Comparison {
  readonly views: {
    readonly starts: Uint32Array;
    readonly columns: Uint32Array;
    readonly elementStarts: Uint32Array;
    readonly elementRows: Uint32Array;
    readonly weights: Float32Array;
    readonly norms: Float32Array;
  };
  readonly #shrink: number;
  /** The elements of the row at hand are those marked with its number. */
  readonly #marks: Uint32Array;
  #mark = 0;

  constructor({ memory, layout, elementCount, shrink }: PlacedSimilarity) {
    this.#shrink = shrink;
    this.views = {
      starts: viewOf(memory, layout, 'starts', 'u32'),
      columns: viewOf(memory, layout, 'columns', 'u32'),
      elementStarts: viewOf(memory, layout, 'elementStarts', 'u32'),
      elementRows: viewOf(memory, layout, 'elementRows', 'u32'),
      weights: viewOf(memory, layout, 'weights', 'f32'),
      norms: viewOf(memory, layout, 'norms', 'f32'),
    };
    this.#marks = new Uint32Array(elementCount);
  }

  /** The best `k` of the listed rows by their exact scores, rounded as the kernel rounds them. */
  rank(row: number, others: Uint32Array, k: number): RankedRows {
    const { starts, columns } = this.views;
    this.#mark++;
    for (let at = starts[row]!; at < starts[row + 1]!; at++) this.#marks[columns[at]!] = this.#mark;
    const scores = Float32Array.from(others, (other) => this.#score(row, other));
    const order = Uint32Array.from(others.keys());
    order.sort((a, b) => scores[b]! - scores[a]! || others[a]! - others[b]!);
    const best = order.subarray(0, k);
    return { rows: best.map((at) => others[at]!), scores: Float32Array.from(best, (at) => scores[at]!) };
  }

  #score(row: number, other: number): number {
    const { starts, columns, weights, norms } = this.views;
    let sum = 0;
    let shared = 0;
    for (let at = starts[other]!; at < starts[other + 1]!; at++) {
      const element = columns[at]!;
      if (this.#marks[element] !== this.#mark) continue;
      sum = Math.fround(sum + weights[element]!);
      shared++;
    }
    const damping = Math.fround(shared / Math.fround(shared + this.#shrink));
    return Math.fround(sum * damping) / Math.fround(norms[row]! * norms[other]!);
  }
}
