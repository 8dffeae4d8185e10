import { NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';

const ITEMS_MAX = 1000;

type Reads = Pick<LocalReads, 'readUserFeedback' | 'feedbackTypes'>;

/** Items with feedback of a type that begins them and, since, none of one that ends them; begun last first. */
export function begunItems(
  reads: Reads,
  userRow: number,
  { begun, finished }: { readonly begun: readonly string[]; readonly finished: readonly string[] },
): Ranked {
  if (userRow < 0) return NOTHING;
  const feedback = new FeedbackColumns();
  reads.readUserFeedback(userRow, feedback);
  const names = reads.feedbackTypes();
  const begunMs = new Map<number, number>();
  const endedMs = new Map<number, number>();
  for (let at = 0; at < feedback.length; at++) {
    const name = names[feedback.types[at]!]!;
    const times = begun.includes(name) ? begunMs : finished.includes(name) ? endedMs : undefined;
    const row = feedback.itemRows[at]!;
    times?.set(row, Math.max(times.get(row) ?? 0, feedback.timesMs[at]!));
  }
  const latest = new TopK(ITEMS_MAX);
  for (const [row, timeMs] of begunMs)
    if ((endedMs.get(row) ?? Number.NEGATIVE_INFINITY) < timeMs) latest.push(row, timeMs);
  return latest.sorted();
}
