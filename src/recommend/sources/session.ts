import type { Feedback } from '../../domain/entities.ts';
import { kindOf, type PositiveKind } from '../../domain/positive-kinds.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Ranked } from '../ranked.ts';
import type { ListQuery } from '../recommender.ts';
import type { ItemBasedSource } from './item-based.ts';

/** Recommends for the feedback of a session, of which nothing is stored. */
export class SessionSource {
  private readonly parts: {
    readonly reads: LocalReads;
    readonly catalogue: Catalogue;
    readonly itemBased: ItemBasedSource;
    /** What counts as positive; empty when nothing is configured. */
    readonly positiveKinds: readonly PositiveKind[];
    /** Records that are looked at, the most recent ones. */
    readonly sessionLength: number;
  };

  constructor(parts: SessionSource['parts']) {
    this.parts = parts;
  }

  /** Items most like those of the session, which are left out; best first. */
  async rank(feedback: readonly Feedback[], query: ListQuery): Promise<Ranked> {
    const { reads, catalogue, itemBased, positiveKinds, sessionLength } = this.parts;
    const counts = ({ FeedbackType, Value = 0 }: Feedback) =>
      positiveKinds.length === 0 || kindOf(positiveKinds, FeedbackType, Value) !== undefined;
    const seen = new Set(feedback.map((record) => reads.itemRow(record.ItemId)));
    const recent = feedback
      .filter(counts)
      .sort((a, b) => Date.parse(b.Timestamp) - Date.parse(a.Timestamp))
      .map((record) => reads.itemRow(record.ItemId))
      .filter((row) => row >= 0);
    const seeds = [...new Set(recent)].slice(0, sessionLength);
    const accept = (row: number) => !seen.has(row) && catalogue.isInAll(row, query.categories);
    return itemBased.similarTo(seeds, { k: query.offset + query.n, accept, caller: query.caller });
  }
}
