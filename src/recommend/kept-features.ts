/**
 * Keeps features of items that do not depend on the user: 8 bytes an item and feature, for as many as are asked for.
 * @param rowCount items from this row on are worked out each time
 */
export function keepFeatures(
  rowCount: number,
): (feature: number, value: (itemRow: number) => number) => (itemRow: number) => number {
  const kept: (Float64Array | undefined)[] = [];
  return (feature, value) => {
    // 0 stands for not known yet, so that a page of memory which nobody asks for is never touched.
    const values = (kept[feature] ??= new Float64Array(rowCount));
    return (row) => {
      if (row >= rowCount) return value(row);
      if (values[row] === 0) values[row] = value(row);
      return values[row]!;
    };
  };
}
