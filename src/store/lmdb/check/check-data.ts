import { decodeId, decodeItem, decodeUser } from '../format/entity-codec.ts';
import { readRow } from '../format/record-layout.ts';
import type { DataTables } from '../tables/data-tables.ts';
import { allEntries, countEntries, readBytes, type Table } from '../tables/engine.ts';
import { readReplicaOf, readState, readTypes } from '../tables/meta-table.ts';
import { pendingDeletions } from '../tables/pending-deletions.ts';
import { checkItemBlocks, checkTriples, checkTypeUsers, checkUserBlocks } from './check-feedback.ts';
import { type Checked, Findings, type Report } from './findings.ts';

/**
 * Walks a data store and compares everything that it holds twice: ids and rows, users' feedback and the lists of users
 * by item and by type, comments, counts. Memory is some bytes a row; one snapshot is read, so a service may run.
 */
export function checkData(tables: DataTables): Report {
  const findings = new Findings();
  const { engine, ...all } = tables;
  const missing = Object.entries(all).filter(([, table]) => table === undefined);
  for (const [name] of missing) findings.fault(`The table ${name} is missing.`);
  if (missing.length > 0) return findings.report(engine.path);
  const state = readState(tables);
  const types = readTypes(tables);
  if (types.length !== state.feedbackTypes)
    findings.fault(`${types.length} feedback types have names, ${state.feedbackTypes} are counted.`);
  const going = pendingDeletions(tables);
  const checked: Checked = {
    tables,
    findings,
    state,
    typeCount: types.length,
    users: new Uint8Array(state.nextUserRow),
    items: new Uint8Array(state.nextItemRow),
    goingUsers: going.users,
    goingItems: going.items,
    itemSums: new Int32Array(state.nextItemRow),
    typeSums: new Int32Array(types.length),
  };
  checkEntities(checked, 'items');
  // A server's copy has some users, and nothing twice; what counts is that it can be read.
  if (readReplicaOf(tables)?.isPartial) {
    for (const table of Object.values(all)) for (const _entry of allEntries(table));
    return findings.report(engine.path);
  }
  checkEntities(checked, 'users');
  checkUserBlocks(checked);
  checkItemBlocks(checked);
  checkTypeUsers(checked);
  checkTriples(checked, 'comments');
  checkTriples(checked, 'values');
  checkTriples(checked, 'repeats');
  countThrough('recent feedback', tables.recentFeedback, findings);
  // A folder of before that is only read has no such table.
  if ((tables.journals as Table | undefined) !== undefined)
    countThrough('journals', tables.journals, findings);
  checkVectors(checked);
  for (const [row, sum] of checked.itemSums.entries()) {
    if (sum !== 0)
      findings.fault(`The list of users of item row ${row} does not agree with the users' feedback.`);
  }
  for (const [type, sum] of checked.typeSums.entries()) {
    if (sum !== 0)
      findings.fault(`The list of users of type "${types[type]}" does not agree with their feedback.`);
  }
  findings.count('feedback types', types.length);
  findings.count('unfinished deletions', going.users.size + going.items.size, state.deletions);
  return findings.report(engine.path);
}

function countThrough(name: string, table: Table, findings: Findings): void {
  let count = 0;
  for (const _entry of allEntries(table)) count++;
  compareCounts(name, count, table, findings);
}

function compareCounts(name: string, count: number, table: Table, findings: Findings): void {
  if (count !== countEntries(table))
    findings.fault(`The table of ${name} has ${count} entries and counts ${countEntries(table)}.`);
}

/** Each vector is of an item that there is, and whole. */
function checkVectors({ tables, findings, items }: Checked): void {
  let count = 0;
  for (const { key, value } of allEntries(tables.vectors)) {
    const row = readRow(key, 0);
    count++;
    if (items[row] !== 1) findings.fault(`A vector is of item row ${row}, which there is not.`);
    if (value.length % 4 > 0 || value.length === 0)
      findings.fault(`A vector of item row ${row} has ${value.length} bytes.`);
  }
  compareCounts('vectors', count, tables.vectors, findings);
}

/** Each id has a row and each row that id. */
function checkEntities({ tables, findings, state, users, items }: Checked, name: 'users' | 'items'): void {
  const [rows, ids, present] =
    name === 'users' ? [tables.users, tables.userIds, users] : [tables.items, tables.itemIds, items];
  let count = 0;
  for (const { key, value } of allEntries(rows)) {
    const row = readRow(key, 0);
    count++;
    if (row >= present.length) findings.fault(`Row ${row} of ${name} was never given.`);
    else present[row] = 1;
    try {
      if (name === 'users') decodeUser(value);
      else decodeItem(value);
    } catch {
      findings.fault(`Row ${row} of ${name} cannot be read.`);
    }
  }
  findings.count(name, count, state[name]);
  if (countEntries(ids) !== count)
    findings.fault(`There are ${countEntries(ids)} ids of ${name} for ${count} rows.`);
  checkIds(ids, rows, findings);
}

function checkIds(ids: Table, rows: Table, findings: Findings): void {
  for (const { key, value } of allEntries(ids)) {
    const id = Buffer.from(key).toString();
    const stored = value.length === 4 ? readBytes(rows, value) : undefined;
    if (stored === undefined || decodeId(stored) !== id)
      findings.fault(`The id "${id}" leads to a row that is not its own.`);
  }
}
