import { loadKernels } from '../../kernel/load-kernels.ts';
import { MfScorer } from '../../model/mf-scorer.ts';
import { typeTest } from '../../recommend/feedback-types.ts';
import type { UserList } from '../../store/cache-store.ts';
import { FeedbackColumns } from '../../store/data-store.ts';
import type { ListsJob } from '../messages.ts';
import { cacheAt, withReads } from './stores.ts';

/** See `ListsJob`. A user without positive feedback in the model gets no list. */
export async function makeLists(job: ListsJob): Promise<number> {
  const { placed, slot, generation, madeMs, untilMs, listable, cacheSize } = job;
  const scorer = new MfScorer(placed, loadKernels(placed.memory), slot);
  const lists = withReads(job.dataPath, (reads) => {
    const isPositive = typeTest(job.positiveTypes, () => reads.feedbackTypes());
    const feedback = new FeedbackColumns();
    const made: UserList[] = [];
    for (let userRow = job.fromUserRow; userRow < job.toUserRow; userRow++) {
      const vector = scorer.userVector(userRow);
      if (vector === null) continue;
      reads.readUserFeedback(userRow, feedback);
      if (!feedback.types.subarray(0, feedback.length).some(isPositive)) continue;
      const { itemRows, scores } = scorer.recommend(vector, cacheSize, readRows(feedback, untilMs), listable);
      made.push({ userRow, generation, madeMs, itemRows, scores });
    }
    return made;
  });
  await cacheAt(job.cachePath).putLists(lists);
  return lists.length;
}

/** Distinct rows of the items with feedback in effect, ascending as the store gives them. */
function readRows({ length, itemRows, timesMs }: FeedbackColumns, untilMs: number): number[] {
  const rows: number[] = [];
  for (let at = 0; at < length; at++) {
    if (timesMs[at]! <= untilMs && rows.at(-1) !== itemRows[at]) rows.push(itemRows[at]!);
  }
  return rows;
}
