import type { Feedback } from '../../domain/entities.ts';
import { kindOf, type PositiveKind } from '../../domain/positive-feedback-types.ts';
import { filterRanked, NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Discovery } from '../models/feature-names.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import { SESSION_WEIGHTS } from '../models/like-sums.ts';
import { bestBySimilarity, type ItemBasedSource } from './item-based-source.ts';
import type { ListQuery } from './recommender.ts';

/** The list of a session with these likes, the latest first, and with these rows in all, ascending; see `ListMaker.makeForSession`. */
export type ListOfSession = (
  liked: readonly number[],
  read: readonly number[],
  asked: { readonly length: number; readonly discovery: Discovery | undefined },
) => Ranked | undefined;

/** A list, and what has items in it: the learned ranking, what others went on to, neighbors of items. */
interface SessionList extends Ranked {
  readonly sources: readonly ('session' | 'sequence' | 'item_based')[];
}

/** Records that are looked up in one turn of the event loop. */
const RECORDS_A_TURN = 200;

/**
 * Recommends for the feedback of a session, of which nothing is stored: what the learned ranking
 * has for it; then, and before anything is learned, what others went on to after such items, most after the
 * last of them; then items like those of the session.
 */
export class SessionSource {
  private readonly parts: {
    readonly reads: LocalReads;
    readonly catalogue: Catalogue;
    readonly itemBased: ItemBasedSource;
    /** The feedback that counts as positive; empty when nothing is configured. */
    readonly positiveKinds: readonly PositiveKind[];
    readonly generations: GenerationSlot;
    /** True where others' sequences are looked at, or only the neighbors of items as they are configured. */
    readonly bySequence: boolean;
    /** Records that are looked at, the most recent ones. */
    readonly sessionLength: number;
    readonly listOfSession: ListOfSession;
    /** False where nothing of a session stands in its list. */
    readonly mayReturn: boolean;
  };

  constructor(parts: SessionSource['parts']) {
    this.parts = parts;
  }

  /** Rows of the items of a session, -1 among them for unknown ones, and the records of those known, the latest first. */
  async read(feedback: readonly Feedback[]) {
    const { reads, positiveKinds } = this.parts;
    const counts = ({ FeedbackType, Value = 0 }: Feedback) =>
      positiveKinds.length === 0 || kindOf(positiveKinds, FeedbackType, Value) !== undefined;
    const records: { row: number; timeMs: number; isSeed: boolean }[] = [];
    for (const record of feedback) {
      const row = reads.itemRow(record.ItemId);
      records.push({ row, timeMs: Date.parse(record.Timestamp), isSeed: counts(record) });
      if (records.length % RECORDS_A_TURN === 0) await turns.take();
    }
    const seen: ReadonlySet<number> = new Set(records.map(({ row }) => row));
    // Of records of one time, such as those sent without any, the last in the body is the latest.
    const recent = records
      .filter(({ row }) => row >= 0)
      .reverse()
      .sort((a, b) => b.timeMs - a.timeMs);
    return { seen, recent };
  }

  /** Items to go on to, without those of the session and those that may not be shown; best first. */
  async rank(
    feedback: readonly Feedback[],
    query: ListQuery,
    mayShow?: (row: number) => boolean,
  ): Promise<SessionList> {
    const { catalogue, itemBased, sessionLength } = this.parts;
    const { seen, recent } = await this.read(feedback);
    const counting = recent.filter(({ isSeed }) => isSeed).map(({ row }) => row);
    const seeds = [...new Set(counting)].slice(0, sessionLength);
    const accept = (row: number) =>
      !seen.has(row) && catalogue.isInAll(row, query.categories) && (mayShow?.(row) ?? true);
    const k = query.offset + query.n;
    // Where some are left out, the whole list is looked through.
    const isWhole = query.categories.length === 0 && mayShow === undefined;
    const length = isWhole ? k : Number.POSITIVE_INFINITY;
    const asked = { length, discovery: query.discovery };
    const mayReturn = (row: number) =>
      catalogue.isInAll(row, query.categories) && (mayShow?.(row) ?? true) && catalogue.isListable(row);
    const next = this.withReturns(this.next(seeds, seen, k, accept, asked), seeds, k, mayReturn);
    if (next.rows.length === k) return next;
    const similar = itemBased.similarTo(seeds, { k, accept, caller: query.caller }, SESSION_WEIGHTS);
    if (!(similar instanceof Promise)) return followedBy(next, similar, k, 'item_based');
    const found = await similar;
    // Items may have been hidden or deleted while others were waited for.
    const left = filterRanked(next, k, (row) => catalogue.isListable(row));
    return followedBy({ ...next, ...left }, found, k, 'item_based');
  }

  /** Items ranked for the session, then items that others went on to. */
  private next(
    seeds: readonly number[],
    seen: ReadonlySet<number>,
    k: number,
    accept: (row: number) => boolean,
    asked: Parameters<ListOfSession>[2],
  ): SessionList {
    const { catalogue, bySequence, listOfSession } = this.parts;
    const read = [...seen].filter((row) => row >= 0).sort((a, b) => a - b);
    const list = bySequence && seeds.length > 0 ? listOfSession(seeds, read, asked) : undefined;
    const ranked = filterRanked(list ?? NOTHING, k, (row) => catalogue.isListable(row) && accept(row));
    const own = followedBy({ ...NOTHING, sources: [] }, ranked, k, 'session');
    return own.rows.length === k ? own : followedBy(own, this.following(seeds, k, accept), k, 'sequence');
  }

  /**
   * The list with items of the session that people may return to, the one before the last first: each is half as likely as
   * the one that came after it.
   * @param accept passes what of the session may stand in the list
   */
  private withReturns(
    list: SessionList,
    seeds: readonly number[],
    k: number,
    accept: (row: number) => boolean,
  ): SessionList {
    const { generations, mayReturn } = this.parts;
    const share = mayReturn ? (generations.current.ranking?.returns ?? 0) : 0;
    if (share === 0 || list.sources[0] !== 'session') return list;
    const best = new TopK(k);
    list.rows.forEach((row, at) => {
      best.push(row, (1 - share) * list.scores[at]!);
    });
    for (const [at, row] of seeds.entries()) if (at > 0 && accept(row)) best.push(row, share * 2 ** -at);
    return { ...best.sorted(), sources: list.sources };
  }

  /** Items that others went on to after the items, the latest first. */
  private following(seeds: readonly number[], k: number, accept: (row: number) => boolean): Ranked {
    const { generations, catalogue, bySequence } = this.parts;
    const sequence = bySequence ? generations.current.parts.sequence : undefined;
    const mayStand = (row: number) => catalogue.isListable(row) && accept(row);
    return bestBySimilarity(sequence, seeds, k, mayStand, SESSION_WEIGHTS);
  }
}

/** One list and then what the other has beside it, scored below the end of the first in its own proportions. */
function followedBy(
  first: SessionList,
  second: Ranked,
  k: number,
  source: SessionList['sources'][number],
): SessionList {
  if (first.rows.length === 0) return { ...second, sources: second.rows.length > 0 ? [source] : [] };
  const known = new Set(first.rows);
  const largest = second.scores[0] ?? 1;
  const end = first.scores.at(-1)!;
  const rest = second.rows.flatMap((row, at) => (known.has(row) ? [] : [at])).slice(0, k - first.rows.length);
  return {
    rows: [...first.rows, ...rest.map((at) => second.rows[at]!)],
    scores: [...first.scores, ...rest.map((at) => (end * second.scores[at]!) / largest)],
    sources: rest.length > 0 ? [...first.sources, source] : first.sources,
  };
}
