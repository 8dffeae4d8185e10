import { yieldToServing } from '../domain/process/thread-priority.ts';
import { gather } from './jobs/gather-training-data.ts';
import { learnRanking } from './jobs/learn-ranking.ts';
import { answerQuestion, makeLists } from './jobs/make-lists.ts';
import { findRelated } from './jobs/neighbors-from-store-job.ts';
import { recountFeedback } from './jobs/recount-feedback.ts';
import { findItems } from './jobs/search-items.ts';
import { similarUsers } from './jobs/similar-users.ts';
import { finish, load, prepare, run } from './jobs/train-parts.ts';
import { FULL_PRIORITY, type Job, type JobKind, type Jobs } from './messages.ts';

// A pool tells its threads what they are for.
yieldToServing(process.argv.includes(FULL_PRIORITY) ? 'full-priority' : 'training');

/** What a worker thread does with each kind of job. */
const WORK: { readonly [Kind in JobKind]: (job: Jobs[Kind]['job']) => unknown } = {
  gather,
  prepare,
  run,
  finish,
  load,
  learnRanking,
  lists: makeLists,
  question: answerQuestion,
  neighbors: (job) => (job.among === 'store' ? findRelated(job) : similarUsers(job)),
  searchItems: findItems,
  recount: recountFeedback,
  nothing: () => undefined,
};

export default function work(job: Job): unknown {
  return (WORK[job.kind] as (job: Job) => unknown)(job);
}
