import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { runImport } from '../../src/cli/import/run-import.ts';
import type { BulkTarget } from '../../src/exchange/import-targets.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-run-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an import of one file of feedback into a store that is interrupted when it is asked to store everything. */
async function interruptedAtTheEnd(finish: BulkTarget['finish']): Promise<[code: number, report: string]> {
  const path = join(folder, 'likes.csv');
  writeFileSync(path, 'user,item,time\nann,tea,1700000000\nbob,tea,1700000001\n');
  const target: BulkTarget = {
    name: 'this test',
    write: async () => 0,
    beginFile: () => 1,
    dropFile: () => {},
    discard: async () => {},
    finish: (options) => {
      process.emit('SIGINT');
      return finish(options);
    },
  };
  const parts = {
    target,
    bulk: async () => target,
    folder,
    positiveTypes: ['like'],
    repeats: 'first',
  } as const;
  const flags = { paths: [path], preset: 'csv', wishes: {}, skipsBad: false, json: false } as const;
  let report = '';
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    report += String(text);
    return true;
  });
  try {
    return [await runImport({ ...parts, ...flags }), report];
  } finally {
    vi.restoreAllMocks();
  }
}

test('an interruption that comes when all is being stored, and stops nothing, is none', async () => {
  const [code, report] = await interruptedAtTheEnd(async () => [0, 2]);
  expect(code).toBe(0);
  expect(report).toMatch(/likes\.csv: 2 rows read, 2 feedback stored or changed\n$/);
});

test('an interruption that comes before all is stored says to run the command again', async () => {
  const [code, report] = await interruptedAtTheEnd(async ({ signal }) =>
    signal.aborted ? undefined : [0, 2],
  );
  expect(code).toBe(130);
  expect(report).toMatch(
    /0 feedback stored or changed, cut off with 2 of them not stored\nInterrupted\. Run the same command again/,
  );
});

test('an id that is all guests together is warned of, unless it was said what becomes of it', async () => {
  const path = join(folder, 'orders.csv');
  const rows = Array.from({ length: 30 }, (_, at) => `${at % 2 ? 'guest' : 100 + at},a${at % 4},2024-01-01`);
  writeFileSync(path, `user,item,time\n${rows.join('\n')}\n`);
  const heard = async (guests?: string[]) => {
    let said = '';
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
    const parts = {
      target: undefined,
      folder: undefined,
      positiveTypes: ['like'],
      repeats: 'first',
    } as const;
    const flags = { paths: [path], preset: 'csv', wishes: { guests }, skipsBad: false, json: false } as const;
    await runImport({ ...parts, ...flags });
    vi.restoreAllMocks();
    return said;
  };
  expect(await heard()).toContain(
    'warning, user guest looks like all guests together; --guests guest leaves',
  );
  expect(await heard([])).not.toContain('guests together');
});
