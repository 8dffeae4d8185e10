import type { HeldOutPairs } from '../dataset/training-data.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import { MODEL_FEATURES } from '../model/registry.ts';
import { type TypeTest, typeTest } from '../recommend/history/counts-as-positive.ts';
import { VISIT_MS } from '../recommend/models/feature-names.ts';
import { LABEL_SUM, VECTOR_SUM } from '../recommend/models/like-sums.ts';
import { chooseRanking, type HasFeature } from '../recommend/ranking/choose-ranking.ts';
import { FeedbackColumns, type LocalReads } from '../store/data-store.ts';
import { throwIfCancelled } from './cancellation.ts';
import { JUDGED_USERS_MAX, type LearnedRanking, type LearnRankingJob, type ListPlan } from './messages.ts';
import { withReads } from './open-stores.ts';
import { type HeldBy, RankingExamples } from './ranking-examples.ts';

/** Users who are asked about as of the moment before all that is held out. */
const FIRST_USERS_MAX = 500;

/** See `LearnRankingJob`. */
export function learnRanking(job: LearnRankingJob): LearnedRanking | undefined {
  // The choice takes two fifths of the time and reads nothing: pages that are freed meanwhile may be used again.
  const { examples, totals, returns } = withReads(job.plan.dataPath, (reads) => askQuestions(reads, job));
  const chosen = chooseRanking(examples, job.heldOutSinceMs, partsOf(job.plan));
  if (chosen === undefined) return undefined;
  const { knowsMs } = job.plan;
  return { ranking: { ...chosen.ranking, totals, knowsMs, returns }, choice: chosen.choice };
}

function askQuestions(reads: LocalReads, job: LearnRankingJob) {
  const isPositive = typeTest(job.plan.positiveTypes, () => reads.feedbackTypes());
  const heldBy = itemsByUser(job.heldOut);
  const { sinceMs, untilMs } = spanOfQuestions(reads, job, heldBy, isPositive);
  const asked = new RankingExamples(job, reads, isPositive, { ...job, heldBy, sinceMs, untilMs });
  // Where one like of each user was held out, what else users like is not, and they are asked at its time alone.
  if (sinceMs === job.heldOutSinceMs) asked.askAtFirst(FIRST_USERS_MAX);
  asked.askAsTheyCame(JUDGED_USERS_MAX - asked.examples.length);
  const { examples, totals, likes } = asked;
  return { examples, totals, returns: shareOfReturns(reads, isPositive, likes) };
}

/** The share of likes that return to an item within a visit, as far as repeats are kept. @param likes counting each once */
function shareOfReturns(reads: LocalReads, isPositive: TypeTest, likes: number): number {
  let returns = 0;
  let events = likes;
  for (const { type, occurrences } of reads.repeatedFeedback()) {
    if (!isPositive(type)) continue;
    for (let at = 1; at < occurrences.length; at++) {
      const { timeMs, count } = occurrences[at]!;
      events += count;
      if (timeMs - occurrences[at - 1]!.timeMs <= VISIT_MS) returns += count;
    }
  }
  return events === 0 ? 0 : returns / events;
}

function partsOf({ generation: { parts }, vectors, labels }: ListPlan): HasFeature {
  return (name) =>
    (name === VECTOR_SUM && vectors !== undefined) ||
    (name === LABEL_SUM && labels !== undefined) ||
    MODEL_FEATURES.some((feature) => feature.name === name && parts[feature.part] !== undefined);
}

function itemsByUser({ userRows, itemRows }: HeldOutPairs): HeldBy {
  const items = new Map<number, Set<number>>();
  userRows.forEach((user, at) => {
    getOrPut(items, user, () => new Set()).add(itemRows[at]!);
  });
  return items;
}

/**
 * The times from which on and up to which questions are asked, milliseconds since the epoch: those of the first and the last
 * like that were held out; where one of each user was, of whatever time, from the middle one on. What has come while models
 * were trained, as where an import goes on, is asked of nobody: they know nothing of the time before it either.
 */
function spanOfQuestions(
  reads: LocalReads,
  job: LearnRankingJob,
  heldBy: HeldBy,
  isPositive: TypeTest,
): { readonly sinceMs: number; readonly untilMs: number } {
  const timesMs: number[] = [];
  const feedback = new FeedbackColumns();
  for (const [userRow, items] of heldBy) {
    throwIfCancelled(job);
    feedback.clear();
    reads.readUserFeedback(userRow, feedback);
    for (let at = 0; at < feedback.length; at++)
      if (isPositive(feedback.types[at]!) && items.has(feedback.itemRows[at]!))
        timesMs.push(feedback.timesMs[at]!);
  }
  timesMs.sort((a, b) => a - b);
  return {
    sinceMs: Math.min(job.heldOutSinceMs, timesMs[timesMs.length >> 1] ?? Number.POSITIVE_INFINITY),
    untilMs: Math.min(job.plan.knowsMs, timesMs.at(-1) ?? Number.POSITIVE_INFINITY),
  };
}
