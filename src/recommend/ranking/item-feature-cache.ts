import { grown } from '../../memory/growing-u32.ts';

/** Works out the features of an item that do not depend on the user, and writes them to `out` from `at` on. */
export type WriteFeatures = (itemRow: number, out: Float64Array, at: number) => void;

/** Where the features of some items stand. */
export interface FeaturePlaces {
  readonly values: Float64Array;
  /** Of each item the place of its first feature. */
  readonly places: Uint32Array;
}

/**
 * Keeps features of items that do not depend on the user, so that they are worked out once an item. Those of one item
 * stand side by side: for seven, one cache line an item. A page of memory that nobody asks for is never touched.
 */
export class ItemFeatureCache {
  private readonly rowCount: number;
  private readonly width: number;
  /** `width` features an item, then 1 where they are known; behind them room for items that are worked out each time. */
  private values: Float64Array;
  private places = new Uint32Array(0);

  /**
   * @param rowCount items from this row on are worked out each time
   * @param width features of an item, 1 or more
   */
  constructor(rowCount: number, width: number) {
    this.rowCount = rowCount;
    this.width = width;
    this.values = new Float64Array(rowCount * (width + 1));
  }

  /**
   * Finds the features of items, which `write` gives, the same whenever it is asked.
   * @returns good until the next call
   */
  placesOf(itemRows: ArrayLike<number>, write: WriteFeatures): FeaturePlaces {
    const { rowCount } = this;
    const stride = this.width + 1;
    if (this.places.length < itemRows.length) this.places = new Uint32Array(itemRows.length);
    const { places } = this;
    let next = rowCount * stride;
    for (let at = 0; at < itemRows.length; at++) {
      const row = itemRows[at]!;
      const isKept = row < rowCount;
      const place = isKept ? row * stride : next;
      places[at] = place;
      if (!isKept) next = this.makeRoom(next + stride);
      else if (this.values[place + stride - 1] !== 0) continue;
      else this.values[place + stride - 1] = 1;
      write(row, this.values, place);
    }
    return { values: this.values, places };
  }

  /** @returns `length`, for which there is room then */
  private makeRoom(length: number): number {
    if (length > this.values.length) this.values = grown(this.values, length);
    return length;
  }
}
