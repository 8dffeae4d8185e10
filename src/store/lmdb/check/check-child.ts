import { decode } from '@msgpack/msgpack';
import { packedLength } from '../../packed-list.ts';
import { type CacheTables, openCacheTables } from '../cache/lmdb-cache-store.ts';
import { readRow } from '../format/record-layout.ts';
import { openDataTables } from '../tables/data-tables.ts';
import { allEntries } from '../tables/engine.ts';
import { checkData } from './check-data.ts';
import type { StoreKind } from './check-store.ts';
import { Findings, type Report } from './findings.ts';

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

/**
 * Reads every list, mark and model of a cache. What a model means is its own checksum's to judge, when it is loaded; here
 * its bytes are read.
 */
function checkCache(path: string, { lists, marks, blobs }: CacheTables): Report {
  const findings = new Findings();
  let listCount = 0;
  for (const { key, value } of allEntries(lists)) {
    listCount++;
    if (packedLength(value) !== value.length)
      findings.fault(`The list of user row ${readRow(key, 0)} is not as long as it says.`);
  }
  let markCount = 0;
  for (const { key, value } of allEntries(marks)) {
    markCount++;
    try {
      decode(value);
    } catch {
      findings.fault(`The mark "${Buffer.from(key)}" cannot be read.`);
    }
  }
  let modelBytes = 0;
  let modelCount = 0;
  for (const { value } of allEntries(blobs)) {
    modelCount++;
    modelBytes += value.length;
  }
  findings.count('lists', listCount);
  findings.count('marks', markCount);
  findings.count('models', modelCount);
  findings.count('bytes of models', modelBytes);
  return findings.report(path);
}
