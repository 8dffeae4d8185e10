import type {
  BatchTopK,
  Kernels,
  NeighborTopK,
  PrunedNeighborTopK,
  QueryTopK,
} from '../../src/kernel/kernels.ts';
import type { Words } from './words.ts';

/** The best k of a stream, in the order every top-k promises: score descending, ties to the lower item. */
export class BestList {
  readonly #k: number;
  readonly #items: number[] = [];
  readonly #scores: number[] = [];

  constructor(k: number) {
    this.#k = k;
  }

  /** Offers a score, rounded to float32 as it will be stored; NaN and infinities are left out. */
  offer(item: number, score: number): void {
    const rounded = Math.fround(score);
    if (!Number.isFinite(rounded)) return;
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#scores[middle]!;
      if (other > rounded || (other === rounded && this.#items[middle]! < item)) low = middle + 1;
      else high = middle;
    }
    if (low >= this.#k) return;
    this.#items.splice(low, 0, item);
    this.#scores.splice(low, 0, rounded);
    if (this.#items.length > this.#k) {
      this.#items.pop();
      this.#scores.pop();
    }
  }

  /** Writes the list to arrays given as word indexes. @returns its length */
  write({ floats, ints }: Words, outItems: number, outScores: number): number {
    ints.set(this.#items, outItems);
    floats.set(this.#scores, outScores);
    return this.#items.length;
  }
}

/** True when an item's bit is set, or there are no bits. `bits` is a byte offset or 0. */
export function isAllowed({ ints }: Words, bits: number, item: number): boolean {
  return bits === 0 || ((ints[(bits >>> 2) + (item >>> 5)]! >>> (item & 31)) & 1) === 1;
}

/** The items read, as a set; `start` and `end` are places in the list at byte offset `readItems`. */
function readSet({ ints }: Words, readItems: number, start: number, end: number): Set<number> {
  return new Set(ints.subarray((readItems >>> 2) + start, (readItems >>> 2) + end));
}

type TopKKernels = Pick<Kernels, 'batchTopK' | 'queryTopK' | 'neighborTopK' | 'prunedNeighborTopK'>;

export function plainTopKKernels(words: Words): TopKKernels {
  return {
    batchTopK: (job) => batchTopK(words, job),
    queryTopK: (job) => queryTopK(words, job),
    neighborTopK: (job) => neighborTopK(words, job),
    prunedNeighborTopK: (job) => comparedInFull(words, job),
  };
}

/** The score of one item of a panel; `query` is a word index, `panels` a byte offset. */
function panelScore({ floats }: Words, query: number, panels: number, item: number, f: number): number {
  const from = (panels >>> 2) + (item >> 3) * 8 * f + (item & 7);
  let sum = 0;
  for (let k = 0; k < f; k++) sum += floats[query + k]! * floats[from + k * 8]!;
  return sum;
}

function batchTopK(words: Words, job: BatchTopK): void {
  const { ints } = words;
  for (let row = 0; row < job.rows; row++) {
    const starts = (job.readStarts >>> 2) + row;
    const read = job.readStarts ? readSet(words, job.readItems, ints[starts]!, ints[starts + 1]!) : new Set();
    const best = new BestList(job.k);
    const query = (job.queries >>> 2) + row * job.f;
    for (let item = 0; item < job.items; item++) {
      if (read.has(item) || !isAllowed(words, job.allowedBits ?? 0, item)) continue;
      best.offer(item, panelScore(words, query, job.panels, item, job.f));
    }
    const place = row * job.k;
    const count = best.write(words, (job.outItems >>> 2) + place, (job.outScores >>> 2) + place);
    ints[(job.outCounts >>> 2) + row] = count;
  }
}

function queryTopK(words: Words, job: QueryTopK): number {
  const read = readSet(words, job.readItems, 0, job.readCount);
  const best = new BestList(job.k);
  for (let item = 0; item < job.items; item++) {
    if (read.has(item) || !isAllowed(words, job.allowedBits ?? 0, item)) continue;
    best.offer(item, panelScore(words, job.query >>> 2, job.panels, item, job.f));
  }
  return best.write(words, job.outItems >>> 2, job.outScores >>> 2);
}

function neighborTopK(words: Words, job: NeighborTopK): void {
  const { floats, ints } = words;
  const norm = (row: number) => (job.norms ? floats[(job.norms >>> 2) + row]! : 1);
  const overlapShrink = Math.fround(job.overlapShrink ?? 0);
  const damping = (count: number) => Math.fround(count / Math.fround(count + overlapShrink));
  for (let row = job.firstRow; row < job.endRow; row++) {
    const { sums, shared } = overlaps(words, job, row);
    const best = new BestList(job.k);
    for (const [other, sum] of sums) {
      const damped = overlapShrink ? Math.fround(sum * damping(shared.get(other)!)) : sum;
      const score = damped / Math.fround(Math.fround(norm(row) * norm(other)) + Math.fround(job.shrink));
      if (other !== row && score > 0) best.offer(other, score);
    }
    const place = (row - job.firstRow) * job.k;
    const count = best.write(words, (job.outRows >>> 2) + place, (job.outScores >>> 2) + place);
    ints[(job.outCounts >>> 2) + row - job.firstRow] = count;
  }
}

/** The same lists without any bounds. @returns the additions */
function comparedInFull(words: Words, job: PrunedNeighborTopK): number {
  neighborTopK(words, { ...job, shrink: 0 });
  const { ints } = words;
  let additions = 0;
  for (let at = ints[(job.starts >>> 2) + job.firstRow]!; at < ints[(job.starts >>> 2) + job.endRow]!; at++) {
    const column = (job.otherStarts >>> 2) + ints[(job.columns >>> 2) + at]!;
    additions += ints[column + 1]! - ints[column]!;
  }
  return additions;
}

/** Common elements of a row with others: the weights of the shared columns, and how many they are, by row. */
function overlaps({ floats, ints }: Words, job: NeighborTopK, row: number) {
  const at = (pointer: number, index: number) => ints[(pointer >>> 2) + index]!;
  const sums = new Map<number, number>();
  const shared = new Map<number, number>();
  for (let e = at(job.starts, row); e < at(job.starts, row + 1); e++) {
    const column = at(job.columns, e);
    const weight = job.columnWeights ? floats[(job.columnWeights >>> 2) + column]! : 1;
    for (let o = at(job.otherStarts, column); o < at(job.otherStarts, column + 1); o++) {
      const other = at(job.otherColumns, o);
      sums.set(other, Math.fround((sums.get(other) ?? 0) + weight));
      shared.set(other, (shared.get(other) ?? 0) + 1);
    }
  }
  return { sums, shared };
}
