import type { Ranked } from '../../../memory/ranked-rows.ts';
import type { PackedItems, WantedItems } from '../../catalogue/item-filter.ts';
import type { History } from '../../history/history.ts';
import type { Discovery } from '../../models/feature-names.ts';
import type { ListMaker } from './list-maker.ts';

/** A question to the models beside the user's cached list. */
export interface Question {
  readonly userRow: number;
  readonly items: PackedItems;
  /** Entries wanted in all. */
  readonly wanted: number;
  /** Rows that the answer has already; undefined where it begins with a list made for the question. */
  readonly known: readonly number[] | undefined;
  /** In place of what is configured; see `withDiscovery`. */
  readonly discovery?: Discovery | undefined;
}

/** The answer of the models. */
export interface Found {
  readonly list: Ranked | undefined;
  /** Rows that follow the list, best first. */
  readonly more: readonly number[];
}

/**
 * Answers a question with the models: a list made for it, unless there is one, and what else of the wanted items they
 * propose.
 */
export function findWanted(
  usual: ListMaker,
  history: History,
  items: WantedItems,
  { wanted, known, discovery }: Pick<Question, 'wanted' | 'known' | 'discovery'>,
): Found {
  const maker = usual.turnedTo(discovery);
  const list = known === undefined ? maker.make(history, items) : undefined;
  const taken = new Set(known ?? list?.rows.slice(0, wanted));
  const accept = (row: number) => !taken.has(row) && maker.accepts(row, history, items);
  const { members } = items;
  const allowed = items.isWide && taken.size < wanted ? items.allowed : undefined;
  const isNarrowed = members !== undefined || allowed !== undefined;
  const missing = wanted - taken.size;
  const more =
    isNarrowed && missing > 0 ? maker.among(history, { members, allowed }, missing, accept, items) : [];
  return { list, more };
}
