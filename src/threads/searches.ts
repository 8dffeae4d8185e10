import { performance } from 'node:perf_hooks';
import { loadKernels } from '../kernel/load-kernels.ts';
import { hasBit } from '../memory/bits.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import { SimilarUsers } from '../model/neighbors/similar-users.ts';
import { atOnce } from '../platform/concurrency/event-loop-turns.ts';
import { searchItems } from '../recommend/catalogue/search-by-text.ts';
import { likeTest, typeTest } from '../recommend/history/counts-as-positive.ts';
import { neighborsFromStore } from '../recommend/neighbors/neighbors-from-store.ts';
import { clusterTable } from '../recommend/vectors/cluster-table.ts';
import { scanTable } from '../recommend/vectors/scan-table.ts';
import type { ClusteredTable } from '../recommend/vectors/vector-table.ts';
import { throwIfCancelled } from './cancellation.ts';
import type { ClusterJob, NeighborsJob, RelatedJob, SearchItemsJob, VectorsJob } from './messages.ts';
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

/** See `VectorsJob`. */
export function searchVectors(job: VectorsJob): Ranked {
  const { place, query } = job;
  const accept = (row: number) => hasBit(query.allowed, row);
  // The last region is that of searches, of which there is one at a time.
  const asked = { ...query, accept, scratch: place.scratches - 1 };
  const scan = scanTable(place, loadKernels(place.memory), asked);
  return atOnce(scan, () => throwIfCancelled(job));
}

/** See `ClusterJob`. */
export function clusterVectors(job: ClusterJob): ClusteredTable {
  return atOnce(clusterTable(job.place, loadKernels), () => throwIfCancelled(job));
}

/** See `SearchItemsJob`. */
export function findItems({ dataPath, text, n, timeMsMax }: SearchItemsJob): string[] {
  const endMs = performance.now() + timeMsMax;
  return withReads(dataPath, (reads) => searchItems(reads, text, n, () => performance.now() > endMs));
}
