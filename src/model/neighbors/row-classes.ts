/**
 * Rows put into classes by which of the most frequent elements they have. Frequent elements are where the cost of
 * comparing all pairs lies, and rows of one class are all alike in them: so a row is compared with the class once,
 * instead of with each row of it.
 */
import { viewOf } from '../../memory/array-layout.ts';
import { CLASS_ELEMENTS_MAX, type PlacedSimilarity } from './memory-layout.ts';

/** Numbers of frequent elements that are tried. */
const ELEMENT_COUNTS = [4, 8, 12, 16, 20, 24, 28, CLASS_ELEMENTS_MAX];
/** More classes than this share of the rows save nothing. */
const CLASS_SHARE_MAX = 0.25;
/**
 * In additions of the kernel, measured: what a comparison with a class costs, an addition outside the kernel, and the
 * keeping of one row's list.
 */
const CLASS_COST = 10;
const ADDITION_COST = 4;
const LIST_COST = 20_000;

/** What the classes are by, and what comparing by them costs in the kernel's additions. */
export interface ClassPlan {
  /** The frequent elements; bit i of a mask stands for the i-th. */
  readonly elements: readonly number[];
  readonly classCount: number;
  readonly cost: number;
}

/** Chooses by which elements classes are cheapest; undefined when there are too many classes whichever are taken. */
export function planClasses({
  memory,
  layout,
  rowCount,
  elementCount,
  additions,
}: PlacedSimilarity): ClassPlan | undefined {
  const elementStarts = viewOf(memory, layout, 'elementStarts', 'u32');
  const rowsWith = (element: number) => elementStarts[element + 1]! - elementStarts[element]!;
  const order = Array.from({ length: elementCount }, (_, element) => element);
  order.sort((a, b) => rowsWith(b) - rowsWith(a) || a - b);
  const frequent = order.slice(0, CLASS_ELEMENTS_MAX);
  const masks = masksOf(frequent, elementStarts, viewOf(memory, layout, 'elementRows', 'u32'), rowCount);
  let best: ClassPlan | undefined;
  for (const count of ELEMENT_COUNTS) {
    if (count > frequent.length) break;
    const elements = frequent.slice(0, count);
    const classCount = countDistinct(masks, count, rowCount * CLASS_SHARE_MAX);
    if (classCount === undefined) break;
    const left = elements.reduce((sum, element) => sum - rowsWith(element) ** 2, additions);
    const cost = ADDITION_COST * left + (CLASS_COST * classCount + LIST_COST) * rowCount;
    if (best === undefined || cost < best.cost) best = { elements, classCount, cost };
  }
  return best;
}

/** Which of the elements each row has. */
function masksOf(
  elements: readonly number[],
  elementStarts: Uint32Array,
  elementRows: Uint32Array,
  rowCount: number,
): Uint32Array {
  const masks = new Uint32Array(rowCount);
  elements.forEach((element, bit) => {
    for (let at = elementStarts[element]!; at < elementStarts[element + 1]!; at++) {
      masks[elementRows[at]!] = masks[elementRows[at]!]! | (1 << bit);
    }
  });
  return masks;
}

/** How many masks there are in the lowest `bits`; undefined when more than `most`. */
function countDistinct(masks: Uint32Array, bits: number, most: number): number | undefined {
  const keep = bits === 32 ? -1 : (1 << bits) - 1;
  const seen = new Set<number>();
  for (const mask of masks) {
    seen.add(mask & keep);
    if (seen.size > most) return undefined;
  }
  return seen.size;
}

/**
 * Writes the classes into the memory: each row's class, each class's mask, and its rows, those with the least norm (which
 * score highest among rows alike) first.
 */
export function placeClasses(placed: PlacedSimilarity, { elements }: ClassPlan): void {
  const { memory, layout, rowCount } = placed;
  const view = (name: string) => viewOf(memory, layout, name, 'u32');
  const norms = viewOf(memory, layout, 'norms', 'f32');
  const masks = masksOf(elements, view('elementStarts'), view('elementRows'), rowCount);
  const rows = view('classRows');
  for (let row = 0; row < rowCount; row++) rows[row] = row;
  rows.sort((a, b) => masks[a]! - masks[b]! || norms[a]! - norms[b]! || a - b);
  const [classOf, classMasks, classStarts] = [view('classOf'), view('classMasks'), view('classStarts')];
  let count = 0;
  rows.forEach((row, at) => {
    if (at === 0 || masks[row] !== classMasks[count - 1]) {
      classMasks[count] = masks[row]!;
      classStarts[count++] = at;
    }
    classOf[row] = count - 1;
  });
  classStarts[count] = rowCount;
}
