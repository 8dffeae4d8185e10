import type { TitledScore } from '../domain/admin-schemas.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import type { LocalReads } from '../store/data-store.ts';

/** Characters of a title that are shown. */
const TITLE_LENGTH_MAX = 200;

/** Rows of items as people read them: with the items' comments. An item that is gone is left out. */
export function titledScores(reads: LocalReads, { rows, scores }: Ranked): TitledScore[] {
  const entries: TitledScore[] = [];
  for (let at = 0; at < rows.length; at++) {
    const item = titled(reads, rows[at]!);
    if (item !== undefined) entries.push({ ...item, Score: scores[at]! });
  }
  return entries;
}

/** The id and the title of an item, undefined when it is gone. */
export function titled(reads: LocalReads, itemRow: number): { Id: string; Title: string } | undefined {
  const item = reads.itemAt(itemRow);
  return item && { Id: item.ItemId, Title: titleOf(item.Comment) };
}

/** The beginning of a comment, as the title of its item. */
export function titleOf(comment: string): string {
  return comment.length > TITLE_LENGTH_MAX ? `${comment.slice(0, TITLE_LENGTH_MAX)}…` : comment;
}
