import { withKnownLikes } from './cold-scores.ts';
import type { History, TypeTest } from './history.ts';
import { LikeSums, SUM_NAMES } from './like-sums.ts';
import type { ListSettings } from './list-settings.ts';
import type { ListWorld } from './list-world.ts';
import type { RankingCase } from './ranker.ts';
import { looksAt, scalesOf } from './ranking.ts';
import { RowSet } from './row-set.ts';
import type { Match, RankingSources } from './sources/matcher.ts';
import { MATCHERS } from './sources/matchers.ts';

/** The most recent likes that a user's vector is solved from; more would cost a request milliseconds. */
export const FOLD_IN_LIKES_MAX = 2000;

/** Nothing is proposed but by the enabled recommenders. */
const NO_SOURCES: RankingSources = { scales: [], latest: false, sums: [] };

/** What is proposed to one user. */
export interface Proposal extends RankingCase {
  /** The user's likes, latest first. */
  readonly liked: readonly number[];
}

/** Finds one user's candidates by all recommenders of `sources/matchers.ts`. Not to be used by two at once. */
export class Matching {
  private readonly settings: ListSettings;
  private readonly world: ListWorld;
  private readonly isPositive: TypeTest;
  private readonly chosen = new RowSet();
  /** What the user of the present match has read: quicker to ask than its history. */
  private readonly read = new RowSet();
  private readonly sums = new LikeSums();

  constructor(settings: ListSettings, world: ListWorld, isPositive: TypeTest) {
    this.settings = settings;
    this.world = world;
    this.isPositive = isPositive;
  }

  /** The user's vector against the current model, undefined without one. */
  vectorOf(history: History): Float32Array | undefined {
    return this.foldIn(this.likesOf(history));
  }

  /** The user as recommenders are asked for it. Valid until the next call. */
  match(history: History, wanted: RankingSources): Match {
    const { settings, world, sums, read } = this;
    const liked = this.likesOf(history);
    sums.sumUp(world.generation, liked, wanted.sums);
    read.clear();
    history.eachReadRow((row) => read.add(row));
    return {
      ...{ world, settings, history, liked, sums },
      vector: this.foldIn(liked),
      wanted: liked.length > 0 ? wanted : NO_SOURCES,
      accept: (row) => !read.has(row) && world.isListable(row),
    };
  }

  /** The user's candidates: distinct unread listable items that any recommender proposes. Valid until the next call. */
  propose(history: History, wanted: RankingSources): Proposal {
    const { chosen, settings } = this;
    const match = this.match(history, wanted);
    const candidates: number[] = [];
    chosen.clear();
    for (const matcher of MATCHERS) {
      for (const rows of matcher.lists(match)) {
        for (let at = 0, taken = 0; at < rows.length && taken < settings.cacheSize; at++) {
          const row = rows[at]!;
          if (!match.accept(row)) continue;
          taken++;
          if (chosen.has(row)) continue;
          chosen.add(row);
          candidates.push(row);
        }
      }
    }
    return proposalOf(match, candidates);
  }

  /** Whether the last proposal has the item. */
  isProposed(row: number): boolean {
    return this.chosen.has(row);
  }

  /** A test for items that came after a list was made: whether they would be proposed. */
  newcomerTest(match: Match): (itemRow: number) => boolean {
    const { coldItems } = this.world;
    const tests = MATCHERS.map((matcher) => matcher.proposes(match));
    return (row) => coldItems.rows.includes(row) || tests.some((proposes) => proposes(row));
  }

  accepts(row: number, history: History): boolean {
    return this.world.isListable(row) && !history.hasRead(row);
  }

  /** Where click-through is predicted, what the ranking goes by comes up by itself. */
  rankingSources(): RankingSources {
    const { settings, world } = this;
    const { latest, popular, userBased, itemBased, collaborative } = settings;
    const ranking = settings.order === 'learned' ? world.generation?.ranking : undefined;
    const isAnyOn = latest || popular || userBased || itemBased || collaborative;
    if (ranking === undefined || !isAnyOn) return NO_SOURCES;
    const sums = SUM_NAMES.filter((name) => looksAt(ranking, [name]));
    return { scales: scalesOf(ranking), latest: looksAt(ranking, ['age']), sums };
  }

  private likesOf(history: History): readonly number[] {
    return history.positiveRows(this.isPositive, FOLD_IN_LIKES_MAX);
  }

  private foldIn(liked: readonly number[]): Float32Array | undefined {
    const { generation, coldItems } = this.world;
    return generation?.collaborative?.foldIn(withKnownLikes(coldItems, liked));
  }
}

/** These items, to be ranked for the user. */
export function proposalOf(match: Match, candidates: readonly number[]): Proposal {
  const { history, world, liked, vector, sums } = match;
  const userLabels = () => world.labelsOf(history.userRow);
  return { candidates, liked, userRow: history.modelRow, userLabels, vector, sums };
}
