import { yieldToServing } from '../domain/thread-priority.ts';
import { calibrate } from './jobs/calibrate.ts';
import { learnClicks } from './jobs/click.ts';
import { makeLists, remakeLists } from './jobs/lists.ts';
import { compare, finishNeighbors, placeNeighbors } from './jobs/neighbors.ts';
import { findRelated } from './jobs/related.ts';
import { restore } from './jobs/restore.ts';
import { finishWeights, learnWeights, placeWeights } from './jobs/slim.ts';
import { gather, load, phase, place, publish } from './jobs/train.ts';
import { placeUsers, similarUsers } from './jobs/users.ts';
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
    case 'remake':
      return remakeLists(job);
    case 'related':
      return findRelated(job);
    case 'placeNeighbors':
      return placeNeighbors(job);
    case 'compare':
      return compare(job);
    case 'finishNeighbors':
      return finishNeighbors(job);
    case 'placeSlim':
      return placeWeights(job);
    case 'slim':
      return learnWeights(job);
    case 'finishSlim':
      return finishWeights(job);
    case 'placeUsers':
      return placeUsers(job);
    case 'similarUsers':
      return similarUsers(job);
    case 'click':
      return learnClicks(job);
    case 'calibrate':
      return calibrate(job);
    case 'restore':
      return restore(job);
  }
}
