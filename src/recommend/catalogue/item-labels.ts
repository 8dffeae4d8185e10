import { GrowingU32 } from '../../memory/growing-u32.ts';
import { filledInSteps, sharedU32 } from '../../memory/shared-arrays.ts';

/** Items whose labels are copied between two pauses: some tenths of a millisecond. */
const STEP_ITEMS = 2048;

/** The labels of items by number, as of now or of the moment of a copy. */
export interface ItemLabels {
  /** Another one whenever an item has come, got other labels or gone. */
  readonly version: number;
  readonly itemCount: number;
  /** Writes the numbers of an item's first labels, as many as there is room for. @returns how many */
  labelsInto(out: Uint32Array, row: number): number;
  /** Items that have the label, one at least. */
  labelCountOf(number: number): number;
}

/** Labels of items in shared memory: those of row r are `numbers` from starts[r] to starts[r + 1] - 1. */
export interface SharedLabels
  extends Readonly<Record<'starts' | 'numbers' | 'counts', Uint32Array<SharedArrayBuffer>>> {
  readonly itemCount: number;
}

/** Copies labels to shared memory, with pauses; what changes meanwhile may be in it or not. @returns undefined where no item has any */
export function* shareLabels(
  labels: ItemLabels & { readonly rowCount: number; labelNumbersAt(row: number): ArrayLike<number> },
): Generator<undefined, SharedLabels | undefined> {
  const { rowCount, itemCount } = labels;
  const starts = sharedU32(rowCount + 1);
  const numbers = new GrowingU32();
  const counts = new GrowingU32();
  for (let row = 0; row < rowCount; row++) {
    if (row % STEP_ITEMS === STEP_ITEMS - 1) yield;
    const own = labels.labelNumbersAt(row);
    for (let at = 0; at < own.length; at++) {
      numbers.push(own[at]!);
      while (counts.length <= own[at]!) counts.push(0);
      counts.add(own[at]!, 1);
    }
    starts[row + 1] = numbers.length;
  }
  if (numbers.length === 0) return undefined;
  const [all, each] = [sharedU32(numbers.length), sharedU32(counts.length)];
  yield* filledInSteps(all, () => numbers.view());
  yield* filledInSteps(each, () => counts.view());
  return { itemCount, starts, numbers: all, counts: each };
}

/** Reads labels out of shared memory. */
export function readLabels({ itemCount, starts, numbers, counts }: SharedLabels): ItemLabels {
  return {
    ...{ version: 0, itemCount },
    labelsInto(out, row) {
      const start = starts[row] ?? 0;
      const count = Math.min(out.length, (starts[row + 1] ?? start) - start);
      for (let at = 0; at < count; at++) out[at] = numbers[start + at]!;
      return count;
    },
    labelCountOf: (number) => counts[number] ?? 1,
  };
}
