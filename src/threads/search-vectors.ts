import { loadKernels } from '../kernel/load-kernels.ts';
import { hasBit } from '../memory/bits.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import { atOnce } from '../platform/concurrency/event-loop-turns.ts';
import { clusterTable } from '../recommend/vectors/cluster-table.ts';
import { scanTable } from '../recommend/vectors/scan-table.ts';
import type { ClusteredTable } from '../recommend/vectors/vector-table.ts';
import { throwIfCancelled } from './cancellation.ts';
import type { ClusterJob, VectorsJob } from './messages.ts';

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
