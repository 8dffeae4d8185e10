import type { Clock } from '../../domain/clock.ts';
import { NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ItemFilter, NO_WISHES } from '../catalogue/item-filter.ts';
import type { History } from '../history/history.ts';
import { isUnread } from '../history/read-items.ts';
import type { UserLists } from '../lists/user-lists.ts';
import type { Discovery } from '../models/feature-names.ts';
import type { KeptFilters } from '../placements/kept-filters.ts';
import { type KindAsk, KindLists, type KindParts, withShare } from '../placements/kind-lists.ts';
import type { Placement } from '../placements/placement.ts';
import type { RecommendQuery } from '../sources/recommender.ts';
import type { Caller } from '../sources/source.ts';
import type { AnswerBuilder } from './answer-builder.ts';

/** Times as many items are asked for where caps may refuse some, or boosts may lift some. */
export const SPARE_FACTOR = 4;

export interface KindProposalsParts extends Omit<KindParts, 'ownOrder'> {
  readonly catalogue: Catalogue;
  readonly lists: Pick<UserLists, 'answer'>;
  readonly filters: KeptFilters;
  readonly clock: Clock;
}

/** Fills answers with what a kind of placement has for a user, in place of what the models propose. */
export class KindProposals {
  private readonly parts: KindProposalsParts;
  private readonly kinds: KindLists;

  constructor(parts: KindProposalsParts) {
    this.parts = parts;
    this.kinds = new KindLists({ ...parts, ownOrder: this.ownOrder.bind(this) });
  }

  /** The list of a placement that is of no user, of a kind that goes without one; undefined for the kind `for-you`. */
  rank({ settings }: Placement, asked: Omit<KindAsk, 'nowMs'>): Promise<Ranked | undefined> {
    return this.kinds.list(settings, { ...asked, nowMs: this.parts.clock() });
  }

  /** Takes the list of the placement's kind into an answer. @param filter passes what the question and the placement want */
  async fill(
    placement: Placement,
    history: History,
    answer: AnswerBuilder,
    filter: ItemFilter,
    { item, draft, caller, discovery = placement.discovery }: RecommendQuery,
  ): Promise<void> {
    const { catalogue, reads, clock } = this.parts;
    const { settings, source } = placement;
    const itemRow = item === undefined ? undefined : reads.itemRow(item);
    const k = withSpare(answer.wanted, placement, filter);
    const mayShow = (row: number) => row !== itemRow;
    const listOf = async (wanted: ItemFilter) => {
      const accept = (row: number) => catalogue.isListable(row) && wanted.accepts(row) && mayShow(row);
      const asked = { history, itemRow, k, accept, nowMs: clock(), caller };
      const list = await this.kinds.list(settings, asked);
      answer.seedRow = list?.seedRow ?? answer.seedRow;
      return boosted(list ?? (await this.byModels(history, wanted, k, caller, discovery)), wanted);
    };
    const asked = { history, filter, k, mayShow, caller, draft };
    const { rows, scores } = await this.withNew(placement, asked, listOf);
    return answer.takeAll(rows, scores, source);
  }

  /**
   * A list with the placement's share of new items, which has no scores then.
   * @param asked of whom, by which filter, how many entries, and which rows may be new ones in it
   * @param listOf makes the list of what a filter passes
   */
  async withNew(
    { newFilter, settings }: Placement,
    asked: Pick<KindAsk, 'history' | 'k' | 'caller'> &
      Pick<RecommendQuery, 'draft'> & {
        readonly filter: ItemFilter;
        readonly mayShow: (row: number) => boolean;
      },
    listOf: (wanted: ItemFilter) => Promise<Ranked>,
  ): Promise<Pick<Ranked, 'rows'> & { readonly scores?: Ranked['scores'] }> {
    const { sources, filters } = this.parts;
    const { history, filter, k, mayShow, caller, draft } = asked;
    const passingNew = newFilter && (await filters.of(newFilter, caller?.signal, draft === undefined));
    const list = await listOf(filter);
    if (passingNew === undefined) return list;
    const narrowed = filter.narrowed(passingNew);
    const accept = (row: number) => narrowed.accepts(row) && isUnread(history, row) && mayShow(row);
    const { rows: latest } = await sources.latest.rank({ history, k, accept, categories: [] });
    const fresh = [...new Set([...(await listOf(narrowed)).rows, ...latest])];
    return { rows: withShare(list.rows, fresh, settings.new_share, k) };
  }

  /** The order in which the models would show rows to a user. */
  private async ownOrder(history: History, rows: readonly number[], caller?: Caller): Promise<number[]> {
    const { catalogue } = this.parts;
    const bits = new Uint32Array(rows.reduce((length, row) => Math.max(length, (row >>> 5) + 1), 0));
    for (const row of rows) bits[row >>> 5]! |= 1 << (row & 31);
    const filter = new ItemFilter(catalogue, [], NO_WISHES, [], bits);
    return (await this.byModels(history, filter, rows.length, caller)).rows;
  }

  private async byModels(
    history: History,
    filter: ItemFilter,
    wanted: number,
    caller: Caller | undefined,
    discovery?: Discovery,
  ): Promise<Ranked> {
    // Nobody knows an unknown user: theirs are the fallbacks.
    if (history.userRow < 0 || wanted === 0) return NOTHING;
    const asked = { wanted, discovery, known: undefined };
    const { list = NOTHING, more } = await this.parts.lists.answer(history, filter, asked, caller?.signal);
    const known = new Set(list.rows);
    const rest = more.filter((row) => !known.has(row));
    const end = list.scores.at(-1) ?? 0;
    return { rows: [...list.rows, ...rest], scores: [...list.scores, ...rest.map(() => end)] };
  }
}

/** Entries to ask for so that so many are left. */
export function withSpare(count: number, { hasCaps }: Placement, { hasBoosts }: ItemFilter): number {
  return count * (hasCaps || hasBoosts ? SPARE_FACTOR : 1);
}

/** A list in the order that the boosts of a filter make of it. */
export function boosted(ranked: Ranked, filter: ItemFilter): Ranked {
  if (!filter.hasBoosts) return ranked;
  const lifted = new TopK(ranked.rows.length);
  for (const [at, row] of ranked.rows.entries()) lifted.push(row, filter.boosted(row, ranked.scores[at]!));
  return lifted.sorted();
}
