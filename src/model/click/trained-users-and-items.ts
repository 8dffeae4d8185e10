import type { LabelsOf, PairColumns, TrainingData } from '../../dataset/training-data.ts';
import { placeOf } from '../../memory/binary-search.ts';
import { sharedU32 } from '../../memory/shared-arrays.ts';
import type { ClickData } from './examples.ts';
import type { FmRows } from './model.ts';

/**
 * The rows that a click-through model has: the users with positive feedback, and the items with any.
 * @param negatives see `TrainingReads.readPairs`
 */
export function trainedRows({ rows, itemRowCount }: TrainingData, negatives: PairColumns): FmRows {
  const isKnown = new Uint8Array(itemRowCount);
  for (const row of rows.items) isKnown[row] = 1;
  for (let at = 0; at < negatives.itemRows.length; at++) isKnown[negatives.itemRows[at]!] = 1;
  const count = isKnown.reduce((sum, known) => sum + known, 0);
  const items = sharedU32(count);
  for (let row = 0, next = 0; row < itemRowCount; row++) if (isKnown[row] === 1) items[next++] = row;
  return { users: rows.users, items, itemRowCount };
}

/** What is trained from, by the rows of the model. */
export function clickData(
  { interactions, heldOut, rows }: TrainingData,
  negatives: PairColumns,
  trained: FmRows,
  labels: { readonly users: LabelsOf; readonly items: LabelsOf },
): ClickData {
  const { byUser, userCount } = interactions;
  // Most often the items with positive feedback are all.
  const places = rows.items.length === trained.items.length ? undefined : rows.items.map(ofStore);
  const ofMatrix = (items: Uint32Array) => (places === undefined ? items : items.map((row) => places[row]!));
  const userRows = new Uint32Array(byUser.indices.length);
  for (let row = 0; row < byUser.rowCount; row++)
    userRows.fill(row, byUser.indptr[row], byUser.indptr[row + 1]);
  return {
    positives: { userRows, itemRows: ofMatrix(byUser.indices) },
    negatives: { userRows: negatives.userRows, itemRows: Uint32Array.from(negatives.itemRows, ofStore) },
    heldOut: { userRows: heldOut.userRows, itemRows: ofMatrix(heldOut.itemRows) },
    userCount,
    itemCount: trained.items.length,
    userLabelsOf: (row) => (row < userCount ? labels.users(trained.users[row]!) : []),
    itemLabelsOf: (row) => labels.items(trained.items[row]!),
  };

  function ofStore(row: number): number {
    return placeOf(trained.items, row);
  }
}
