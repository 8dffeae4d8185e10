import { rowIndices } from '../dataset/interactions.ts';
import type { LabelsOf, PairColumns, TrainingData, TrainingReads } from '../dataset/training-data.ts';
import { placeOf } from '../memory/binary-search.ts';
import { sharedU32 } from '../memory/shared-arrays.ts';
import { type TypeTest, typeTest } from '../recommend/history/counts-as-positive.ts';
import type { FeedbackColumns, LocalReads } from '../store/data-store.ts';
import { scanAllFeedback } from '../store/scan-feedback.ts';
import { withReads } from './open-stores.ts';

/** The data that a job reads. */
interface Source {
  readonly dataPath: string;
  readonly positiveTypes: readonly string[];
  readonly readTypes: readonly string[];
}

/** Hands all feedback out in blocks. */
type Scan = (visit: (block: FeedbackColumns) => void) => void;

/**
 * Runs `work` with what a model may read of the data; each thing is read once, when it is first asked for.
 * @param check called before each block of feedback; ends the work by throwing
 */
export function withTrainingReads<T>(
  source: Source,
  work: (reads: TrainingReads) => T,
  check: () => void = () => {},
): T {
  const { dataPath, positiveTypes, readTypes } = source;
  return withReads(dataPath, (reads) => {
    const scan: Scan = (visit) =>
      scanAllFeedback(reads, (block) => {
        check();
        visit(block);
      });
    const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
    const isRead = typeTest(readTypes, () => reads.feedbackTypes());
    let items: LabelsOf | undefined;
    let pairs: PairColumns | undefined;
    return work({
      userCount: reads.userCount,
      itemCount: reads.itemCount,
      itemRow: (itemId) => reads.itemRow(itemId),
      userRow: (userId) => reads.userRow(userId),
      itemLabels: () => (items ??= itemLabelsOf(reads)),
      userLabels: () => (row) => reads.userAt(row)?.Labels ?? [],
      readPairs: (data) => (pairs ??= readPairs(scan, data, isRead)),
      readTimes: (data, visit) => readTimes(scan, data, isPositive, visit),
    });
  });
}

function itemLabelsOf(reads: LocalReads): LabelsOf {
  const labels: (readonly string[])[] = [];
  reads.scanItems(0, (item) => (labels[item.row] = item.labels));
  return (row) => labels[row] ?? [];
}

/** See `TrainingReads.readPairs`: 8 bytes each, in shared memory. */
function readPairs(scan: Scan, data: TrainingData, isRead: TypeTest): PairColumns {
  // Read twice, so that the columns are made as long as they have to be.
  let count = 0;
  scanReadPairs(scan, data, isRead, () => count++);
  const userRows = sharedU32(count);
  const itemRows = sharedU32(count);
  let next = 0;
  scanReadPairs(scan, data, isRead, (user, item) => {
    userRows[next] = user;
    itemRows[next++] = item;
  });
  return { userRows, itemRows };
}

function scanReadPairs(
  scan: Scan,
  { interactions, rows, itemRowCount, userRowCount, heldOut, heldOutSinceMs, userShare }: TrainingData,
  isRead: TypeTest,
  visit: (userRow: number, itemRow: number) => void,
): void {
  const pairKey = (user: number, item: number) => user * interactions.itemCount + item;
  const held = new Set(Array.from(heldOut.userRows, (user, at) => pairKey(user, heldOut.itemRows[at]!)));
  const isPositive = (user: number, item: number) =>
    placeOf(rowIndices(interactions.byUser, user), item) >= 0 || held.has(pairKey(user, item));
  const places = placesByRow(rows.items, itemRowCount);
  let next = 0;
  let lastUser = -1;
  let lastItem = -1;
  scan(({ userRows, itemRows, types, timesMs, length }) => {
    for (let at = 0; at < length; at++) {
      const userRow = userRows[at]!;
      const item = itemRows[at]!;
      if (!isRead(types[at]!) || timesMs[at]! > heldOutSinceMs) continue;
      // Rows that came after the feedback was gathered are not part of this fit.
      if (userRow >= userRowCount || item >= itemRowCount) continue;
      if (lastUser === userRow && lastItem === item) continue;
      while (next < rows.users.length && rows.users[next]! < userRow) next++;
      const user = rows.users[next] === userRow ? next : interactions.userCount;
      // What users outside the sample like is not known here.
      if (user === interactions.userCount && userShare < 1) continue;
      const known = places[item]! - 1;
      if (user < interactions.userCount && known >= 0 && isPositive(user, known)) continue;
      lastUser = userRow;
      lastItem = item;
      visit(user, item);
    }
  });
}

/** See `TrainingReads.readTimes`. A time is 0 where feedback was taken back since it was gathered. */
function readTimes(
  scan: Scan,
  { interactions: { userCount, byUser }, rows, itemRowCount }: TrainingData,
  isPositive: TypeTest,
  visit: (userRow: number, timesMs: Float64Array) => void,
): void {
  let timesMs = new Float64Array(0);
  let next = 0;
  // Feedback comes in order of user and item, as these stand in the matrix.
  const goTo = (user: number) => {
    for (; next < user; next++) {
      if (next > 0 && timesMs.length > 0) visit(next - 1, timesMs);
      timesMs = new Float64Array(rowIndices(byUser, next).length);
    }
  };
  let place = 0;
  let user = 0;
  const places = placesByRow(rows.items, itemRowCount);
  scan(({ userRows, itemRows, types, timesMs: times, length }) => {
    for (let at = 0; at < length; at++) {
      while (user < userCount && rows.users[user]! < userRows[at]!) user++;
      if (user === userCount) break;
      const item = (places[itemRows[at]!] ?? 0) - 1;
      if (rows.users[user] !== userRows[at] || item < 0) continue;
      if (user >= next) {
        goTo(user + 1);
        place = 0;
      }
      const items = rowIndices(byUser, user);
      while (place < items.length && items[place]! < item) place++;
      if (items[place] !== item || !isPositive(types[at]!)) continue;
      timesMs[place] = Math.max(timesMs[place]!, times[at]!);
    }
  });
  goTo(userCount);
  if (userCount > 0 && timesMs.length > 0) visit(userCount - 1, timesMs);
}

/** One more than the row of the matrix by row of the store; 0 for none. */
function placesByRow(rows: Uint32Array, rowCount: number): Uint32Array {
  const places = new Uint32Array(rowCount);
  rows.forEach((row, place) => {
    places[row] = place + 1;
  });
  return places;
}
