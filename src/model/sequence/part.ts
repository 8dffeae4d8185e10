import type { TrainingData } from '../../dataset/training-data.ts';
import type { LearnedPart, StageRoom } from '../learned-part.ts';
import { neighborsKept } from '../neighbors/items-part.ts';
import {
  type NeighborTable,
  packDraft,
  spreadTable,
  tableModelsBytes,
  tableSaving,
} from '../neighbors/neighbor-table.ts';
import { servedItems, type WithServedItems } from '../served-items.ts';
import { planSample, type SampleLimits, type SamplePlan, sampleData } from '../user-sample.ts';
import { SequenceCounter } from './counter.ts';
import { placeSequence, type SequenceTask, sequenceMemoryBytes, timelineBytes } from './memory.ts';
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
  title: 'items in sequence',
  stage: 'Counting what follows what',
  saving: tableSaving('sequence'),
  memory: (data, _options, _slots, _serving, _reads, room) => planOf(data, room).memory,
  prepare(all, _options, _slots, { allocate, reads, room }) {
    const data = sampleData(all, planOf(all, room).share);
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

function bytesOf({ itemRowCount }: TrainingData): SampleLimits['bytesOf'] {
  return (shape) => ({
    piece: timelineBytes(shape),
    training: sequenceMemoryBytes(shape),
    models: tableModelsBytes(shape.itemCount, neighborsKept(shape.itemCount)) + 8 * itemRowCount,
  });
}

/** One thread counts. It takes as long as there are likes, so memory alone bounds it. */
function planOf(data: TrainingData, room: StageRoom): SamplePlan {
  return planSample(data, 1, room, () => bytesOf(data), Number.POSITIVE_INFINITY);
}
