import type { ReadBarrier } from '../../store/data-store.ts';
import type { Reply } from '../route/reply.ts';

/** On answers of which it is not known whether they show what other nodes have stored: the database does not answer. */
const STALE: readonly [string, string] = ['X-Furze-Stale', 'true'];

/** Answers once reads have passed the barrier, and says where they may not be as fresh as they are to be. */
export async function answerFresh(
  barrier: ReadBarrier,
  passed: Promise<void> | undefined,
  answer: () => Reply | Promise<Reply>,
): Promise<Reply> {
  await passed;
  const { isUnsure } = barrier;
  const reply = await answer();
  return isUnsure ? { ...reply, headers: [...(reply.headers ?? []), STALE] } : reply;
}
