import { loadKernels } from '../kernel/load-kernels.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import { SimilarUsers } from '../model/neighbors/similar-users.ts';
import { likeTest, typeTest } from '../recommend/history/counts-as-positive.ts';
import { neighborsFromStore } from '../recommend/neighbors/neighbors-from-store.ts';
import { throwIfCancelled } from './cancellation.ts';
import type { NeighborsJob, RelatedJob } from './messages.ts';
import { withReads } from './open-stores.ts';

/** See `NeighborsJob`. */
export function findNeighbors(job: NeighborsJob): Ranked | undefined {
  throwIfCancelled(job);
  if (job.among === 'store') return findRelated(job);
  const { users, slot, asked, k } = job;
  return new SimilarUsers(users, { instantiate: loadKernels, slot }).find(asked, k);
}

function findRelated(job: RelatedJob): Ranked {
  const { dataPath, relation, row, k, positiveTypes, positiveTtlMs, untilMs } = job;
  return withReads(dataPath, (reads) => {
    const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
    const isLike = likeTest(isPositive, positiveTtlMs, untilMs);
    return neighborsFromStore(reads, relation, row, k, isLike, () => throwIfCancelled(job));
  });
}
