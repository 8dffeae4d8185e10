import type { Page } from '../domain/entities.ts';
import type { Limits } from '../domain/limits.ts';
import type { Query } from './query.ts';
import { json, jsonText, type Reply } from './reply.ts';
import { turns } from './turns.ts';

/** Records of a page that are read at once. */
const SLICE_RECORDS = 50;

/** What of a page is asked for. */
export interface PageWish {
  readonly n: number;
  readonly cursor: string;
  /** Characters of JSON from which on the page ends early with its cursor. */
  readonly bytesMax: number;
}

/** The page that a request asks for. */
export function pageWish({ n, cursor }: Query, { pageBytesMax }: Limits): PageWish {
  return { n, cursor, bytesMax: pageBytesMax };
}

/**
 * A 200 that carries a page as `{"Cursor": ..., NAME: [...]}`. Of a long one each slice is read when its caller has taken
 * those before it, and the cursor stands behind them, where it is known.
 * @param read reads some records from a cursor on; what it throws the first time is thrown here
 */
export async function jsonPage<T extends object>(
  name: string,
  { n, cursor, bytesMax }: PageWish,
  read: (n: number, cursor: string) => Promise<Page<T>>,
): Promise<Reply> {
  const asked = Math.min(n, SLICE_RECORDS);
  if (n > asked) await turns.take();
  const first = await read(asked, cursor);
  const isWhole = first.cursor === '' || first.rows.length === n || first.rows.length < asked;
  if (isWhole) return json({ Cursor: first.cursor, [name]: first.rows });
  return { ...jsonText(''), parts: pageParts(name, first, { n, bytesMax, cursor }, read) };
}

async function* pageParts<T extends object>(
  name: string,
  first: Page<T>,
  { n, bytesMax }: PageWish,
  read: (n: number, cursor: string) => Promise<Page<T>>,
): AsyncGenerator<string> {
  let page = first;
  let asked = SLICE_RECORDS;
  let left = n;
  let bytes = 0;
  let head = `{${JSON.stringify(name)}:[`;
  for (;;) {
    const text = JSON.stringify(page.rows).slice(1, -1);
    if (text !== '') {
      yield head + text;
      head = ',';
    }
    bytes += text.length;
    left -= page.rows.length;
    // A slice that brings less than was asked for ended early itself.
    if (left <= 0 || page.cursor === '' || page.rows.length < asked || bytes >= bytesMax) break;
    asked = Math.min(left, SLICE_RECORDS);
    page = await read(asked, page.cursor);
  }
  yield `],"Cursor":${JSON.stringify(page.cursor)}}`;
}
