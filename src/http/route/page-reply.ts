import type { Page } from '../../domain/entities.ts';
import type { Limits } from '../../domain/request-limits.ts';
import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { Query } from './query-parameters.ts';
import { json, jsonText, type Reply } from './reply.ts';

/** Records of a page that are read at once, unless they are so long that fewer make a part. */
const SLICE_RECORDS = 50;
/** Characters of JSON that a part has, about. */
const PART_LENGTH = 16 * 1024;

/** The part of a list that a request asks for. */
export interface PageWish {
  readonly n: number;
  readonly cursor: string;
  /** Characters of JSON from which on the page ends early with its cursor. */
  readonly bytesMax: number;
}

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
  return { ...jsonText(''), parts: pageParts(name, sliceOf(first), { n, bytesMax, cursor }, read) };
}

/** Some records as text, and the place behind them. */
interface Slice {
  readonly text: string;
  readonly records: number;
  /** Stands behind them. */
  readonly cursor: string;
}

function sliceOf({ rows, cursor }: Page<object>): Slice {
  return { text: JSON.stringify(rows).slice(1, -1), records: rows.length, cursor };
}

async function* pageParts<T extends object>(
  name: string,
  first: Slice,
  { n, bytesMax }: PageWish,
  read: (n: number, cursor: string) => Promise<Page<T>>,
): AsyncGenerator<string> {
  let slice = first;
  let asked = SLICE_RECORDS;
  let left = n;
  let length = 0;
  let head = `{${JSON.stringify(name)}:[`;
  // A caller that does not read makes this wait at `yield`, many of them at once: a part and a cursor is all they hold.
  for (;;) {
    const { text, records, cursor } = slice;
    length += text.length;
    left -= records;
    // A slice that brings less than was asked for ended early itself.
    const isLast = left <= 0 || cursor === '' || records < asked || length >= bytesMax;
    if (text !== '') {
      yield head + text;
      head = ',';
    }
    if (isLast) {
      yield `],"Cursor":${JSON.stringify(cursor)}}`;
      return;
    }
    const fitting = Math.floor((PART_LENGTH * (n - left)) / length);
    asked = Math.max(1, Math.min(left, SLICE_RECORDS, fitting));
    slice = sliceOf(await read(asked, cursor));
  }
}
