import type { RecommenderName } from '../../domain/recommenders.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import type { Rows } from '../catalogue/row-postings.ts';
import type { History } from '../history/history.ts';

/** The waiting for an answer; the signal is aborted when nobody does any more. */
export interface Caller {
  readonly signal: AbortSignal;
}

export interface Ask {
  readonly history: History;
  /** The best `k` items that pass `accept` are wanted. */
  readonly k: number;
  readonly accept: (itemRow: number) => boolean;
  /** Categories without which `accept` refuses an item, so that others need not be looked at. */
  readonly categories: readonly string[];
  /** Rows beside which `accept` refuses all, so that they need not be looked at. */
  readonly among?: Rows | undefined;
  /** Bits of the listable rows that `accept` may pass. */
  readonly allowed?: Uint32Array | undefined;
  readonly caller?: Caller | undefined;
}

/**
 * A recommender that works when it is asked: the listable items that pass, best first, in an order that does not depend
 * on how many are wanted, so that pages of one list fit together.
 */
export interface Source {
  rank(ask: Ask): Promise<Ranked> | Ranked;
}

export type Sources = Readonly<Record<RecommenderName, Source>>;
