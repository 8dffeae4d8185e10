import type { HeldOutPairs } from '../../dataset/leave-out.ts';
import { ndcg } from '../../model/evaluation/metrics.ts';
import {
  fitLogisticNonNegative,
  type LogisticRegression,
  logisticProbability,
} from '../../model/logistic.ts';
import { typeTest } from '../../recommend/feedback-types.ts';
import { SPARE_FACTOR } from '../../recommend/global-lists.ts';
import { History } from '../../recommend/history.ts';
import { ListMaker } from '../../recommend/list-maker.ts';
import { TopK } from '../../recommend/ranked.ts';
import { RANKING_FEATURES, rankingFeatures } from '../../recommend/ranker.ts';
import { type TrendCounts, Trends } from '../../recommend/trends.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import { openGeneration } from '../generation.ts';
import type { CalibrateJob, Calibration, PlacedGeneration } from '../messages.ts';
import { copiedWorld } from './lists.ts';
import { withReads } from './stores.ts';

/** Users whose lists are judged at most. */
const JUDGED_USERS_MAX = 2000;
/** Fewer users with a hit among their candidates than this teach nothing. */
const CASES_MIN = 50;
/** Records read at a time. */
const SCAN_RECORDS = 65_536;
/** Length of the lists that are compared. */
const LENGTH = 10;

/** Features that are scores of models: a higher one never speaks against an item. */
const MODEL_SCORES = (['collaborative', 'click_through', 'item_weights'] as const).map((name) =>
  RANKING_FEATURES.indexOf(name),
);

/** One user's candidates as of the moment before what is held out. */
interface Case {
  readonly features: Float64Array;
  /** 1 for each candidate that the user then liked. */
  readonly labels: Uint8Array;
  /** Items that the user then liked, candidates or not. */
  readonly likedCount: number;
}

/** What one choice of models came to. */
interface Judgment {
  readonly taught: readonly Case[];
  readonly quality: Calibration['quality'];
}

/** See `CalibrateJob`. */
export function calibrate(job: CalibrateJob): Calibration | undefined {
  return withReads(job.plan.dataPath, (reads) => {
    const gather = casesOf(job, reads);
    const { generation } = job.plan;
    const [all, without] = [generation, { ...generation, slim: undefined }].map((models) =>
      judge(gather(models)),
    ) as [Judgment | undefined, Judgment | undefined];
    if (all === undefined || without === undefined) return undefined;
    const usesSlim = generation.slim !== undefined && all.quality.combined > without.quality.combined;
    const { taught, quality } = usesSlim ? all : without;
    const wins = quality.combined >= Math.max(quality.collaborative, quality.popular);
    return { ranking: wins ? fitCases(taught) : undefined, usesSlim, quality };
  });
}

/** @returns undefined when there is too little to learn from */
function judge(cases: readonly Case[]): Judgment | undefined {
  const taught = cases.filter(({ labels }) => labels.includes(1) && labels.includes(0));
  if (taught.length < CASES_MIN) return undefined;
  const halves = [0, 1].map((half) => taught.filter((_, at) => at % 2 === half));
  const [even, odd] = halves.map((half) => fitCases(half)) as [LogisticRegression, LogisticRegression];
  // Those whose items are not among the candidates count, too: with nothing.
  const mean = (of: (one: Case, at: number) => number) =>
    taught.reduce((sum, one, at) => sum + of(one, at), 0) / cases.length;
  const alone = (feature: (typeof RANKING_FEATURES)[number]) =>
    mean((one) => rankQuality(one, column(one, RANKING_FEATURES.indexOf(feature))));
  return {
    taught,
    quality: {
      users: cases.length,
      // Each user is judged by weights that were learned from the others.
      combined: mean((one, at) => rankQuality(one, blend(one, at % 2 === 0 ? odd : even))),
      collaborative: alone('collaborative'),
      popular: alone('popular'),
    },
  };
}

