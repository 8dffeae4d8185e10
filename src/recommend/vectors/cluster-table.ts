import type { Kernels } from '../../kernel/kernels.ts';
import type { InstantiateKernels } from '../../kernel/scratch-sizes.ts';
import { spreadEvenly } from '../../memory/spread-evenly.ts';
import { Centers } from './centers.ts';
import { nearestLists } from './probe-lists.ts';
import { scanTable } from './scan-table.ts';
import { type ClusteredTable, layoutOf, scratchAt, type TablePlace } from './vector-table.ts';

/** Lists of a table: so many times the root of its vectors, within these. */
const LISTS_A_ROOT = 4;
const LISTS_MIN = 8;
const LISTS_MAX = 16_384;
/** Vectors a list that the centers are learned from. */
const SAMPLE_A_LIST = 32;
/** Part of the nearest that a search should find, of so many and of up to so many, and vectors that tell what that takes. */
const RECALL = 0.985;
const ASKED_NEAREST = 100;
const ASKED_NEAREST_MAX = 1600;
const ASKED_ROWS = 128;
/** Vectors between two pauses. */
const STEP_VECTORS = 64;

/**
 * Puts the vectors of a space of cosines into lists, each around a center, with pauses. Rows alone tell the result, not the
 * order in which they were written.
 * @param place of a table that others may write meanwhile: what they change is theirs to bring up to date
 */
export function* clusterTable(
  place: TablePlace,
  instantiate: InstantiateKernels,
): Generator<undefined, ClusteredTable> {
  const rows = Uint32Array.from(rowsOf(place));
  const wanted = Math.round(LISTS_A_ROOT * Math.sqrt(rows.length));
  const listCount = Math.min(LISTS_MAX, Math.max(LISTS_MIN, wanted));
  const layout = layoutOf(place);
  const centers = new Centers(place, instantiate, listCount, rows.length);
  yield* centers.learn(spreadEvenly(rows, SAMPLE_A_LIST * listCount));
  const listOf = yield* centers.nearest(rows);
  const starts = new Uint32Array(new SharedArrayBuffer(4 * (listCount + 1)));
  for (const list of listOf) starts[list + 1]!++;
  starts[0] = listCount;
  for (let list = 0; list < listCount; list++) starts[list + 1]! += starts[list]!;
  const places = new Uint32Array(new SharedArrayBuffer(4 * place.places.length));
  const listOfRow = new Uint16Array(places.length);
  const next = starts.slice();
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const to = next[listOf[at]!]!++;
    listOfRow[row] = listOf[at]!;
    if (centers.copy(row, layout.records + to * layout.recordBytes)) places[row] = to + 1;
    if (at % STEP_VECTORS === STEP_VECTORS - 1) yield;
  }
  const table = { memory: centers.memory, places, starts };
  const lists = { ...place, ...table, count: starts[listCount]! };
  // Each stands behind one that centers were learned from, whose own list is nearer than those of others are.
  const asked = spreadEvenly(rows, ASKED_ROWS, 1);
  return { ...table, shares: yield* sharesToLookAt(lists, centers.kernels, asked, listOfRow) };
}

/**
 * The share of vectors that a search looks at, list by list, until it has that part of the nearest of a vector which it
 * should: told by some of the vectors themselves. See `ClusteredTable`.
 */
function* sharesToLookAt(
  lists: TablePlace & { readonly starts: Uint32Array },
  kernels: Kernels,
  asked: readonly number[],
  listOfRow: Uint16Array,
): Generator<undefined, number[]> {
  const { memory, places, dimensions, starts } = lists;
  const { length, records, recordBytes } = layoutOf(lists);
  const [first, end] = [starts[0]!, starts.at(-1)!];
  const seenOf: number[][] = [];
  for (const row of asked) {
    if (places[row] === 0) continue;
    const at = records + (places[row]! - 1) * recordBytes;
    const query = Float32Array.from(new Int8Array(memory.buffer, at, dimensions));
    const accept = (other: number) => other !== row;
    const nearest = { query, k: ASKED_NEAREST_MAX, accept, scratch: 0 };
    const { rows } = yield* scanTable({ ...lists, starts: undefined }, kernels, nearest);
    // The query is packed there.
    const order = nearestLists(lists, kernels, scratchAt(length, 0), 1, starts.length - 1);
    const seenBefore = new Float64Array(order.length);
    let seen = 0;
    for (const list of order) {
      seen += starts[list + 1]! - starts[list]!;
      seenBefore[list] = seen / (end - first);
    }
    seenOf.push(rows.map((other) => seenBefore[listOfRow[other]!]!));
  }
  const shares: number[] = [];
  for (let k = ASKED_NEAREST; k <= ASKED_NEAREST_MAX; k *= 2) {
    const seen = seenOf.flatMap((of) => of.slice(0, k)).sort((one, other) => one - other);
    shares.push(seen[Math.ceil(RECALL * seen.length) - 1] ?? 1);
  }
  return shares;
}

function* rowsOf({ places }: TablePlace): Generator<number> {
  for (let row = 0; row < places.length; row++) if (places[row]! > 0) yield row;
}
