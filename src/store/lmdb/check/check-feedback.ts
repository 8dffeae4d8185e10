import { spreadBits } from '../../../domain/hash.ts';
import { FeedbackColumns } from '../../data-store.ts';
import { countsByTime, decodeOccurrences } from '../../repeats.ts';
import { FEEDBACK_WORDS, readRow, readType, unpackType } from '../format/record-layout.ts';
import { LmdbLocalReads } from '../reads/lmdb-local-reads.ts';
import { allEntries } from '../tables/engine.ts';
import type { Checked, Findings } from './findings.ts';

/** A number that differs for nearly all rows, so that sums tell sets apart. */
function hashOf(row: number): number {
  return spreadBits(row + 1);
}

/** Follows the blocks of one table: each must begin where the one before says. */
class Chain {
  private readonly name: string;
  private readonly findings: Findings;
  private row = -1;
  private next = 0;

  constructor(name: string, findings: Findings) {
    this.name = name;
    this.findings = findings;
  }

  /** @returns true when the block begins another row */
  enter(row: number, low: number, next: number): boolean {
    const isNew = row !== this.row;
    if (isNew) this.end();
    if (low !== (isNew ? 0 : this.next) || (!isNew && this.next === 0))
      this.findings.fault(`The blocks of row ${row} in ${this.name} are not a chain.`);
    this.row = row;
    this.next = next;
    return isNew;
  }

  end(): void {
    if (this.next !== 0) this.findings.fault(`The blocks of row ${this.row} in ${this.name} end early.`);
    this.next = 0;
  }
}

/** All feedback, in the blocks of its users. */
export function checkUserBlocks(checked: Checked): void {
  const { tables, findings, state, users, items, goingUsers, goingItems, itemSums, typeSums } = checked;
  const chain = new Chain('userFeedback', findings);
  const types = new Set<number>();
  let count = 0;
  let lastItem = -1;
  let lastType = -1;
  let row = -1;
  const endUser = () => {
    for (const type of types) typeSums[type] = (typeSums[type]! + hashOf(row)) | 0;
    types.clear();
  };
  for (const { key, value } of allEntries(tables.userFeedback)) {
    const userRow = readRow(key, 0);
    if (goingUsers.has(userRow)) continue;
    const words = toWords(value);
    if (chain.enter(userRow, readRow(key, 4), words[0]!)) {
      endUser();
      row = userRow;
      lastItem = lastType = -1;
      if (users[row] !== 1) findings.fault(`There is feedback of user row ${row}, who is not there.`);
    }
    if ((words.length - 1) % FEEDBACK_WORDS !== 0) findings.fault(`A block of user row ${row} is cut short.`);
    for (let at = 1; at + FEEDBACK_WORDS <= words.length; at += FEEDBACK_WORDS) {
      const itemRow = words[at]!;
      const type = unpackType(words[at + 2]!);
      count++;
      const inOrder = itemRow > lastItem || (itemRow === lastItem && type > lastType);
      if (!inOrder) findings.fault(`The feedback of user row ${row} is not in order.`);
      if (type >= checked.typeCount) findings.fault(`User row ${row} has feedback of an unknown type.`);
      else types.add(type);
      if (goingItems.has(itemRow)) {
        // Its list of users is already going.
      } else if (items[itemRow] !== 1) {
        findings.fault(`User row ${row} has feedback on item row ${itemRow}, which is not there.`);
      } else if (itemRow !== lastItem) itemSums[itemRow] = (itemSums[itemRow]! + hashOf(row)) | 0;
      lastItem = itemRow;
      lastType = type;
    }
  }
  endUser();
  chain.end();
  findings.count('feedback', count, state.feedback);
}

/** The lists of users by item. */
export function checkItemBlocks({
  tables,
  findings,
  items,
  goingUsers,
  goingItems,
  itemSums,
}: Checked): void {
  const chain = new Chain('itemFeedback', findings);
  let last = -1;
  for (const { key, value } of allEntries(tables.itemFeedback)) {
    const itemRow = readRow(key, 0);
    if (goingItems.has(itemRow)) continue;
    const words = toWords(value);
    if (chain.enter(itemRow, readRow(key, 4), words[0]!)) last = -1;
    if (items[itemRow] !== 1) findings.fault(`There are users of item row ${itemRow}, which is not there.`);
    for (const userRow of words.subarray(1)) {
      if (userRow <= last) findings.fault(`The users of item row ${itemRow} are not in order.`);
      last = userRow;
      if (!goingUsers.has(userRow)) itemSums[itemRow] = (itemSums[itemRow]! - hashOf(userRow)) | 0;
    }
  }
  chain.end();
}

/** The lists of users by type. */
export function checkTypeUsers({ tables, findings, typeCount, typeSums, goingUsers }: Checked): void {
  for (const { key } of allEntries(tables.typeUsers)) {
    const type = readType(key, 0);
    const userRow = readRow(key, 2);
    if (goingUsers.has(userRow)) continue;
    if (type >= typeCount) findings.fault(`User row ${userRow} stands under an unknown feedback type.`);
    else typeSums[type] = (typeSums[type]! - hashOf(userRow)) | 0;
  }
}

/** Each comment, each value and each row of events belongs to a feedback. */
export function checkTriples(
  { tables, findings, state, goingUsers }: Checked,
  name: 'comments' | 'values' | 'repeats',
): void {
  const reads = new LmdbLocalReads(tables);
  const columns = new FeedbackColumns();
  const found = new Map<string, number>();
  let loaded = -1;
  let count = 0;
  for (const { key, value } of allEntries(tables[name])) {
    count++;
    const userRow = readRow(key, 0);
    if (goingUsers.has(userRow)) continue;
    if (userRow !== loaded) {
      loaded = userRow;
      reads.readStoredFeedback(userRow, columns);
      found.clear();
      for (let at = 0; at < columns.length; at++)
        found.set(`${columns.itemRows[at]} ${columns.types[at]}`, columns.timesMs[at]!);
    }
    const timeMs = found.get(`${readRow(key, 4)} ${readType(key, 8)}`);
    if (timeMs === undefined) findings.fault(`User row ${userRow} has ${name} without their feedback.`);
    else if (name === 'repeats' && latestOf(value) !== timeMs)
      findings.fault(`Feedback of user row ${userRow} is of another time than the latest of its events.`);
  }
  findings.count(name, count, state[name]);
}

/** The time of the latest event that counts, undefined for fewer than two events. */
function latestOf(bytes: Uint8Array): number | undefined {
  const occurrences = decodeOccurrences(bytes);
  return occurrences.length < 2 ? undefined : countsByTime(occurrences).at(-1)![0];
}

function toWords(value: Uint8Array): Uint32Array {
  const copy = Uint8Array.from(value.subarray(0, value.length & ~3));
  return new Uint32Array(copy.buffer);
}
