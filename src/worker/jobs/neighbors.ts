import { loadKernels } from '../../kernel/load-kernels.ts';
import { type Incidence, incidenceOfLabels, itemsByUsers } from '../../model/neighbors/incidence.ts';
import { type IndexPlan, planIndex } from '../../model/neighbors/index-plan.ts';
import { type PlacedSimilarity, placeSimilarity } from '../../model/neighbors/memory.ts';
import { encodeNeighborTable, type NeighborTable } from '../../model/neighbors/neighbor-table.ts';
import { SimilaritySearch } from '../../model/neighbors/similarity-search.ts';
import {
  finishTasks,
  type NeighborTask,
  type PolicySimilarities,
  policyTasks,
  runNeighborTask,
} from '../../model/neighbors/task.ts';
import type { CompareJob, FinishNeighborsJob, PlaceNeighborsJob } from '../messages.ts';
import { NEIGHBORS_NAME } from '../model-mark.ts';
import { cacheAt, withReads } from './stores.ts';

/** See `PlaceNeighborsJob`. */
export function placeNeighbors(job: PlaceNeighborsJob): readonly NeighborTask[] {
  const { policy, gathered, k } = job;
  const { interactions } = gathered;
  const labels: (readonly string[])[] = [];
  // Rows are never used again, so those that are gone say nothing of how rare a thing is.
  const population = withReads(job.dataPath, (reads) => reads.itemCount);
  if (policy !== 'related') {
    withReads(job.dataPath, (reads) => reads.scanItems(0, (item) => (labels[item.row] = item.labels)));
  }
  const labelsOf = (row: number) => labels[row] ?? [];
  const place = (incidence: Incidence) => {
    const options = { listLengthMax: k, reserveIndex: job.enableIndex, population };
    const similarity = placeSimilarity(incidence, options, job.slots);
    return { similarity, plan: plan(similarity, job) };
  };
  const byLabels =
    policy === 'related' ? undefined : place(incidenceOfLabels(labelsOf, interactions.itemCount));
  const byUsers = policy === 'similar' ? undefined : place(itemsByUsers(interactions));
  const similarities: PolicySimilarities = {
    ...(byLabels && { labels: byLabels.similarity, labelPlan: byLabels.plan }),
    ...(byUsers && { related: byUsers.similarity, relatedPlan: byUsers.plan }),
  };
  return policyTasks(policy, similarities, (row) => labelsOf(row).length > 0, k);
}

function plan(
  similarity: PlacedSimilarity,
  { enableIndex, indexRecall, k, seed }: PlaceNeighborsJob,
): IndexPlan {
  const search = new SimilaritySearch(similarity, loadKernels(similarity.memory), 0);
  return planIndex(search, { enableIndex, indexRecall, k, seed });
}

/** See `CompareJob`. */
export function compare({ tasks, slot }: CompareJob): boolean {
  return tasks.every((task) => runNeighborTask(task, loadKernels(task.similarity.memory), slot));
}

/** See `FinishNeighborsJob`. */
export async function finishNeighbors(job: FinishNeighborsJob): Promise<NeighborTable> {
  const table = finishTasks(job.tasks, job.fingerprint);
  await cacheAt(job.cachePath).putBlob(NEIGHBORS_NAME, encodeNeighborTable(table));
  return table;
}
