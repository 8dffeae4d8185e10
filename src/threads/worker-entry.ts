import { yieldToServing } from '../platform/process/thread-priority.ts';
import { findNeighbors } from './find-neighbors.ts';
import { gather } from './gather-training-data.ts';
import { learnRanking } from './learn-ranking.ts';
import { answerQuestion, makeLists } from './make-lists.ts';
import { FULL_PRIORITY, type Job, type JobKind, type Jobs } from './messages.ts';
import { recountFeedback } from './recount-feedback.ts';
import { findItems } from './search-items.ts';
import { finish, load, prepare, run } from './train-parts.ts';

// A pool tells its threads what they are for.
yieldToServing(process.argv.includes(FULL_PRIORITY) ? 'full-priority' : 'training');

/** The work of a thread for each kind of job. */
const WORK: { readonly [Kind in JobKind]: (job: Jobs[Kind]['job']) => unknown } = {
  gather,
  prepare,
  run,
  finish,
  load,
  learnRanking,
  lists: makeLists,
  question: answerQuestion,
  neighbors: findNeighbors,
  searchItems: findItems,
  recount: recountFeedback,
  nothing: () => undefined,
};

export default function work(job: Job): unknown {
  return (WORK[job.kind] as (job: Job) => unknown)(job);
}
