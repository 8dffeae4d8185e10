import type { LocalReads } from '../../store/data-store.ts';
import { TextVectors } from './text-vectors.ts';
import type { VectorTable } from './vector-table.ts';

/** Texts read between two pauses: some tenths of a millisecond. */
const STEP_TEXTS = 16;

/** A space whose vectors are made of the texts of items: comments, labels and categories. */
export class TextSpace {
  private readonly table: VectorTable;
  private readonly reads: LocalReads;
  private readonly texts: TextVectors;

  constructor(table: VectorTable, reads: LocalReads) {
    this.table = table;
    this.reads = reads;
    this.texts = new TextVectors(table.space.dimensions);
  }

  /** True once there are twice as many items as words were counted in: how rare a word is has changed then. */
  get isOutgrown(): boolean {
    return this.table.size > 2 * Math.max(this.texts.size, STEP_TEXTS);
  }

  /** Counts the words of all items, and makes all vectors by that, with pauses. */
  *build(): Generator<undefined, void> {
    this.texts.forget();
    yield* this.eachItem((row) => {
      const item = this.reads.itemAt(row);
      if (item !== undefined) this.texts.count(item);
    });
    yield* this.eachItem((row) => this.renew(row));
  }

  /** Makes the vector of an item as it is now. @returns false where the table has no room */
  renew(row: number): boolean {
    const vector = this.made(row);
    if (vector !== undefined) return this.table.put(row, vector);
    this.table.remove(row);
    return true;
  }

  /** The vector of an item as it is in memory, of length 1; undefined for one without words. */
  vectorAt(row: number): Float32Array | undefined {
    return this.table.vectorAt(row) ?? this.made(row);
  }

  /** The same by what was counted: it takes some hundred times as long. */
  private made(row: number): Float32Array | undefined {
    const item = row < 0 ? undefined : this.reads.itemAt(row);
    return item && this.texts.vectorOf(item);
  }

  private *eachItem(visit: (row: number) => unknown): Generator<undefined, void> {
    for (let row = 0; row < this.reads.itemRowCount; row++) {
      visit(row);
      if (row % STEP_TEXTS === STEP_TEXTS - 1) yield;
    }
  }
}
