import { openCacheTables } from '../cache/lmdb-cache-store.ts';
import { openDataTables } from '../tables/data-tables.ts';
import { checkCache } from './check-cache.ts';
import { checkData } from './check-data.ts';
import type { StoreKind } from './check-store.ts';

/* A process of its own, because damaged pages end whoever reads them. It writes its report to standard output. */
const [kind, path] = process.argv.slice(2) as [StoreKind, string];
if (kind === 'data') {
  const tables = openDataTables(path, { readOnly: true });
  process.stdout.write(JSON.stringify(checkData(tables)));
  await tables.engine.close();
} else {
  const tables = openCacheTables(path, { readOnly: true });
  process.stdout.write(JSON.stringify(checkCache(path, tables)));
  await tables.engine.close();
}
