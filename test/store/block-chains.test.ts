import { expect, test } from 'vitest';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { pairKey } from '../../src/store/lmdb/format/record-layout.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { DirectStore } from './direct-store.ts';
import { feedback, putFeedback, storeOptions, tempFolder } from './helpers.ts';

test('a chain of blocks that leads back to itself is damage for whoever reads it, and no reading without end', async () => {
  const folder = tempFolder();
  const store = new DirectStore(folder, storeOptions(folder));
  await store.write(
    putFeedback([feedback('like', 'u', 'i'), feedback('like', 'v', 'i'), feedback('like', 'u', 'j')]),
  );
  await store.close();
  const tables = openDataTables(folder);
  const bytesOf = (...words: number[]) => new Uint8Array(Uint32Array.from(words).buffer);
  tables.engine.transact(() => {
    // The first block names a second one, which names itself.
    for (const table of [tables.itemFeedback, tables.userFeedback]) {
      table.put(pairKey(0, 0), bytesOf(1));
      table.put(pairKey(0, 1), bytesOf(1));
    }
  });
  await tables.engine.close();
  const damaged = new DirectStore(folder, storeOptions(folder));
  expect(() => damaged.local.readItemUsers(0)).toThrow(/^MDB_CORRUPTED/);
  expect(() => damaged.local.readUserFeedback(0, new FeedbackColumns())).toThrow(/^MDB_CORRUPTED/);
  expect(() => damaged.local.readItemUsers(1)).not.toThrow();
  await damaged.close();
});
