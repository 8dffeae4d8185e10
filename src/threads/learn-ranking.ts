import type { HeldOutPairs } from '../dataset/training-data.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import { loadKernels } from '../kernel/load-kernels.ts';
import { bitWords, setBit } from '../memory/bits.ts';
import { TopK } from '../memory/top-k.ts';
import { MODEL_FEATURES, type ModelFeature } from '../model/registry.ts';
import type { TypeTest } from '../recommend/history/counts-as-positive.ts';
import { typeTest } from '../recommend/history/counts-as-positive.ts';
import { History } from '../recommend/history/history.ts';
import { CandidateFinder } from '../recommend/lists/maker/candidate-finder.ts';
import { openGeneration } from '../recommend/models/generation-slot.ts';
import { SUM_NAMES } from '../recommend/models/like-sums.ts';
import { type ItemPopularity, PopularityCounts } from '../recommend/popularity/popularity-counts.ts';
import { POPULARITY_SCALES } from '../recommend/popularity/popularity-scales.ts';
import { chooseRanking } from '../recommend/ranking/choose-ranking.ts';
import { rankingFeatures } from '../recommend/ranking/compute-features.ts';
import type { RankingExample } from '../recommend/ranking/learn-blends.ts';
import type { ListInputs } from '../recommend/sources/list-inputs.ts';
import { SPARE_FACTOR, topTrending } from '../recommend/state/top-items.ts';
import { FeedbackColumns, type LocalReads } from '../store/data-store.ts';
import { scanAllFeedback } from '../store/scan-feedback.ts';
import { throwIfCancelled } from './cancellation.ts';
import { copiedInputs } from './make-lists.ts';
import { JUDGED_USERS_MAX, type LearnedRanking, type LearnRankingJob, type ListPlan } from './messages.ts';
import { byTime, type JudgedMoment, judgedMoments } from './moments-of-held-out-feedback.ts';
import { withReads } from './open-stores.ts';

/** Everything that a ranking may look at comes up. */
const ALL_SOURCES = { scales: POPULARITY_SCALES.map((_, scale) => scale), latest: true, sums: SUM_NAMES };

/** See `LearnRankingJob`. */
export function learnRanking(job: LearnRankingJob): LearnedRanking | undefined {
  return withReads(job.plan.dataPath, (reads) => {
    const isPositive = typeTest(job.plan.positiveTypes, () => reads.feedbackTypes());
    const { totals, examples } = examplesOf(job, reads, isPositive);
    const { parts } = job.plan.generation;
    const has = (name: ModelFeature) =>
      MODEL_FEATURES.some((feature) => feature.name === name && parts[feature.part] !== undefined);
    const chosen = chooseRanking(examples, job.heldOutSinceMs, has);
    return chosen && { ranking: { ...chosen.ranking, totals }, choice: chosen.choice };
  });
}

/** The judged users' candidates as of each moment, and what all feedback came to on each popularity scale at the first. */
function examplesOf(job: LearnRankingJob, reads: LocalReads, isPositive: TypeTest) {
  const { plan, slot, heldOutSinceMs, spans } = job;
  const heldBy = itemsByUser(job.heldOut);
  let nowMs = heldOutSinceMs;
  const popularity = new PopularityCounts(spans, () => nowMs);
  const { late, isKnown } = countUntilHeldOut(reads, job, heldBy, popularity, isPositive);
  const totals = popularity.totals();
  const moments = [{ asOfMs: heldOutSinceMs, likedBy: heldBy }, ...judgedMoments(late, isKnown)];
  const generation = openGeneration(plan.generation, {
    ...{ instantiate: loadKernels, slot },
    itemLabelsOf: () => [],
  });
  const copied = copiedInputs(plan, generation, reads, isPositive);
  const history = new History(reads, plan.positiveTtlMs);
  const examples: RankingExample[] = [];
  const stride = Math.max(1, moments.reduce((sum, { likedBy }) => sum + likedBy.size, 0) / JUDGED_USERS_MAX);
  for (const moment of moments) {
    popularity.apply(partOf(late, nowMs, moment.asOfMs), isPositive, 1);
    nowMs = moment.asOfMs;
    popularity.drain();
    const inputs = { ...copied, popularity, ...globalLists(plan, popularity, nowMs, copied.isListable) };
    const finder = new CandidateFinder({ ...plan.settings, user_based: false }, inputs, isPositive);
    const users = [...moment.likedBy.keys()].sort((a, b) => a - b);
    for (let at = 0; at < users.length; at += stride) {
      throwIfCancelled(job);
      const example = exampleOf(users[Math.floor(at)]!, moment, { finder, history, inputs, totals });
      if (example !== undefined) examples.push(example);
    }
  }
  return { totals, examples };
}

