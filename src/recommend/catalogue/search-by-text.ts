import type { Item } from '../../domain/entities.ts';
import { TopK } from '../../memory/top-k.ts';
import type { LocalReads } from '../../store/data-store.ts';

/** Items between two looks at the clock. */
const LOOK_EVERY = 1024;

/**
 * The ways in which a text is found, best first: the whole of a field before its beginning, that before the beginning of a word,
 * that before anywhere; the title in the comment before the rest.
 */
const SCORES = { whole: 8, start: 6, word: 4, inside: 2 } as const;
const TITLE_BONUS = 1;

/**
 * Looks through all items for a text: in ids, comments, categories and labels, whatever the case. It reads the store and
 * keeps nothing, so it costs no memory; it ends when `isOver` says so, with what it has found.
 * @returns ids, best match first; of equal matches the item that came first
 */
export function searchItems(reads: LocalReads, text: string, n: number, isOver: () => boolean): string[] {
  const wanted = fold(text);
  const best = new TopK(n);
  const visit = (row: number) => {
    const item = reads.itemAt(row);
    const score = item === undefined ? 0 : scoreOf(item, wanted);
    if (score > 0) best.push(row, score);
  };
  for (let row = 0; row >= 0 && !isOver(); ) row = reads.scanItemsWith(text, row, LOOK_EVERY, visit);
  return best
    .sorted()
    .rows.map((row) => reads.itemIdAt(row))
    .filter((itemId) => itemId !== undefined);
}

/** 0 when the text stands nowhere in the item. @param wanted folded */
function scoreOf(item: Item, wanted: string): number {
  let score = scoreIn(item.ItemId, wanted);
  const title = scoreIn(item.Comment, wanted);
  if (title > 0) score = Math.max(score, title + TITLE_BONUS);
  for (const label of item.Categories) score = Math.max(score, scoreIn(label, wanted));
  for (const label of item.Labels) score = Math.max(score, scoreIn(label, wanted));
  return score;
}

function scoreIn(field: string, wanted: string): number {
  if (field.length === 0) return 0;
  const folded = fold(field);
  const at = folded.indexOf(wanted);
  if (at < 0) return 0;
  if (at === 0) return folded.length === wanted.length ? SCORES.whole : SCORES.start;
  return WORD.test(folded.charAt(at - 1)) ? SCORES.inside : SCORES.word;
}

const WORD = /[\p{L}\p{N}]/u;

function fold(text: string): string {
  return text.toLowerCase();
}
