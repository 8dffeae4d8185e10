/**
 * Journals: named lists of texts in the data store, of each of which the latest entries are kept. What staff change is kept so, with what
 * it was before.
 */
import { FurzeError } from '../domain/furze-error.ts';

export interface JournalEntry {
  /** Counts up from 1, also past entries that are no longer kept. */
  readonly number: number;
  readonly text: string;
}

/** Entries by number. */
export type Journal = readonly JournalEntry[];

/** An entry that is to be added. */
export interface JournalAppend {
  /** Name of the journal, at most 200 bytes of UTF-8. */
  readonly journal: string;
  readonly text: string;
  /** Most entries that are kept; 0 takes the journal away. */
  readonly most: number;
  /** Number that the last entry must have, 0 for none; undefined for any. */
  readonly after?: number | undefined;
}

/** Most characters of a journal's texts; beyond, the oldest entries go, but never the last two. */
const LENGTH_MAX = 2 ** 17;

/** The journal with one more entry. @throws FurzeError CHANGED_MEANWHILE where its last entry is not the one named */
export function appended(journal: Journal, { text, most, after }: JournalAppend): Journal {
  const last = journal.at(-1)?.number ?? 0;
  if (after !== undefined && after !== last)
    throw new FurzeError(
      'CHANGED_MEANWHILE',
      `It was changed meanwhile: it is at version ${last}, and the change is of version ${after}.`,
    );
  if (most === 0) return [];
  const kept = [...journal, { number: last + 1, text }].slice(-most);
  let length = kept.reduce((sum, entry) => sum + entry.text.length, 0);
  while (length > LENGTH_MAX && kept.length > 2) length -= kept.shift()!.text.length;
  return kept;
}

/** As JSON, which has no control characters. */
export function encodeJournal(journal: Journal): string {
  return JSON.stringify(journal.map(({ number, text }) => [number, text]));
}

export function decodeJournal(json: string): Journal {
  return (JSON.parse(json) as [number, string][]).map(([number, text]) => ({ number, text }));
}
