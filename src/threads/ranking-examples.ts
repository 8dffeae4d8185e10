import { loadKernels } from '../kernel/load-kernels.ts';
import { bitWords, hasBit, setBit } from '../memory/bits.ts';
import { spreadEvenly } from '../memory/spread-evenly.ts';
import { TopK } from '../memory/top-k.ts';
import type { TypeTest } from '../recommend/history/counts-as-positive.ts';
import { History } from '../recommend/history/history.ts';
import { CandidateFinder, type Proposal } from '../recommend/lists/maker/candidate-finder.ts';
import { VISIT_MS } from '../recommend/models/feature-names.ts';
import { openGeneration } from '../recommend/models/generation-slot.ts';
import { SUM_NAMES } from '../recommend/models/like-sums.ts';
import { type ItemPopularity, PopularityCounts } from '../recommend/popularity/popularity-counts.ts';
import { POPULARITY_SCALES } from '../recommend/popularity/popularity-scales.ts';
import { rankingFeatures } from '../recommend/ranking/compute-features.ts';
import type { RankingExample } from '../recommend/ranking/learn-blends.ts';
import type { ListInputs } from '../recommend/sources/list-inputs.ts';
import { SPARE_FACTOR, topTrending } from '../recommend/state/top-items.ts';
import { FeedbackColumns, type LocalReads } from '../store/data-store.ts';
import { scanAllFeedback } from '../store/scan-feedback.ts';
import { throwIfCancelled } from './cancellation.ts';
import { copiedInputs, readerOf } from './make-lists.ts';
import type { LearnRankingJob, ListPlan } from './messages.ts';
import { byTime, fewOfEach, type Question, questionsAt } from './questions-of-held-out-feedback.ts';

/** The most popular and newest items are looked for again after so large a share of what is asked about. */
const GLOBAL_LISTS_SHARE = 0.01;

/** Everything that a ranking may look at comes up. */
const ALL_SOURCES = { scales: POPULARITY_SCALES.map((_, scale) => scale), latest: true, sums: SUM_NAMES };

/** The items held out, by user. */
export type HeldBy = ReadonlyMap<number, ReadonlySet<number>>;

/** The likes that questions are made of. */
interface AskedSpan {
  readonly heldBy: HeldBy;
  /** All likes of later are held out, too, milliseconds since the epoch. */
  readonly heldOutSinceMs: number;
  /** Questions are asked from then on, milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Likes of later do not exist yet, milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Examples to learn a ranking from: candidates of users as of the moments at which they liked something. */
export class RankingExamples {
  readonly examples: RankingExample[] = [];
  /** All feedback on each popularity scale, in records. */
  readonly totals: readonly number[];
  /** Likes that there were by the last question. */
  likes = 0;
  private readonly job: Pick<LearnRankingJob, 'plan' | 'cancelled'>;
  private readonly isPositive: TypeTest;
  private readonly heldBy: HeldBy;
  private readonly history: History;
  private readonly popularity: PopularityCounts;
  private readonly copied: ListInputs;
  /** The likes of after `sinceMs`, by time. */
  private readonly late: FeedbackColumns;
  /** The indices of those that models have not seen, or cannot have learned from: the first of a user. */
  private readonly asked: number[] = [];
  /** Bits of the users who came after `sinceMs`: models are asked as if they did not know them. */
  private readonly isNew: Uint32Array;
  private nowMs: number;

  constructor(
    job: Pick<LearnRankingJob, 'plan' | 'slot' | 'spans' | 'cancelled'>,
    reads: LocalReads,
    isPositive: TypeTest,
    { heldBy, heldOutSinceMs, sinceMs, untilMs }: AskedSpan,
  ) {
    const { plan, slot, spans } = job;
    this.job = job;
    this.isPositive = isPositive;
    this.heldBy = heldBy;
    this.nowMs = sinceMs;
    this.history = new History(reads, plan.positiveTtlMs);
    this.popularity = new PopularityCounts(spans, () => this.nowMs);
    const isKnown = new Uint32Array(bitWords(reads.userRowCount));
    this.late = this.countUntil({ sinceMs, untilMs, heldOutSinceMs }, reads, isKnown);
    this.totals = this.popularity.totals();
    this.isNew = new Uint32Array(isKnown.length);
    this.findAsked(heldOutSinceMs, isKnown);
    const opening = { instantiate: loadKernels, slot, itemLabelsOf: () => [] };
    const generation = openGeneration(plan.generation, opening);
    this.copied = { ...copiedInputs(plan, generation, reads, isPositive), vectors: readerOf(plan, slot) };
  }

  /** Asks about users of whom something is held out as of the beginning: what all of it answers. */
  askAtFirst(max: number): void {
    const lists = this.listsAsOfNow();
    const users = [...this.heldBy.keys()].sort((a, b) => a - b);
    for (const userRow of spreadEvenly(users, max)) {
      const liked = this.heldBy.get(userRow)!;
      this.ask(lists, { userRow, asOfMs: this.nowMs, except: liked, liked });
    }
  }

