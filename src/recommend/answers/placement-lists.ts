import type { Clock } from '../../domain/clock.ts';
import { hashText } from '../../domain/hash.ts';
import { createRandom } from '../../domain/random.ts';
import { inTurns, pausing } from '../../platform/concurrency/event-loop-turns.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ItemFilter, NO_WISHES } from '../catalogue/item-filter.ts';
import type { History } from '../history/history.ts';
import { isUnread } from '../history/read-items.ts';
import type { ExplorationPools } from '../placements/exploration-pools.ts';
import { exploreList, type PoolEntry } from '../placements/explored-list.ts';
import type { KeptFilters } from '../placements/kept-filters.ts';
import { packChosen, packRanks } from '../placements/list-plan.ts';
import type { Placement } from '../placements/placement.ts';
import type { Rules } from '../placements/placements.ts';
import type { Rotation } from '../placements/rotation.ts';
import type { SeenLately } from '../placements/seen-lately.ts';
import type { ShownLessons } from '../placements/shown-lessons.ts';
import { teamDraft } from '../placements/team-draft.ts';
import type { Claims, RecommendQuery } from '../sources/recommender.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { frameOf, type ListFrame } from './list-frame.ts';

/** Named as a source where a list has nothing of what was shown little, since it is not counted yet. */
const UNEXPLORED = 'unexplored';
/** Milliseconds for which chance decides the same for a user. */
const HOUR_MS = 3_600_000;

/** A list by the rules of a placement, without the pins that belong into it. */
interface RuledList {
  readonly answer: AnswerBuilder;
  readonly frame: ListFrame;
  readonly sources: readonly string[];
}

/** A placement at the time of a question. */
interface Placed {
  readonly placement: Placement;
  /** Bits of the rows that its filter lets pass; undefined where all do. */
  readonly passing: Uint32Array | undefined;
  /** Ids of the items that rest for the user. */
  readonly tired: readonly string[];
  /** Factors of the scores of rows that the user has seen, from 0 to 1. */
  readonly sinking: ReadonlyMap<number, number>;
}

export interface PlacedParts {
  readonly seenLately: SeenLately;
  readonly rotation: Rotation;
  readonly pools: ExplorationPools;
  readonly lessons: ShownLessons;
  readonly filters: KeptFilters;
  readonly clock: Clock;
  readonly reads: LocalReads;
  readonly catalogue: Catalogue;
}

/** Fills an answer up by a filter and the fallbacks of a placement. @returns what has made it, in order */
type Fill = (
  history: History,
  answer: AnswerBuilder,
  query: RecommendQuery,
  wished: { readonly filter: ItemFilter; readonly placement: Placement },
) => Promise<string[]>;

/** A list of a placement, and what its token tells of it. */
export interface MadeList {
  readonly answer: AnswerBuilder;
  readonly sources: readonly string[];
  readonly claims: Claims;
}

/** Makes lists by the rules of placements: of one, of two that are compared, or with exploration. */
export class PlacementLists {
  private readonly parts: PlacedParts;
  private readonly fill: Fill;

  constructor(parts: PlacedParts, fill: Fill) {
    this.parts = parts;
    this.fill = fill;
  }

  /** Looks up what has to be waited for. @returns what makes the list of the user's history then */
  async begin(
    rules: Rules,
    userId: string,
    query: RecommendQuery,
  ): Promise<(history: History) => Promise<MadeList>> {
    const placed = await this.placedNow(rules.placement, userId, query);
    const other = rules.other && (await this.placedNow(rules.other, userId, query));
    return (history) => this.byRules(userId, history, query, rules, placed, other);
  }

  private async placedNow(placement: Placement, userId: string, query: RecommendQuery): Promise<Placed> {
    const { seenLately, rotation, lessons, catalogue, clock, filters, reads } = this.parts;
    const passing =
      placement.filter &&
      (await filters.of(placement.filter, query.caller?.signal, query.draft === undefined));
    await inTurns(placement.lookUp(catalogue, (itemId) => reads.itemRow(itemId)));
    if (placement.learns) lessons.renew(false);
    if (!placement.tires) return { placement, passing, tired: [], sinking: new Map() };
    const name = query.placement!;
    const factors = placement.settings.rotate ? rotation.of(name) : undefined;
    const all = placement.sinking(name, await seenLately.of(userId), factors, clock());
    const tired = Array.from(all).flatMap(([row, factor]) => (factor > 0 ? [] : (catalogue.idAt(row) ?? [])));
    const sinking = new Map(Array.from(all).filter(([, factor]) => factor > 0));
    return { placement, passing, tired, sinking };
  }

