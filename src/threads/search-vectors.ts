import { loadKernels } from '../kernel/load-kernels.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import { atOnce } from '../platform/concurrency/event-loop-turns.ts';
import { scanTable } from '../recommend/vectors/scan-table.ts';
import { WORKER_SCRATCH } from '../recommend/vectors/vector-table.ts';
import { throwIfCancelled } from './cancellation.ts';
import type { VectorsJob } from './messages.ts';

/** See `VectorsJob`. */
export function searchVectors(job: VectorsJob): Ranked {
  const { place, query } = job;
  const scan = scanTable(place, loadKernels(place.memory), { ...query, scratch: WORKER_SCRATCH });
  return atOnce(scan, () => throwIfCancelled(job));
}
