import type { LearnedPart } from '../learned-part.ts';
import { neighborsKept } from '../neighbors/items-part.ts';
import {
  decodeNeighborTable,
  encodeNeighborTable,
  type NeighborTable,
  packDraft,
  spreadTable,
  tableModelsBytes,
} from '../neighbors/neighbor-table.ts';
import { servedItems, type WithServedItems } from '../served-items.ts';
import { SequenceCounter } from './counter.ts';
import { placeSequence, type SequenceTask, sequenceMemoryBytes } from './memory.ts';
import { writeTimeline } from './timelines.ts';

/** Which items users go on to; see `counter.ts`. */
export const sequencePart: LearnedPart<
  object,
  SequenceTask & WithServedItems,
  'count',
  undefined,
  NeighborTable,
  NeighborTable
> = {
  stage: 'Counting what follows what',
  saving: { name: 'sequence', encode: encodeNeighborTable, decode: decodeNeighborTable },
  memory({ interactions, itemRowCount }, _options, _slots) {
    const { itemCount } = interactions;
    const models = tableModelsBytes(itemCount, neighborsKept(itemCount)) + 8 * itemRowCount;
    return { training: sequenceMemoryBytes(interactions), models };
  },
  prepare(data, _options, _slots, { allocate, reads }) {
    const { indptr, indices } = data.interactions.byUser;
    const fill = (words: Uint32Array) =>
      reads.readTimes(data, (userRow, timesMs) => {
        const [from, to] = [indptr[userRow]!, indptr[userRow + 1]!];
        writeTimeline(words, from, indices.subarray(from, to), timesMs);
      });
    return { ...placeSequence(data.interactions, fill, allocate), served: servedItems(data) };
  },
  *course({ itemCount }) {
    yield { kind: 'phase', phase: 'count', rows: itemCount };
    return undefined;
  },
  run: (task) => new SequenceCounter(task).run(),
  model: ({ draft, served }, _outcome, fingerprint) => spreadTable(packDraft(draft, fingerprint), served),
  serve: (table) => table,
};