  private async byRules(
    userId: string,
    history: History,
    query: RecommendQuery,
    { claims, isInterleaved }: Rules,
    placed: Placed,
    otherPlaced: Placed | undefined,
  ): Promise<MadeList> {
    const { catalogue, clock } = this.parts;
    const list = await this.listBy(history, query, placed);
    const other = otherPlaced && (await this.listBy(history, query, otherPlaced));
    const { answer, frame } = list;
    const sources = [...new Set([...list.sources, ...(other?.sources ?? [])])];
    const hours = Math.floor(clock() / HOUR_MS);
    // The same for an hour, so that pages of a list belong together.
    const random = createRandom(hashText(`${query.placement}\n${userId}\n${hours}`));
    const pinned = frame.pins.map(({ row }) => row);
    let plan: string | undefined;
    if (other !== undefined && isInterleaved === true) {
      const theirs = other.answer.rows.filter((row) => !pinned.includes(row));
      const own = [...answer.rows];
      answer.arrange(frame.withPins(teamDraft(own, theirs, answer.wanted, random)));
      plan = packRanks(this.listed(answer), own, theirs);
    } else {
      if (pinned.length > 0) answer.arrange(frame.withPins(answer.rows), 'pins');
      const { explore: explored } = placed.placement.settings;
      const pool = explored > 0 ? this.poolFor(history, query, placed, list) : undefined;
      if (explored > 0 && pool === undefined && sources.length > 0) sources.push(UNEXPLORED);
      if (pool !== undefined) {
        const others = other?.frame.withPins(other.answer.rows);
        const { rows, chosen } = exploreList({
          rows: this.listed(answer),
          isFree: (at) => !pinned.includes(answer.rows[at]!),
          pool,
          other: others?.filter((row) => catalogue.isListable(row)),
          share: explored,
          random,
        });
        answer.arrange(rows);
        plan = packChosen(chosen);
      }
    }
    return { answer, sources, claims: { ...claims, ...(plan !== undefined && { plan }) } };
  }

  /**
   * Items that the placement has shown little and that this user may be shown beside the list; their shares sum up to 1.
   * @returns undefined while it is not known what was shown
   */
  private poolFor(
    history: History,
    { placement = '', draft }: RecommendQuery,
    { placement: rules, passing }: Placed,
    { answer, frame }: RuledList,
  ): PoolEntry[] | undefined {
    const { catalogue, pools, lessons } = this.parts;
    const { categories } = rules.settings;
    const all = new ItemFilter(catalogue, categories, NO_WISHES, rules.excludedRows(), passing);
    const accept = (row: number) => catalogue.isListable(row) && all.accepts(row);
    // What is tried for somebody who only looks is nobody else's.
    const pool = pools.of(placement, draft === undefined ? accept : undefined);
    if (draft === undefined && !pools.knows(placement)) lessons.renew(true);
    const own = pool?.filter(
      ({ row }) =>
        catalogue.isListable(row) && frame.filter.accepts(row) && isUnread(history, row) && !answer.has(row),
    );
    const sum = own?.reduce((total, { share }) => total + share, 0) ?? 0;
    return own?.map(({ row, share }) => ({ row, share: share / sum }));
  }

  /** The entries of an answer that may still be shown. */
  private listed({ rows }: AnswerBuilder): number[] {
    const { catalogue } = this.parts;
    return rows.filter((row) => catalogue.isListable(row));
  }

  /** The list by the rules of one placement, its pins not yet at their places. */
  private async listBy(
    history: History,
    query: RecommendQuery,
    { placement, passing, tired, sinking }: Placed,
  ): Promise<RuledList> {
    const pause = pausing();
    const frame = frameOf(this.parts, placement, passing, query, (row) => isUnread(history, row), tired);
    await pause();
    const { filter, wanted } = frame;
    const found = frame.begin(wanted + Math.min(wanted, sinking.size));
    const sources = await this.fill(history, found, query, { filter, placement });
    const answer = found.wanted === wanted ? found : await sunk(found, frame.begin(), sinking);
    return { answer, frame, sources: [...(frame.pins.length > 0 ? ['pins'] : []), ...sources] };
  }
}

/** Takes the best of what was found into an answer, the scores of some rows times their factors. */
async function sunk(
  found: AnswerBuilder,
  answer: AnswerBuilder,
  factors: ReadonlyMap<number, number>,
): Promise<AnswerBuilder> {
  const scoreOf = (row: number) => {
    const score = found.scoreOf(row);
    const factor = factors.get(row) ?? 1;
    return score < 0 ? score / factor : score * factor;
  };
  // Equal scores keep their order.
  const rows = found.rows.toSorted((a, b) => scoreOf(b) - scoreOf(a));
  await answer.takeAll(rows, rows.map(scoreOf), (row) => found.sourceOf(row));
  answer.seedRow = found.seedRow;
  return answer;
}
