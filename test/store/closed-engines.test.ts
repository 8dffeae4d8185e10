import { join } from 'node:path';
import * as lmdb from 'lmdb';
import { expect, test } from 'vitest';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { tempFolder } from './helpers.ts';

test('nothing is kept of a store that is closed, and what is open is kept', async () => {
  const { allDbs } = lmdb as unknown as { readonly allDbs: ReadonlyMap<string, unknown> };
  const folder = tempFolder();
  const open = openDataTables(join(folder, 'open'));
  const kept = allDbs.size;
  for (let i = 0; i < 3; i++) {
    const { engine } = openDataTables(join(folder, `copy-${i}`));
    expect(allDbs.size).toBeGreaterThan(kept);
    await engine.close();
  }
  expect(allDbs.size).toBe(kept);
  await open.engine.close();
});
