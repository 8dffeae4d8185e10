import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  batchUnlessGivenUp,
  type Environment,
  isGivenUp,
} from '../../src/store/lmdb/tables/given-up-error.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An environment whose batches never end, as those do that begin once LMDB has given it up. */
function environment(): { root: Environment; isGivenUp: boolean; batches: number } {
  const state = { root: undefined as unknown as Environment, isGivenUp: false, batches: 0 };
  state.root = {
    resetReadTxn() {},
    getStats() {
      if (state.isGivenUp) throw new Error('Invalid argument: MDB_PANIC: Update of meta page failed');
      return {};
    },
    batch() {
      state.batches++;
      return new Promise(() => {});
    },
  };
  return state;
}

const wording =
  '/c is neither read nor written any more by this process (MDB_PANIC), since its disk failed amid a commit: check the disk and restart the service';

test('what is queued when LMDB gives up the environment is refused, and what comes after is not queued', async () => {
  const state = environment();
  const queued = batchUnlessGivenUp(state.root, '/c', () => {}).catch((error: Error) => error);
  await vi.advanceTimersByTimeAsync(5000);
  state.isGivenUp = true;
  await vi.advanceTimersByTimeAsync(5000);
  const error = await queued;
  expect([isGivenUp(error), (error as Error).message]).toEqual([true, wording]);
  await expect(batchUnlessGivenUp(state.root, '/c', () => {})).rejects.toThrow(wording);
  expect([state.batches, vi.getTimerCount()]).toEqual([1, 0]);
});

test('a commit that failed is told by what it failed for', async () => {
  const state = environment();
  const commitError = Promise.reject(new Error('No space left on device'));
  const error = Object.assign(new Error('Commit failed (see commitError for details)'), { commitError });
  state.root.batch = () => Promise.reject(error);
  await expect(batchUnlessGivenUp(state.root, '/c', () => {})).rejects.toMatchObject({
    message: 'No space left on device',
    commitError,
  });
});

test('what the commit failed for is not left unhandled where it is told after that', async () => {
  const state = environment();
  let fail = (_: Error) => {};
  state.root.batch = (() => new Promise((_, reject) => (fail = reject))) as typeof state.root.batch;
  const queued = batchUnlessGivenUp(state.root, '/c', () => {}).catch((error: Error) => error);
  state.isGivenUp = true;
  await vi.advanceTimersByTimeAsync(1000);
  expect(((await queued) as Error).message).toBe(wording);
  const commitError = Promise.reject(new Error('Input/output error'));
  fail(Object.assign(new Error('Commit failed'), { commitError }));
  await vi.advanceTimersByTimeAsync(0);
});
