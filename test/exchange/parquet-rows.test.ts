import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, it } from 'vitest';
import { lookAt } from '../../src/cli/import/run-import.ts';
import { describePlan } from '../../src/exchange/describe-plan.ts';
import { importFile } from '../../src/exchange/import-file.ts';
import { openText } from '../../src/exchange/open-text-file.ts';
import { tempFolder } from '../store/helpers.ts';

const ROWS = 45_000;
const rows = Array.from({ length: ROWS }, (_, at) => at);

function clicks(): string {
  const path = join(tempFolder(), 'clicks.parquet');
  const columnData = [
    { name: 'reader_id', data: rows.map((at) => `r${at % 700}`), type: 'STRING' },
    { name: 'article_id', data: rows.map((at) => BigInt(at % 300)), type: 'INT64' },
    {
      name: 'clicked_at',
      data: rows.map((at) => new Date(1_700_000_000_000 + at * 1000)),
      type: 'TIMESTAMP',
    },
    { name: 'dwell', data: rows.map((at) => (at % 3 === 0 ? null : at / 7)), type: 'DOUBLE', nullable: true },
  ] as const;
  const buffer = parquetWriteBuffer({ columnData: columnData as never, rowGroupSize: [30_000] });
  writeFileSync(path, Buffer.from(buffer));
  return path;
}

const told = { onRefused: () => {}, onProgress: () => {}, signal: new AbortController().signal };

it('reads every row of a Parquet file, over its row groups, with times in UTC and whole ids', async () => {
  const path = clicks();
  const { plan } = await lookAt({ path, wishes: {} });
  expect(describePlan(plan)).toBe(
    'feedback: UserId from "reader_id", ItemId from "article_id", Timestamp from "clicked_at" (date), all of type "like"; not used: dwell',
  );
  const records: Record<string, string>[] = [];
  const { refused } = await importFile({
    ...{ ...told, plan, skipsBad: false },
    onRow: ({ made }) => 'record' in made && records.push(made.record as Record<string, string>),
  });
  expect([records.length, refused]).toEqual([ROWS, 0]);
  for (const at of [0, 19_999, 20_000, 29_999, 30_000, ROWS - 1])
    expect(records[at]).toMatchObject({
      ...{ UserId: `r${at % 700}`, ItemId: String(at % 300) },
      Timestamp: new Date(1_700_000_000_000 + at * 1000).toISOString(),
    });
});

it('says in words that a Parquet file is damaged', async () => {
  const path = join(tempFolder(), 'cut.parquet');
  writeFileSync(path, Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(100, 7)]));
  const read = async () => {
    for await (const _text of openText(path, 'utf-8').chunks);
  };
  await expect(read()).rejects.toThrow(/cut\.parquet cannot be read as Parquet: /);
});
