import { expect, test } from 'vitest';
import { storeSource } from '../../src/exchange/copy-sources.ts';
import type { DataReader } from '../../src/store/data-store.ts';

/** A store of so many records of feedback, which counts what it is told, and whose commits are these, one a look. */
function reader(records: number, counts: number, commits: (number | undefined)[]): DataReader {
  const rows = Array.from({ length: records }, () => ({}));
  return {
    getFeedbackPage: async (n: number, cursor: string) => {
      const [at, end] = [Number(cursor), Number(cursor) + n];
      return { rows: rows.slice(at, end), cursor: end < records ? String(end) : '' };
    },
    getStats: async () => ({ users: 0, items: 0, feedback: counts, bytes: 0 }),
    local: {
      refresh() {},
      get feedbackPosition() {
        const commit = commits.shift();
        return commit === undefined ? undefined : { commit };
      },
    },
  } as unknown as DataReader;
}

async function walk(source: DataReader, from?: string): Promise<number> {
  let read = 0;
  for await (const { rows } of storeSource(source)('feedback', from)) read += rows.length;
  return read;
}

test('less feedback than the store counts is a damaged store, unless somebody writes', async () => {
  expect(await walk(reader(2500, 2500, [7, 7]))).toBe(2500);
  await expect(walk(reader(2500, 2600, [7, 7]))).rejects.toThrow(
    /^The data store counts 2,600 feedback and 2,500 could be read: its file is damaged\. .*"furze check"/,
  );
  expect(await walk(reader(2500, 2600, [7, 8]))).toBe(2500);
  expect(await walk(reader(2500, 2600, [undefined, undefined]))).toBe(2500);
  expect(await walk(reader(2500, 2500, [7, 7]), '1000')).toBe(1500);
});

test('a damaged store whose pages lead back to one before is read once, and not for ever', async () => {
  const round = {
    getUsers: async (_: number, cursor: string) => ({
      rows: [{ UserId: cursor, Labels: [] }],
      cursor: cursor === 'b' ? 'a' : 'b',
    }),
  } as unknown as DataReader;
  const read: unknown[] = [];
  const walked = (async () => {
    for await (const { rows } of storeSource(round)('users')) read.push(...rows);
  })();
  await expect(walked).rejects.toThrow(/^Reading comes back to where it was, for ever: .*"furze check"/);
  expect(read).toHaveLength(2);
});
