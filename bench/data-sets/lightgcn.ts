import { lines, rowNumber } from './lines.ts';
import type { PairColumns } from './ncf.ts';

/** Reads `train.txt` or `test.txt` of He et al. 2020 (LightGCN): `user item item ...` a line; a user may have none. */
export function parseLightgcn(text: string): PairColumns {
  const pairs: PairColumns = { userRows: [], itemRows: [] };
  for (const { number, line } of lines(text)) {
    const fields = line.trim().split(/\s+/);
    const userRow = rowNumber(fields[0], number);
    for (const field of fields.slice(1)) {
      pairs.userRows.push(userRow);
      pairs.itemRows.push(rowNumber(field, number));
    }
  }
  return pairs;
}
