import { runFit } from './jobs/fit.ts';
import { runRelated } from './jobs/related.ts';
import type { FitResult, Job } from './messages.ts';
import type { Ranked } from '../recommend/ranked.ts';

/** What a worker thread does with a job. */
export default function run(job: Job): Promise<FitResult> | Ranked {
  switch (job.kind) {
    case 'fit':
      return runFit(job);
    case 'related':
      return runRelated(job);
  }
}
