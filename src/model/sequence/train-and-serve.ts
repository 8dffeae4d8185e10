import type { TrainingData } from '../../dataset/training-data.ts';
import { packDraft, spreadTable } from '../neighbors/neighbor-table.ts';
import { placedSumsBytes } from '../neighbors/row-sums.ts';
import { type SummedPart, summedTable, sumOfLikes } from '../neighbors/summed-lists.ts';
import { neighborsKept } from '../neighbors/train-and-serve-items.ts';
import type { ServingShape, StageRoom } from '../part/learned-part.ts';
import {
  planSample,
  type SampleLimits,
  type SamplePlan,
  sampleData,
} from '../part/sample-users-to-fit-memory.ts';
import { servedItems } from '../part/served-items.ts';
import { placeSequence, type SequenceTask, sequenceMemoryBytes, timelineBytes } from './memory-layout.ts';
import { writeTimeline } from './timelines.ts';
import { TransitionCounter } from './transition-counter.ts';

/** All likes are summed alike, and the recent ones more than others. */
const SUMS = { kinds: 2 };

/** A recent like counts half after so many later ones, and not at all where it would weigh less than this. */
const RECENT_HALF_LIFE_LIKES = 5;
const RECENT_WEIGHT_MIN = 1 / 64;
const RECENT = Float64Array.from(
  { length: Math.floor(-Math.log2(RECENT_WEIGHT_MIN) * RECENT_HALF_LIFE_LIKES) + 1 },
  (_, later) => 2 ** (-later / RECENT_HALF_LIFE_LIKES),
);

/** Which items users go on to; see `transition-counter.ts`. */
export const sequencePart: SummedPart<object, SequenceTask, 'count', 'sequence' | 'sequence_recent'> = {
  title: 'items in sequence',
  stage: 'Counting what follows what',
  ...summedTable('sequence', SUMS),
  memory: (data, _options, slots, serving, _reads, room) => planOf(data, slots, serving, room).memory,
  prepare(all, _options, slots, { allocate, reads, room }, serving) {
    const data = sampleData(all, planOf(all, slots, serving, room).share);
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
  run: (task) => new TransitionCounter(task).run(),
  model: ({ draft, served }, _outcome, fingerprint) => spreadTable(packDraft(draft, fingerprint), served),
  features: {
    sequence: sumOfLikes('what people go on to after any of the items that the user likes', true),
    sequence_recent: {
      meaning: 'what people go on to after the latest items that the user likes',
      sum: 1,
      weights: RECENT,
      isShare: true,
    },
  },
  // Sessions are answered by it, whatever lists are ranked by.
  training: { options: () => ({}), isAlwaysWanted: true, isOnDemand: false },
};

function bytesOf(
  { itemRowCount: rowCount }: TrainingData,
  threads: number,
  { listLengthMax }: ServingShape,
): SampleLimits['bytesOf'] {
  return (shape) => {
    const table = {
      learnedItems: shape.itemCount,
      entriesARow: neighborsKept(shape.itemCount),
      rowCount,
    };
    const placed = placedSumsBytes(table, threads, listLengthMax, SUMS);
    const piece = Math.max(timelineBytes(shape), placed.piece);
    return { ...placed, piece, training: sequenceMemoryBytes(shape) };
  };
}

/** One thread counts. It takes as long as there are likes, so memory alone bounds it. */
function planOf(data: TrainingData, slots: number, serving: ServingShape, room: StageRoom): SamplePlan {
  const limits = (threads: number) => bytesOf(data, threads, serving);
  return planSample(data, slots, room, limits, Number.POSITIVE_INFINITY);
}
