import { yieldToServing } from '../domain/thread-priority.ts';
import { makeLists } from './jobs/lists.ts';
import { findRelated } from './jobs/related.ts';
import { gather, load, phase, place, publish } from './jobs/train.ts';
import type { Job } from './messages.ts';

yieldToServing('training');

/** What a worker thread does with a job. */
export default function run(job: Job): unknown {
  switch (job.kind) {
    case 'gather':
      return gather(job);
    case 'place':
      return place(job);
    case 'phase':
      return phase(job);
    case 'publish':
      return publish(job);
    case 'load':
      return load(job);
    case 'lists':
      return makeLists(job);
    case 'related':
      return findRelated(job);
  }
}
