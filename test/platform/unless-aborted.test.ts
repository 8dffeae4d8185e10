import { expect, it } from 'vitest';
import { unlessAborted } from '../../src/platform/concurrency/unless-aborted.ts';

const NEVER = new Promise<void>(() => {});

it('waits no longer than until the signal is aborted, also where that was before', async () => {
  const reason = new Error('stopping');
  const before = unlessAborted(NEVER, AbortSignal.abort(reason));
  await expect(before).rejects.toBe(reason);
  const ending = new AbortController();
  const during = unlessAborted(NEVER, ending.signal);
  ending.abort(reason);
  await expect(during).rejects.toBe(reason);
});

it('ends with the work, and as it does', async () => {
  const { signal } = new AbortController();
  await unlessAborted(Promise.resolve(), signal);
  await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
});
