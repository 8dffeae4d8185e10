import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lookAt } from '../../src/cli/import/run-import.ts';
import { exportParquet } from '../../src/exchange/export-parquet.ts';
import { readVectorFile } from '../../src/exchange/vector-files.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'furze-parquet-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* pages(rows: readonly object[], size: number) {
  for (let from = 0; from < rows.length; from += size)
    yield { cursor: '', rows: rows.slice(from, from + size) };
}

const rowsOf = async (path: string) =>
  (
    await Promise.all(
      readdirSync(path).map(async (name) => {
        const file = new Uint8Array(readFileSync(join(path, name))).buffer;
        return (await parquetReadObjects({ file })).map((row): Record<string, unknown> => ({ ...row, name }));
      }),
    )
  ).flat();

const FEEDBACK = Array.from({ length: 3000 }, (_, at) => ({
  FeedbackType: 'like',
  UserId: `u${at % 70}`,
  ItemId: `=i|"${at % 11}`,
  Timestamp: new Date(1.7e12 + at).toISOString(),
  Comment: at === 5 ? 'grün\r\n' : '',
  ...(at % 2 === 0 && { Value: at / 3 }),
}));

describe('an export to Parquet', () => {
  it('of nothing is a file without rows, which is read back', async () => {
    for (const kind of ['items', 'vectors'] as const) {
      const path = join(folder, `no-${kind}`);
      expect(await exportParquet(path, kind, pages([], 1), () => {})).toBe(0);
      expect(readdirSync(path)).toEqual(['part-0-0.parquet']);
      expect(await rowsOf(path)).toEqual([]);
    }
    const { plan } = await lookAt({
      path: join(folder, 'no-items/part-0-0.parquet'),
      wishes: { kind: 'items' },
    });
    expect(plan).toMatchObject({ kind: 'items', isApiForm: true });
    const read = readVectorFile(join(folder, 'no-vectors/part-0-0.parquet'));
    for await (const { ids } of read) expect(ids).toEqual([]);
  });

  it('has every record as it is, and all of a user in one part', async () => {
    const path = join(folder, 'feedback');
    let told = 0;
    const tell = (records: number) => {
      told = records;
    };
    expect(await exportParquet(path, 'feedback', pages(FEEDBACK, 1000), tell)).toBe(FEEDBACK.length);
    expect(told).toBe(FEEDBACK.length);
    const rows = await rowsOf(path);
    const partOf = new Map(rows.map(({ UserId, name }) => [UserId, name]));
    expect(rows.every(({ UserId, name }) => partOf.get(UserId) === name)).toBe(true);
    expect(new Set(partOf.values()).size).toBe(8);
    const back = rows.map(({ name: _part, Timestamp, Value, ...row }) => ({
      ...row,
      Timestamp: (Timestamp as Date).toISOString(),
      ...(typeof Value === 'number' && { Value }),
    }));
    const sorted = (all: readonly object[]) =>
      all.map((row) => JSON.stringify(row, Object.keys(FEEDBACK[0]!).sort())).sort();
    expect(sorted(back)).toEqual(sorted(FEEDBACK));
  });

  it('of items has lists of names with | between them, as CSV has them', async () => {
    const item = {
      ItemId: 'a',
      IsHidden: true,
      Categories: ['x', 'y'],
      Timestamp: '',
      Labels: ['p|q'],
      Comment: 'c',
    };
    await exportParquet(join(folder, 'items'), 'items', pages([item], 1), () => {});
    const [row] = await rowsOf(join(folder, 'items'));
    expect(row).toMatchObject({ ItemId: 'a', IsHidden: true, Categories: 'x|y', Comment: 'c' });
    expect(row!.Timestamp ?? undefined).toBeUndefined();
  });

  it('of vectors is read back by an import', async () => {
    const vectors = Array.from({ length: 50 }, (_, at) => ({ ItemId: `i${at}`, Vector: [at, 0.5, -1e-7] }));
    await exportParquet(join(folder, 'vectors'), 'vectors', pages(vectors, 7), () => {});
    const found = new Map<string, number[]>();
    for await (const batch of readVectorFile(join(folder, 'vectors')))
      for (const [at, id] of batch.ids.entries()) found.set(id, [...batch.vectors[at]!]);
    expect(found.size).toBe(50);
    for (const { ItemId, Vector } of vectors) expect(found.get(ItemId)).toEqual(Vector.map(Math.fround));
  });

  it('writes over nothing, and leaves nothing behind where it fails', async () => {
    const path = join(folder, 'taken');
    mkdirSync(path);
    writeFileSync(join(path, 'mine.txt'), 'mine');
    await expect(exportParquet(path, 'feedback', pages(FEEDBACK, 10), () => {})).rejects.toThrow(
      /There is something in .*taken already/,
    );
    async function* broken() {
      yield { cursor: '', rows: [] };
      throw new Error('the store is damaged');
    }
    await expect(exportParquet(join(folder, 'none'), 'items', broken(), () => {})).rejects.toThrow(/damaged/);
    expect(readdirSync(folder).filter((name) => /none|\.part/.test(name))).toEqual([]);
    expect(readdirSync(path)).toEqual(['mine.txt']);
  });
});
