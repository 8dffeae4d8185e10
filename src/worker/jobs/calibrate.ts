import type { HeldOutPairs } from '../../dataset/training-data.ts';
import { TopK } from '../../memory/top-k.ts';
import { History } from '../../recommend/history/history.ts';
import { typeTest } from '../../recommend/history/positive-types.ts';
import type { ListWorld } from '../../recommend/list-making/list-world.ts';
import { Matching } from '../../recommend/list-making/matching.ts';
import { SPARE_FACTOR, topTrending } from '../../recommend/live/top-items.ts';
import { SUM_NAMES } from '../../recommend/models/like-sums.ts';
import { POPULARITY_SCALES } from '../../recommend/popularity/decayed-counts.ts';
import { type TrendCounts, Trends } from '../../recommend/popularity/trends.ts';
import { rankingFeatures } from '../../recommend/ranking/candidate-features.ts';
import type { RankingExample } from '../../recommend/ranking/ranking-blends.ts';
import { chooseRanking } from '../../recommend/ranking/ranking-choice.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import { scanAllFeedback } from '../../store/scan.ts';
import { partOfFeature } from '../fit/ranking-parts.ts';
import { openGeneration } from '../generation/open-generation.ts';
import { type CalibrateJob, type Calibration, JUDGED_USERS_MAX } from '../messages.ts';
import { copiedWorld } from './lists.ts';
import { withReads } from './stores.ts';

/** Everything that a ranking may look at comes up. */
const ALL_SOURCES = { scales: POPULARITY_SCALES.map((_, scale) => scale), latest: true, sums: SUM_NAMES };

/** See `CalibrateJob`. */
export function calibrate(job: CalibrateJob): Calibration | undefined {
  return withReads(job.plan.dataPath, (reads) => {
    const isPositive = typeTest(job.plan.positiveTypes, () => reads.feedbackTypes());
    const heldBy = itemsByUser(job.heldOut);
    const trends = trendsAt(reads, job, heldBy, isPositive);
    const totals = trends.totals();
    const examples = examplesOf(job, reads, trends, totals, heldBy, isPositive);
    const { generation } = job.plan;
    const chosen = chooseRanking(
      examples,
      job.heldOutSinceMs,
      (feature) => generation[partOfFeature(feature)] !== undefined,
    );
    return chosen && { ranking: { ...chosen.ranking, totals }, choice: chosen.choice };
  });
}

/** The judged users' candidates of the moment before what is held out. */
function examplesOf(
  { plan, slot, heldOutSinceMs: cutMs }: CalibrateJob,
  reads: LocalReads,
  trends: TrendCounts,
  totals: readonly number[],
  heldBy: ReadonlyMap<number, ReadonlySet<number>>,
  isPositive: (type: number) => boolean,
): RankingExample[] {
  const generation = openGeneration(plan.generation, slot, () => []);
  const copied = copiedWorld(plan, generation, slot, reads, isPositive);
  const world = {
    ...copied,
    trends,
    ...globalLists(reads, trends, cutMs, plan.settings.cacheSize, copied.isListable),
  };
  const matching = new Matching({ ...plan.settings, userBased: false }, world, isPositive);
  const users = [...heldBy.keys()].sort((a, b) => a - b);
  const stride = Math.max(1, users.length / JUDGED_USERS_MAX);
  const history = new History(reads, plan.positiveTtlMs);
  const examples: RankingExample[] = [];
  for (let at = 0; at < users.length; at += stride) {
    const userRow = users[Math.floor(at)]!;
    const held = heldBy.get(userRow)!;
    history.load(userRow, cutMs, held);
    const proposal = matching.propose(history, ALL_SOURCES);
    if (proposal.liked.length === 0) continue;
    examples.push({
      features: Float32Array.from(rankingFeatures(proposal, world, totals)),
      labels: Uint8Array.from(proposal.candidates, (row) => (held.has(row) ? 1 : 0)),
      likedCount: held.size,
    });
  }
  return examples;
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

/** The most popular, trending and newest items as of `cutMs`. */
function globalLists(
  reads: LocalReads,
  trends: TrendCounts,
  cutMs: number,
  cacheSize: number,
  isListable: (row: number) => boolean,
): Pick<ListWorld, 'popularRows' | 'trendingRows' | 'latestRows'> {
  const latest = new TopK(cacheSize * SPARE_FACTOR);
  reads.scanItems(0, ({ row, timestampMs }) => {
    if (isListable(row) && timestampMs <= cutMs) latest.push(row, timestampMs);
  });
  const latestRows = latest.sorted().rows;
  const popularRows = topTrending({ values: trends.window, total: 0 }, cacheSize, isListable);
  const trendingRows = trends.scales.map((counts) => topTrending(counts, cacheSize, isListable));
  return {
    popularRows: () => popularRows,
    trendingRows: (scale) => trendingRows[scale]!,
    latestRows: () => latestRows,
  };
}

/** The trends as they were before what is held out. */
function trendsAt(
  reads: LocalReads,
  { spans, heldOutSinceMs: cutMs }: CalibrateJob,
  heldBy: ReadonlyMap<number, ReadonlySet<number>>,
  isPositive: (type: number) => boolean,
): Trends {
  const trends = new Trends(spans, () => cutMs);
  scanAllFeedback(reads, (block) => {
    const kept = new FeedbackColumns(block.length + 1);
    for (let at = 0; at < block.length; at++) {
      const user = block.userRows[at]!;
      const item = block.itemRows[at]!;
      if (block.timesMs[at]! > cutMs || heldBy.get(user)?.has(item)) continue;
      kept.push(user, item, block.types[at]!, block.timesMs[at]!);
    }
    trends.apply(kept, isPositive, 1);
    trends.drain();
  });
  return trends;
}
