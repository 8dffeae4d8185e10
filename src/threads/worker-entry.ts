import { yieldToServing } from '../platform/process/thread-priority.ts';
import { gather } from './gather-training-data.ts';
import { changeGiven, takeGiven } from './given-models.ts';
import { learnRanking } from './learn-ranking.ts';
import { answerQuestion, makeLists } from './make-lists.ts';
import { FULL_PRIORITY, type Job, type JobKind, type Jobs } from './messages.ts';
import { recountFeedback } from './recount-feedback.ts';
import { clusterVectors, findItems, findNeighbors, searchVectors } from './searches.ts';
import { finish, load, prepare, run } from './train-parts.ts';

// A pool tells its threads what they are for.
yieldToServing(process.argv.includes(FULL_PRIORITY) ? 'full-priority' : 'training');

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
  vectors: searchVectors,
  cluster: clusterVectors,
  searchItems: findItems,
  recount: recountFeedback,
  given: changeGiven,
  takeGiven,
  nothing: () => undefined,
};

export default function work(job: Job): unknown {
  return (WORK[job.kind] as (job: Job) => unknown)(job);
}
