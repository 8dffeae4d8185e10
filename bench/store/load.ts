import { join } from 'node:path';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { LmdbLocalReads } from '../../src/store/lmdb/reads/lmdb-local-reads.ts';
import { type DataTables, openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { entriesFrom, tableBytes } from '../../src/store/lmdb/tables/engine.ts';
import { readState } from '../../src/store/lmdb/tables/meta-table.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { compactStore } from '../../src/store/open/open-store.ts';
import { WRITE_RULES, withFolder } from '../http/processes.ts';
import { median, type Row, ratioRow } from '../http/statistics.ts';
import { feedbackBatches, type WorldSize } from '../http/world.ts';

/** Records that a call of the scan is asked for, as a training asks. */
const SCAN_RECORDS = 100_000;

/** The load of the whole matrix and the bytes on disk, over one folder filled in batches of 1,000. */
export function benchFolder(size: WorldSize, rounds: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const dataPath = join(folder, 'data');
    let tables = openDataTables(dataPath);
    await fill(tables, size);
    const rows = [benchLoad(tables, rounds), ...measureBytes(tables, 'as written', 80)];
    await tables.engine.close();
    await compactStore(dataPath);
    tables = openDataTables(dataPath);
    rows.push(...measureBytes(tables, 'compacted', 60));
    await tables.engine.close();
    return rows;
  });
}

async function fill(tables: DataTables, size: WorldSize): Promise<void> {
  const writer = new GroupWriter(tables, WRITE_RULES);
  for (const records of feedbackBatches(size, 1000)) {
    const command = { kind: 'putFeedback', overwrite: false, batch: { records } } as const;
    writer.write([{ kind: 'write', ticket: 0, nowMs: 0, command }]);
  }
}

function benchLoad(tables: DataTables, rounds: number): Row {
  const reads = new LmdbLocalReads(tables);
  const columns = new FeedbackColumns(SCAN_RECORDS);
  const { feedback } = readState(tables);
  const load = () => {
    let records = 0;
    for (let row = 0; row >= 0; ) {
      row = reads.scanFeedback(row, SCAN_RECORDS, columns);
      records += columns.length;
    }
    if (records !== feedback) throw new Error(`the scan found ${records} of ${feedback} records`);
  };
  const walk = () => {
    let bytes = 0;
    for (const { value } of entriesFrom(tables.userFeedback, new Uint8Array(8), Number.POSITIVE_INFINITY)) {
      bytes += value.length;
    }
    if (bytes === 0) throw new Error('the table is empty');
  };
  load();
  walk();
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    theirs.push(timeMsSync(walk));
    ours.push(timeMsSync(load));
  }
  const perSecond = (timesMs: readonly number[]) => (feedback / median(timesMs)) * 1000;
  const [bench, reference] = ['load the training matrix', 'bare walk of the blocks'];
  return ratioRow(bench, 'records/s', perSecond(ours), reference, perSecond(theirs), '10 million records/s');
}

/** Bytes of the pages of each kind of entity; those of all of feedback's indexes count as feedback's. */
function measureBytes(tables: DataTables, when: string, aimBytes: number): Row[] {
  const { users, items, feedback } = readState(tables);
  const sum = (...names: ('userIds' | 'users' | 'itemIds' | 'items' | 'userFeedback' | 'itemFeedback')[]) =>
    names.reduce((bytes, name) => bytes + tableBytes(tables[name]), 0);
  const ofFeedback =
    sum('userFeedback', 'itemFeedback') + tableBytes(tables.typeUsers) + tableBytes(tables.comments);
  const row = (bench: string, furze: number, reference: string, its: number, aim = '') =>
    ratioRow(`${bench}, ${when}`, 'bytes', furze, reference, its, aim);
  const file = tables.engine.bytes / feedback;
  return [
    row('a feedback', ofFeedback / feedback, 'packed record, both sides', 16),
    row('the whole file, a feedback', file, 'aim', aimBytes, '<= 1'),
    row('a user', sum('userIds', 'users') / users, 'id twice and row twice', idBytes('user-', users)),
    row('an item', sum('itemIds', 'items') / items, 'id twice and row twice', idBytes('item-', items)),
  ];
}

/** Least size of an entity without fields: its id as a key and as a value, and its row likewise. */
function idBytes(prefix: string, count: number): number {
  return 2 * (prefix.length + String(count).length + 4);
}

function timeMsSync(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}
