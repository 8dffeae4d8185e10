/** Works out the features of an item that do not depend on the user, and writes them to `out` from `at` on. */
export type WriteFeatures = (itemRow: number, out: Float64Array, at: number) => void;

/**
 * Keeps features of items that do not depend on the user, so that they are worked out once an item. Those of one item
 * stand side by side: for seven, one cache line an item. A page of memory that nobody asks for is never touched.
 */
export class KeptFeatures {
  private readonly rowCount: number;
  private readonly width: number;
  /** `width` features an item, then 1 where they are known. */
  private readonly values: Float64Array;

  /**
   * @param rowCount items from this row on are worked out each time
   * @param width features of an item, 1 or more
   */
  constructor(rowCount: number, width: number) {
    this.rowCount = rowCount;
    this.width = width;
    this.values = new Float64Array(rowCount * (width + 1));
  }

  /** Writes what `write` does, which is the same whenever it is asked. */
  copy(itemRow: number, out: Float64Array, at: number, write: WriteFeatures): void {
    const { width, values } = this;
    if (itemRow >= this.rowCount) {
      write(itemRow, out, at);
      return;
    }
    const from = itemRow * (width + 1);
    if (values[from + width] === 0) {
      write(itemRow, values, from);
      values[from + width] = 1;
    }
    for (let feature = 0; feature < width; feature++) out[at + feature] = values[from + feature]!;
  }
}
