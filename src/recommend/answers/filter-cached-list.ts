import type { UserList } from '../../store/cache-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { AnswerBuilder } from './answer-builder.ts';

/**
 * Takes what of a user's cached list may be shown by now: an item leaves it that was hidden, deleted or is out of date, that
 * the user has read, or that is not in the categories asked for.
 * @param mayShow as `shownOfList` tells for the user
 */
export function takeShown(
  { itemRows, scores }: UserList,
  answer: AnswerBuilder,
  catalogue: Catalogue,
  mayShow: (itemRow: number) => boolean,
  categories: readonly string[],
): void {
  for (let at = 0; at < itemRows.length && answer.missing > 0; at++) {
    const row = itemRows[at]!;
    if (mayShow(row) && catalogue.isListable(row) && catalogue.isInAll(row, categories))
      answer.take(row, scores[at]);
  }
}
