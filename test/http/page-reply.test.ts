import { expect, test } from 'vitest';
import { jsonPage } from '../../src/http/route/page-reply.ts';

const ROWS = Array.from({ length: 1000 }, (_, at) => ({ at, text: 'é"' }));

/** Reads as a store does: the cursor is empty when nothing follows, and a slice may end early. */
const reader =
  (rows: readonly object[], sliceMax = Number.POSITIVE_INFINITY) =>
  async (n: number, cursor: string) => {
    const from = Number(cursor);
    const to = Math.min(from + Math.min(n, sliceMax), rows.length);
    return { rows: rows.slice(from, to), cursor: to < rows.length && n > 0 ? String(to) : '' };
  };

async function ask(n: number, read: ReturnType<typeof reader>, bytesMax = 10_000_000) {
  const { body, parts } = await jsonPage('Rows', { n, cursor: '', bytesMax }, read);
  let text = body as string;
  for await (const part of parts ?? []) text += part;
  return JSON.parse(text);
}

test.each([0, 1, 49, 50, 51, 100, 999, 1000, 1001, 5000])(
  'a page of %d is one, however it is read',
  async (n) => {
    const wanted = ROWS.slice(0, n);
    const cursor = n === 0 || n >= ROWS.length ? '' : String(n);
    expect(await ask(n, reader(ROWS))).toEqual({ Rows: wanted, Cursor: cursor });
    expect(await ask(n, reader([]))).toEqual({ Rows: [], Cursor: '' });
  },
);

test('a page ends early with its cursor, when a slice does or when it is long enough', async () => {
  expect(await ask(500, reader(ROWS, 30))).toEqual({ Rows: ROWS.slice(0, 30), Cursor: '30' });
  expect(await ask(1000, reader(ROWS), 1000)).toEqual({ Rows: ROWS.slice(0, 50), Cursor: '50' });
  expect(await ask(1000, reader(ROWS), 2000)).toEqual({ Rows: ROWS.slice(0, 100), Cursor: '100' });
});

test('what the first read throws decides the answer', async () => {
  const read = () => Promise.reject(new Error('no such cursor'));
  await expect(jsonPage('Rows', { n: 10, cursor: 'x', bytesMax: 1 }, read)).rejects.toThrow('no such cursor');
});
