import type { Kernels } from '../../kernel/kernels.ts';
import type { InstantiateKernels } from '../../kernel/scratch-sizes.ts';
import { createGrowingMemory } from '../../memory/shared-memory.ts';
import { spreadEvenly } from '../../memory/spread-evenly.ts';
import { packVector } from './packed-numbers.ts';
import { layoutOf, NO_ROW, type TableLayout, type TablePlace } from './vector-table.ts';

/** How often all vectors are looked at that centers are learned from. */
const ROUNDS = 3;
/** Vectors a group that its center is learned from. */
const SAMPLE_A_GROUP = 256;
/** Groups of centers that a vector is compared with, those nearest it. */
const NEAR_GROUPS = 8;
/** Vectors between two pauses, whose nearest centers are found at once. */
const BATCH = 64;

/** Centers that stand in groups, each around a center of its own: addresses in the new memory. */
interface Grouped {
  readonly centers: number;
  readonly count: number;
  /** The first center of each group, and behind the last where it ends. */
  readonly starts: number;
  readonly groups: number;
  readonly groupCount: number;
}

/**
 * The centers of a table's lists, as the first records of the memory of the new table: spherical k-means (Dhillon and Modha
 * 2001) in two levels. Centers stand in groups, as many as their root, and a vector is compared with those of the groups that
 * are nearest it. What that needs lies where rows are put later.
 */
export class Centers {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  private readonly place: TablePlace;
  private readonly layout: TableLayout;
  private readonly from: Int8Array;
  private readonly fromWords: Uint32Array;
  private readonly words: Uint32Array;
  private readonly groups: Grouped;
  private readonly lists: Grouped;
  /** Vectors whose centers are looked for, what is found, and the kernel's. */
  private readonly work: Readonly<Record<'records' | 'out' | 'scratch', number>>;

  /** @param rows that the new table has room for, behind `count` centers */
  constructor(place: TablePlace, instantiate: InstantiateKernels, count: number, rows: number) {
    this.place = place;
    this.layout = layoutOf(place);
    const { length, recordBytes, records } = this.layout;
    const groupCount = Math.round(Math.sqrt(count));
    const groups = records + count * recordBytes;
    const batch = groups + groupCount * recordBytes;
    const scratch = batch + BATCH * recordBytes;
    const whole = scratch + 2 * length + 4 * groupCount;
    const out = whole + 8;
    const starts = out + 4 * BATCH;
    this.work = { records: batch, out, scratch };
    const end = Math.max(starts + 4 * (groupCount + 1), groups + rows * recordBytes);
    this.memory = createGrowingMemory(end);
    this.kernels = instantiate(this.memory);
    this.from = new Int8Array(place.memory.buffer);
    this.fromWords = new Uint32Array(place.memory.buffer);
    this.words = new Uint32Array(this.memory.buffer);
    this.groups = { centers: groups, count: groupCount, starts: whole, groups, groupCount: 1 };
    this.lists = { centers: records, count, starts, groups, groupCount };
    this.words.set([0, groupCount], whole / 4);
  }

  /** @param sample rows whose vectors tell where the centers are */
  *learn(sample: readonly number[]): Generator<undefined, void> {
    const { groups, lists, words } = this;
    const { recordBytes } = this.layout;
    for (const [group, row] of spreadEvenly(sample, groups.count).entries())
      this.copy(row, groups.centers + group * recordBytes, NO_ROW);
    yield* this.improve(groups, spreadEvenly(sample, SAMPLE_A_GROUP * groups.count));
    const firsts = spreadEvenly(sample, lists.count);
    const groupOf = yield* this.nearest(firsts, groups);
    const starts = words.subarray(lists.starts / 4, lists.starts / 4 + groups.count + 1);
    const order = firsts
      .map((_, at) => at)
      .sort((one, other) => groupOf[one]! - groupOf[other]! || one - other);
    for (const [at, first] of order.entries()) {
      this.copy(firsts[first]!, lists.centers + at * recordBytes, NO_ROW);
      starts[groupOf[first]! + 1]!++;
    }
    for (let group = 0; group < groups.count; group++) starts[group + 1]! += starts[group]!;
    yield* this.improve(lists, sample);
  }

  /** The list, for each row, whose center is nearest its vector: of those in the groups that are nearest. */
  *nearest(rows: ArrayLike<number>, among = this.lists): Generator<undefined, Uint16Array> {
    const { records, out } = this.work;
    const { length, recordBytes } = this.layout;
    const found = new Uint16Array(rows.length);
    const job = { ...among, ...this.work, length, probes: NEAR_GROUPS };
    for (let first = 0; first < rows.length; first += BATCH) {
      const count = Math.min(BATCH, rows.length - first);
      for (let at = 0; at < count; at++) this.copy(rows[first + at]!, records + at * recordBytes);
      this.kernels.nearestBytes({ ...job, count });
      for (let at = 0; at < count; at++) found[first + at] = this.words[out / 4 + at]!;
      yield;
    }
    return found;
  }

  /** Puts centers in the middle of the vectors that are nearest them, some times. */
  private *improve(among: Grouped, sample: readonly number[]): Generator<undefined, void> {
    const { dimensions } = this.place;
    const { length } = this.layout;
    const scales = new Float32Array(this.fromWords.buffer);
    for (let round = 0; round < ROUNDS; round++) {
      const nearest = yield* this.nearest(sample, among);
      const sums = new Float64Array(among.count * dimensions);
      for (const [at, row] of sample.entries()) {
        const first = nearest[at]! * dimensions;
        const record = this.offsetOf(row);
        const scale = scales[(record + length) / 4]!;
        for (let number = 0; number < dimensions; number++)
          sums[first + number]! += scale * this.from[record + number]!;
        if (at % BATCH === BATCH - 1) yield;
      }
      for (let center = 0; center < among.count; center++)
        this.move(
          among,
          center,
          Float32Array.from(sums.subarray(center * dimensions, (center + 1) * dimensions)),
        );
    }
  }

  /** Copies the record of a row to an address in the new memory. @returns false where it is gone */
  copy(row: number, to: number, asRow = row): boolean {
    const { length, recordBytes } = this.layout;
    const isThere = this.place.places[row]! > 0;
    const [from, target] = [this.offsetOf(row) / 4, to / 4];
    if (isThere)
      for (let word = 0; word < recordBytes / 4; word++)
        this.words[target + word] = this.fromWords[from + word]!;
    this.words[target + length / 4 + 2] = isThere ? asRow : NO_ROW;
    return isThere;
  }

  /** Puts a center where its vectors are; one without any stays. */
  private move({ centers }: Grouped, center: number, sum: Float32Array): void {
    if (sum.every((number) => number === 0)) return;
    const { length, recordBytes } = this.layout;
    const at = centers + center * recordBytes;
    const { buffer } = this.memory;
    const { scale, offset } = packVector(sum, 'cosine', new Int8Array(buffer, at, sum.length));
    new Float32Array(buffer, at + length, 2).set([scale, offset]);
  }

  private offsetOf(row: number): number {
    return this.layout.records + (this.place.places[row]! - 1) * this.layout.recordBytes;
  }
}