  /**
   * Asks what likes have answered, one after the other, as of their times.
   * @param max questions at the most, evenly spread
   */
  askAsTheyCame(max: number): void {
    const { late, popularity, asked } = this;
    let counted = 0;
    let lists = this.listsAsOfNow();
    let listsAt = 0;
    for (const question of questionsAt(late, spreadEvenly(fewOfEach(late, asked), max))) {
      const { before } = question;
      popularity.apply(slice(late, counted, before), this.isPositive, 1);
      counted = before;
      this.nowMs = question.asOfMs;
      popularity.drain();
      if (before - listsAt >= late.length * GLOBAL_LISTS_SHARE) {
        lists = this.listsAsOfNow();
        listsAt = before;
      }
      this.ask(lists, question);
    }
  }

  private ask(
    lists: { inputs: ListInputs; finder: CandidateFinder },
    question: Omit<Question, 'before'>,
  ): void {
    const { userRow, asOfMs, except } = question;
    throwIfCancelled(this.job);
    this.history.load(userRow, asOfMs, except);
    const proposal = lists.finder.propose(this.history, ALL_SOURCES);
    this.keep(hasBit(this.isNew, userRow) ? { ...proposal, userRow: -1 } : proposal, lists.inputs, question);
    const visit = this.history.visitRows(this.isPositive, VISIT_MS, this.job.plan.settings.seedItems);
    if (visit.length === 0) return;
    // The same question with the visit alone, as sessions ask it.
    const read = [...visit].sort((a, b) => a - b);
    const asked = lists.finder.propose(
      this.history,
      ALL_SOURCES,
      undefined,
      lists.finder.session(visit, read),
    );
    this.keep({ ...asked, userRow: -1 }, lists.inputs, question);
  }

  private keep(
    proposal: Proposal,
    inputs: ListInputs,
    { userRow, liked }: Pick<Question, 'userRow' | 'liked'>,
  ): void {
    this.examples.push({
      userRow,
      kind: proposal.kind,
      features: Float32Array.from(rankingFeatures(proposal, inputs, this.totals)),
      labels: Uint8Array.from(proposal.candidates, (row) => (liked.has(row) ? 1 : 0)),
      likedCount: liked.size,
    });
  }

  private listsAsOfNow() {
    const { copied, popularity, nowMs } = this;
    const { plan } = this.job;
    popularity.drain();
    const live = { popularity, recentLikes: popularity.recent };
    const inputs = { ...copied, ...live, ...globalLists(plan, popularity, nowMs, copied.isListable) };
    // Users like a user are of today.
    const finder = new CandidateFinder({ ...plan.settings, user_based: false }, inputs, this.isPositive);
    return { inputs, finder };
  }

  /**
   * Counts what was there before a time.
   * @param isKnown takes the bits of those who liked something before
   * @returns the likes after that, by time
   */
  private countUntil(
    { sinceMs, untilMs, heldOutSinceMs }: Pick<AskedSpan, 'sinceMs' | 'untilMs' | 'heldOutSinceMs'>,
    reads: LocalReads,
    isKnown: Uint32Array,
  ): FeedbackColumns {
    const { job, heldBy, popularity, isPositive } = this;
    const late = new FeedbackColumns();
    scanAllFeedback(reads, (block) => {
      throwIfCancelled(job);
      const kept = new FeedbackColumns(block.length + 1);
      for (let at = 0; at < block.length; at++) {
        const type = block.types[at]!;
        const timeMs = block.timesMs[at]!;
        if (!isPositive(type) || timeMs > untilMs) continue;
        this.likes++;
        const user = block.userRows[at]!;
        const item = block.itemRows[at]!;
        if (timeMs > sinceMs) late.push(user, item, type, timeMs);
        else if (timeMs <= heldOutSinceMs && !heldBy.get(user)?.has(item)) {
          kept.push(user, item, type, timeMs);
          setBit(isKnown, user);
        }
      }
      popularity.apply(kept, isPositive, 1);
      popularity.drain();
    });
    return byTime(late);
  }

  private findAsked(heldOutSinceMs: number, isKnown: Uint32Array): void {
    const { late, heldBy, isNew, asked } = this;
    for (let at = 0; at < late.length; at++) {
      const user = late.userRows[at]!;
      const isFirst = !hasBit(isKnown, user);
      if (isFirst) setBit(isNew, user);
      setBit(isKnown, user);
      const isHeld = late.timesMs[at]! > heldOutSinceMs || heldBy.get(user)?.has(late.itemRows[at]!);
      if (isFirst || isHeld) asked.push(at);
    }
  }
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

function slice(
  { userRows, itemRows, types, timesMs }: FeedbackColumns,
  from: number,
  to: number,
): FeedbackColumns {
  const part = new FeedbackColumns(to - from + 1);
  for (let at = from; at < to; at++) part.push(userRows[at]!, itemRows[at]!, types[at]!, timesMs[at]!);
  return part;
}
