import type { StoredFeedback } from '../../repeats.ts';
import { tripleKey } from '../format/record-layout.ts';
import type { DataTables } from './data-tables.ts';
import { readBytes } from './engine.ts';
import type { StoreState } from './meta-table.ts';
import { readOccurrences, readValue } from './value-kinds.ts';

/** A feedback as it is stored; what stands beside it is read only where there is any. */
export function readStored(
  tables: DataTables,
  { comments, values, repeats }: Pick<StoreState, 'comments' | 'values' | 'repeats'>,
  { userRow, itemRow, type }: { readonly userRow: number; readonly itemRow: number; readonly type: number },
  timeMs: number,
): StoredFeedback {
  const value = values > 0 ? readValue(tables, userRow, itemRow, type) : 0;
  const comment = comments > 0 ? readBytes(tables.comments, tripleKey(userRow, itemRow, type)) : undefined;
  const text = comment && Buffer.from(comment.buffer, comment.byteOffset, comment.length).toString();
  const occurrences = repeats > 0 ? readOccurrences(tables, userRow, itemRow, type) : undefined;
  return { timeMs, value, comment: text ?? '', occurrences };
}
