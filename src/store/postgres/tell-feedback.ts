import type { ChangeLog } from '../lmdb/changes/change-log.ts';
import { tellChange } from '../lmdb/changes/tell-change.ts';
import type { ValueKinds } from '../lmdb/tables/value-kinds.ts';
import type { PackedFeedback } from '../packed-feedback.ts';

/**
 * Tells what a commit changed of feedback, where there is no copy of it.
 * @param numberOf the number of a type's name
 * @returns how many there are more, or fewer below 0
 */
export function tellFeedback(
  feedback: PackedFeedback,
  kinds: Pick<ValueKinds, 'numberOf'>,
  numberOf: (typeName: string) => number,
  log: ChangeLog,
): number {
  const { rows, types, typeNames, timesMs, length } = feedback;
  if (feedback.isPlain) {
    const { added } = log;
    const numbers = typeNames.map((name) => kinds.numberOf(numberOf(name), name, 0));
    for (let at = 0, to = added.extend(length); at < length; at++, to++) {
      added.userRows[to] = rows[at * 2]!;
      added.itemRows[to] = rows[at * 2 + 1]!;
      added.types[to] = numbers[types[at]!]!;
      added.timesMs[to] = timesMs[at]!;
    }
    return length;
  }
  let more = 0;
  for (const effect of feedback) {
    const { userRow, itemRow, before } = effect;
    const after = Number.isNaN(effect.timeMs) ? undefined : effect;
    more += Number(after !== undefined) - Number(before !== undefined);
    tellChange(kinds, effect.type, { userRow, itemRow, type: numberOf(effect.type) }, before, after, log);
  }
  return more;
}
