import type { Interactions } from '../../dataset/interactions.ts';
import {
  type ArrayPlan,
  type MemoryLayout,
  placeArrays,
  plannedBytes,
  viewOf,
} from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import { createDraft, draftBytes, type NeighborDraft } from '../neighbors/neighbor-table.ts';
import { neighborsKept } from '../neighbors/train-and-serve-items.ts';
import { createChunkCounter, type SharedTask } from '../part/chunks-for-threads.ts';
import { itemOf } from './timelines.ts';

/** All that a thread needs to take part; plain data and shared memory. */
export interface SequenceTask extends SharedTask {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly itemCount: number;
  /** Row i holds the items that come around item i, and what speaks for them. */
  readonly draft: NeighborDraft;
}

/** Views of what a task's threads read. */
export interface SequenceViews {
  /** See `timelines.ts`. */
  readonly timelines: Uint32Array;
  /** Where in the timelines each item stands: `places[itemStarts[item]] .. places[itemStarts[item + 1] - 1]`. */
  readonly itemStarts: Uint32Array;
  readonly places: Uint32Array;
}

export function sequenceViews({ memory, layout }: Pick<SequenceTask, 'memory' | 'layout'>): SequenceViews {
  const view = (name: string) => viewOf(memory, layout, name, 'u32');
  return { timelines: view('timelines'), itemStarts: view('itemStarts'), places: view('places') };
}

function arrayPlans({ itemCount, count }: Pick<Interactions, 'itemCount' | 'count'>): ArrayPlan[] {
  return [
    ['timelines', 'u32', [count]],
    ['itemStarts', 'u32', [itemCount + 1]],
    ['places', 'u32', [count]],
  ];
}

/** Bytes of the timelines and where items stand in them, in one memory. */
export function timelineBytes(shape: Pick<Interactions, 'itemCount' | 'count'>): number {
  return plannedBytes(arrayPlans(shape));
}

/** Bytes of shared memory that counting takes at most. */
export function sequenceMemoryBytes(shape: Pick<Interactions, 'itemCount' | 'count'>): number {
  const { itemCount } = shape;
  return timelineBytes(shape) + draftBytes(itemCount, neighborsKept(itemCount));
}

/**
 * Lays out a counting.
 * @param fillTimelines writes the timelines of all users, see `timelines.ts`
 * @throws RangeError when it does not fit in memory
 */
export function placeSequence(
  { itemCount, count, byItem }: Interactions,
  fillTimelines: (words: Uint32Array) => void,
  allocate?: AllocateMemory,
): SequenceTask {
  const { memory, layout } = placeArrays(arrayPlans({ itemCount, count }), allocate);
  const { timelines, itemStarts, places } = sequenceViews({ memory, layout });
  fillTimelines(timelines);
  itemStarts.set(byItem.indptr);
  const next = itemStarts.slice(0, itemCount);
  for (let place = 0; place < count; place++) {
    const item = itemOf(timelines[place]!);
    places[next[item]!] = place;
    next[item] = next[item]! + 1;
  }
  const draft = createDraft(itemCount, neighborsKept(itemCount));
  return { memory, layout, itemCount, draft, counter: createChunkCounter() };
}