/** One user's candidates as of a moment; undefined for one without likes. */
function exampleOf(
  userRow: number,
  { asOfMs, likedBy }: JudgedMoment,
  {
    finder,
    history,
    inputs,
    totals,
  }: {
    readonly finder: CandidateFinder;
    readonly history: History;
    readonly inputs: ListInputs;
    readonly totals: readonly number[];
  },
): RankingExample | undefined {
  const liked = likedBy.get(userRow)!;
  history.load(userRow, asOfMs, liked);
  const proposal = finder.propose(history, ALL_SOURCES);
  if (proposal.liked.length === 0) return undefined;
  return {
    userRow,
    features: Float32Array.from(rankingFeatures(proposal, inputs, totals)),
    labels: Uint8Array.from(proposal.candidates, (row) => (liked.has(row) ? 1 : 0)),
    likedCount: liked.size,
  };
}

function itemsByUser({ userRows, itemRows }: HeldOutPairs): Map<number, Set<number>> {
  const items = new Map<number, Set<number>>();
  userRows.forEach((user, at) => {
    getOrPut(items, user, () => new Set()).add(itemRows[at]!);
  });
  return items;
}

/** The most popular, trending and newest items as of `asOfMs`. */
function globalLists(
  { timesMs, settings: { cacheSize } }: ListPlan,
  popularity: ItemPopularity,
  asOfMs: number,
  isListable: (row: number) => boolean,
): Pick<ListInputs, 'popularRows' | 'trendingRows' | 'latestRows'> {
  const latest = new TopK(cacheSize * SPARE_FACTOR);
  timesMs.forEach((timeMs, row) => {
    if (timeMs <= asOfMs && isListable(row)) latest.push(row, timeMs);
  });
  const latestRows = latest.sorted().rows;
  const popularRows = topTrending({ values: popularity.window, total: 0 }, cacheSize, isListable);
  const trendingRows = popularity.scales.map((counts) => topTrending(counts, cacheSize, isListable));
  return {
    popularRows: () => popularRows,
    trendingRows: (scale) => trendingRows[scale]!,
    latestRows: () => latestRows,
  };
}

/**
 * Counts what was there before what is held out.
 * @returns the likes after that, by time, and who has one before
 */
function countUntilHeldOut(
  reads: LocalReads,
  job: LearnRankingJob,
  heldBy: ReadonlyMap<number, ReadonlySet<number>>,
  popularity: PopularityCounts,
  isPositive: TypeTest,
): { readonly late: FeedbackColumns; readonly isKnown: Uint32Array } {
  const { plan, heldOutSinceMs: cutMs } = job;
  const late = new FeedbackColumns();
  const isKnown = new Uint32Array(bitWords(reads.userRowCount));
  scanAllFeedback(reads, (block) => {
    throwIfCancelled(job);
    const kept = new FeedbackColumns(block.length + 1);
    for (let at = 0; at < block.length; at++) {
      const type = block.types[at]!;
      const timeMs = block.timesMs[at]!;
      if (!isPositive(type) || timeMs > plan.knowsMs) continue;
      const user = block.userRows[at]!;
      const item = block.itemRows[at]!;
      if (timeMs > cutMs) late.push(user, item, type, timeMs);
      else if (!heldBy.get(user)?.has(item)) {
        kept.push(user, item, type, timeMs);
        setBit(isKnown, user);
      }
    }
    popularity.apply(kept, isPositive, 1);
    popularity.drain();
  });
  return { late: byTime(late), isKnown };
}

/** The records after one time and up to another. */
function partOf(
  { length, userRows, itemRows, types, timesMs }: FeedbackColumns,
  afterMs: number,
  untilMs: number,
): FeedbackColumns {
  const part = new FeedbackColumns();
  for (let at = 0; at < length; at++) {
    if (timesMs[at]! > afterMs && timesMs[at]! <= untilMs)
      part.push(userRows[at]!, itemRows[at]!, types[at]!, timesMs[at]!);
  }
  return part;
}
