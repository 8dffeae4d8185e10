/**
 * Index of a search by bounds beside the rows (`assembly/pruned-neighbors.ts`): the order of the rows by their norms, of the most
 * frequent elements a bitmap each of the rows that have it, and a record of each row, all in that order.
 */
import { NO_BITMAP, RECORD_BYTES } from '../../kernel/scratch-sizes.ts';
import { viewOf } from '../../memory/memory-layout.ts';
import { bitmapRoom, type PlacedSimilarity } from './memory-layout.ts';

/** An element of fewer rows than this share is walked faster as a list than as bits. */
const BITMAP_SHARE_MIN = 1 / 2048;
const RECORD_WORDS = RECORD_BYTES / 4;
/** Words of a record before its bits. */
const RECORD_HEAD = 2;

/**
 * Writes the index into a similarity that has room for it.
 * @returns how many elements have bitmaps
 * @throws RangeError when there is no room
 */
export function placeIndex(placed: PlacedSimilarity): number {
  const { memory, layout, rowCount } = placed;
  const view = (name: string) => viewOf(memory, layout, name, 'u32');
  const norms = viewOf(memory, layout, 'norms', 'f32').subarray(0, rowCount);
  const records = view('records').fill(0);
  const recordNorms = new Float32Array(records.buffer, records.byteOffset, records.length);
  const rankOf = new Uint32Array(rowCount);
  byNorm(norms).forEach((row, rank) => {
    rankOf[row] = rank;
    recordNorms[rank * RECORD_WORDS] = norms[row]!;
    records[rank * RECORD_WORDS + 1] = row;
  });
  const [rankLists, elementRows] = [view('rankLists'), view('elementRows')];
  for (let at = 0; at < elementRows.length; at++) rankLists[at] = rankOf[elementRows[at]!]!;
  const elements = frequentElements(placed);
  placeBitmaps(placed, elements);
  return elements.length;
}

function placeBitmaps(placed: PlacedSimilarity, elements: readonly number[]): void {
  const { words } = bitmapRoom(placed);
  const view = (name: string) => viewOf(placed.memory, placed.layout, name, 'u32');
  const [records, rankLists, elementStarts] = [view('records'), view('rankLists'), view('elementStarts')];
  const bitmapOf = view('bitmapOf').fill(NO_BITMAP);
  const bitmaps = view('bitmaps').fill(0);
  elements.forEach((element, bitmap) => {
    bitmapOf[element] = bitmap;
    for (let at = elementStarts[element]!; at < elementStarts[element + 1]!; at++) {
      const rank = rankLists[at]!;
      const word = bitmap * words + (rank >>> 5);
      bitmaps[word] = bitmaps[word]! | (1 << (rank & 31));
      const own = rank * RECORD_WORDS + RECORD_HEAD + (bitmap >>> 5);
      records[own] = records[own]! | (1 << (bitmap & 31));
    }
  });
}

/** The rows by their norms, which are above 0; of equal norms the lower row first. */
function byNorm(norms: Float32Array): Uint32Array {
  // The bits of floats above 0 stand in the order of the floats, so a row's key is its norm's bits and then the row.
  const bits = new Uint32Array(Float32Array.from(norms).buffer);
  const keys = new BigUint64Array(norms.length);
  const halves = new Uint32Array(keys.buffer);
  for (let row = 0; row < norms.length; row++) {
    halves[2 * row] = row;
    halves[2 * row + 1] = bits[row]!;
  }
  keys.sort();
  return Uint32Array.from(norms, (_, rank) => halves[2 * rank]!);
}

/** The elements that get a bitmap: those that most rows have, as many as there is room for. */
function frequentElements(placed: PlacedSimilarity): number[] {
  const { memory, layout, rowCount, elementCount } = placed;
  const starts = viewOf(memory, layout, 'elementStarts', 'u32');
  const rowsWith = (element: number) => starts[element + 1]! - starts[element]!;
  const least = Math.max(1, rowCount * BITMAP_SHARE_MIN);
  const frequent: number[] = [];
  for (let element = 0; element < elementCount; element++) {
    if (rowsWith(element) >= least) frequent.push(element);
  }
  frequent.sort((a, b) => rowsWith(b) - rowsWith(a) || a - b);
  return frequent.slice(0, bitmapRoom(placed).bitmaps);
}