/** The judged users' candidates of the moment before what is held out, by the models that propose and score them. */
function casesOf(job: CalibrateJob, reads: LocalReads): (models: PlacedGeneration) => Case[] {
  const { plan, heldOut, slot, heldOutSinceMs: cutMs } = job;
  const isPositive = typeTest(plan.positiveTypes, () => reads.feedbackTypes());
  const heldBy = itemsByUser(heldOut);
  const unlabelled = () => [];
  const copied = copiedWorld(
    plan,
    openGeneration(plan.generation, slot, unlabelled),
    slot,
    reads,
    isPositive,
  );
  const trends = trendsAt(reads, job, heldBy, isPositive);
  const global = globalLists(reads, trends, cutMs, plan.settings.cacheSize * SPARE_FACTOR, copied.isListable);
  const settings = { ...plan.settings, collaborative: true, popular: true, userBased: false };
  const users = [...heldBy.keys()].sort((a, b) => a - b);
  const stride = Math.max(1, users.length / JUDGED_USERS_MAX);
  const history = new History(reads, plan.positiveTtlMs);
  return (models) => {
    const generation = openGeneration(models, slot, unlabelled);
    const world = {
      ...copied,
      generation,
      trends,
      popularRows: () => global.popular,
      latestRows: () => global.latest,
    };
    const maker = new ListMaker(settings, world, isPositive);
    const cases: Case[] = [];
    for (let at = 0; at < users.length; at += stride) {
      const userRow = users[Math.floor(at)]!;
      const held = heldBy.get(userRow)!;
      history.load(userRow, cutMs, held);
      const proposal = maker.propose(history);
      if (proposal.vector === undefined) continue;
      cases.push({
        features: rankingFeatures(proposal, generation, trends),
        labels: Uint8Array.from(proposal.candidates, (row) => (held.has(row) ? 1 : 0)),
        likedCount: held.size,
      });
    }
    return cases;
  };
}

function itemsByUser({ userRows, itemRows }: HeldOutPairs): Map<number, Set<number>> {
  const items = new Map<number, Set<number>>();
  userRows.forEach((user, at) => {
    const known = items.get(user);
    if (known === undefined) items.set(user, new Set([itemRows[at]!]));
    else known.add(itemRows[at]!);
  });
  return items;
}

/** The most popular and the newest items as of `cutMs`. */
function globalLists(
  reads: LocalReads,
  trends: TrendCounts,
  cutMs: number,
  k: number,
  isListable: (row: number) => boolean,
) {
  const popular = new TopK(k);
  const latest = new TopK(k);
  reads.scanItems(0, ({ row, timestampMs }) => {
    if (!isListable(row)) return;
    const count = trends.window[row] ?? 0;
    if (count > 0) popular.push(row, count);
    if (timestampMs <= cutMs) latest.push(row, timestampMs);
  });
  return { popular: popular.sorted().rows, latest: latest.sorted().rows };
}

/** The trends as they were before what is held out. */
function trendsAt(
  reads: LocalReads,
  { popularWindowMs, heldOutSinceMs: cutMs }: CalibrateJob,
  heldBy: ReadonlyMap<number, ReadonlySet<number>>,
  isPositive: (type: number) => boolean,
): TrendCounts {
  const trends = new Trends(popularWindowMs, () => cutMs);
  const block = new FeedbackColumns(SCAN_RECORDS);
  for (let from = 0; from >= 0; ) {
    from = reads.scanFeedback(from, SCAN_RECORDS, block);
    const kept = new FeedbackColumns(block.length + 1);
    for (let at = 0; at < block.length; at++) {
      const user = block.userRows[at]!;
      const item = block.itemRows[at]!;
      if (block.timesMs[at]! > cutMs || heldBy.get(user)?.has(item)) continue;
      kept.push(user, item, block.types[at]!, block.timesMs[at]!);
    }
    trends.apply(kept, isPositive, 1);
    trends.drain();
  }
  return trends;
}

function fitCases(cases: readonly Case[]): LogisticRegression {
  const width = RANKING_FEATURES.length;
  const rows = cases.reduce((sum, { labels }) => sum + labels.length, 0);
  const features = new Float64Array(rows * width);
  const labels = new Uint8Array(rows);
  let at = 0;
  for (const one of cases) {
    features.set(one.features, at * width);
    labels.set(one.labels, at);
    at += one.labels.length;
  }
  return fitLogisticNonNegative({ width, features, labels }, MODEL_SCORES);
}

function blend(one: Case, ranking: LogisticRegression): Float64Array {
  const width = RANKING_FEATURES.length;
  return Float64Array.from(one.labels, (_, at) => logisticProbability(ranking, one.features, at * width));
}

function column(one: Case, feature: number): Float64Array {
  return Float64Array.from(one.labels, (_, at) => one.features[at * RANKING_FEATURES.length + feature]!);
}

/** NDCG of the candidates in the order of their scores. */
function rankQuality({ labels, likedCount }: Case, scores: Float64Array): number {
  const order = Array.from(scores, (_, at) => at).sort((a, b) => scores[b]! - scores[a]! || a - b);
  const hits = order.slice(0, LENGTH).map((at) => labels[at] === 1);
  return ndcg(hits, LENGTH, likedCount);
}
