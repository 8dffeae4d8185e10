import { countsByTime, occurrencesOf, type StoredFeedback } from '../../repeats.ts';
import type { ValueKinds } from '../tables/value-kinds.ts';
import type { ChangeLog } from './change-log.ts';

/** A feedback by its rows and the number of its type. */
export interface Triple {
  readonly userRow: number;
  readonly itemRow: number;
  readonly type: number;
}

type Counted = Omit<StoredFeedback, 'comment'>;

/**
 * Tells of each event that came or went. An overwritten record goes and comes, were it at the same time with another comment.
 * @param name of the type
 * @param before what there was, undefined for nothing
 */
export function tellChange(
  kinds: Pick<ValueKinds, 'numberOf'>,
  name: string,
  { userRow, itemRow, type }: Triple,
  before: Counted | undefined,
  after: Counted | undefined,
  changes: ChangeLog,
): void {
  const was = before && kinds.numberOf(type, name, before.value);
  const is = after && kinds.numberOf(type, name, after.value);
  if (before?.occurrences === undefined && after?.occurrences === undefined) {
    if (before !== undefined) changes.removed.push(userRow, itemRow, was!, before.timeMs);
    if (after !== undefined) changes.added.push(userRow, itemRow, is!, after.timeMs);
    return;
  }
  const counts = new Map<number, number>();
  const isFurther = after?.occurrences !== undefined && was === is;
  if (before !== undefined)
    for (const [timeMs, count] of countsByTime(occurrencesOf(before))) {
      if (isFurther) counts.set(timeMs, -count);
      else for (let at = 0; at < count; at++) changes.removed.push(userRow, itemRow, was!, timeMs);
    }
  if (after === undefined) return;
  for (const [timeMs, count] of countsByTime(occurrencesOf(after)))
    counts.set(timeMs, (counts.get(timeMs) ?? 0) + count);
  for (const [timeMs, count] of counts) {
    const columns = count > 0 ? changes.added : changes.removed;
    for (let at = 0; at < Math.abs(count); at++) columns.push(userRow, itemRow, is!, timeMs);
  }
}
