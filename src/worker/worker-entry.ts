import { yieldToServing } from '../domain/thread-priority.ts';
import { calibrate } from './jobs/calibrate.ts';
import { gather } from './jobs/gather.ts';
import { makeLists } from './jobs/lists.ts';
import { finish, load, place, run } from './jobs/parts.ts';
import { findRelated } from './jobs/related.ts';
import { findItems } from './jobs/search-items.ts';
import { similarUsers } from './jobs/similar-users.ts';
import { tally } from './jobs/tally.ts';
import { HURRYING, type Job, type JobKind, type Jobs } from './messages.ts';

// A pool tells its threads what they are for.
yieldToServing(process.argv.includes(HURRYING) ? 'hurrying' : 'training');

/** What a worker thread does with each kind of job. */
const WORK: { readonly [Kind in JobKind]: (job: Jobs[Kind]['job']) => unknown } = {
  gather,
  place,
  run,
  finish,
  load,
  calibrate,
  lists: makeLists,
  related: findRelated,
  similarUsers,
  searchItems: findItems,
  tally,
  nothing: () => undefined,
};

export default function work(job: Job): unknown {
  return (WORK[job.kind] as (job: Job) => unknown)(job);
}
