import { describe, expect, test, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/domain/request-limits.ts';
import type { DataStore } from '../../../src/store/data-store.ts';
import { code, feedback, putFeedback, putUsers } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

const FAULTS = 6;
const RECORDS = 500;

/** The writing thread's supervisor; it takes what no caller can send. */
function writerOf(data: DataStore) {
  return Reflect.get(data, 'writer') as { post(message: unknown): void };
}

/** @returns the user whose feedback was acknowledged; undefined where it was refused for want of a writer */
async function writeMany(data: DataStore, userId: string): Promise<string | undefined> {
  const records = Array.from({ length: RECORDS }, (_, at) => feedback('like', userId, `item-${at}`));
  try {
    await data.write(putFeedback(records));
    return userId;
  } catch (error) {
    expect(error).toEqual(code('STORE_UNAVAILABLE'));
    return undefined;
  }
}

/** Opening again, closing, and what a store is told to refuse. */
export function lifetime({ open, reopen }: StoreUnderTest): void {
  describe('opening and closing', () => {
    test('everything is there after a restart', async () => {
      const before = await open();
      await before.write(putFeedback([feedback('like', 'u', 'i', { Comment: 'c' })]));
      const data = await reopen(before);
      expect(await data.getUserFeedback('u', 'like')).toEqual([feedback('like', 'u', 'i', { Comment: 'c' })]);
      expect(await data.getStats()).toMatchObject({ users: 1, items: 1, feedback: 1 });
    });

    test('a closed store takes no more writes, and carries out what it had taken', async () => {
      const data = await open();
      const last = data.write(putUsers([{ UserId: 'u' }]));
      const again = await reopen(data);
      expect((await last).rowAffected).toBe(1);
      await expect(data.write(putUsers([{ UserId: 'v' }]))).rejects.toEqual(code('STORE_UNAVAILABLE'));
      await expect(data.ping()).rejects.toEqual(code('STORE_UNAVAILABLE'));
      expect((await again.getUser('u'))?.UserId).toBe('u');
      expect(await again.getUser('v')).toBeUndefined();
    });

    // A thread that is torn down while it flushes would end the process, and this test with it.
    test.each([
      ['fails in its loop', { kind: 'write' }],
      ['fails where it listens', null],
    ])(
      'a writing thread that %s, again and again under load, leaves reads and what it told',
      async (_, message) => {
        const data = await open();
        Reflect.set(writerOf(data), 'restartMs', 1);
        const acknowledged: string[] = [];
        for (let round = 0; round < FAULTS; round++) {
          const under = Array.from({ length: 8 }, (_, at) => `${round}-${at}`).map((userId) =>
            writeMany(data, userId),
          );
          // Each round meets the thread at another moment of its work.
          await under[round % under.length];
          writerOf(data).post(message);
          for (const userId of await Promise.all(under)) if (userId !== undefined) acknowledged.push(userId);
          await vi.waitFor(() => data.ping(), 600_000);
        }
        expect(acknowledged.length).toBeGreaterThanOrEqual(FAULTS);
        const again = await reopen(data);
        for (const userId of acknowledged) expect(await again.getUserFeedback(userId)).toHaveLength(RECORDS);
      },
    );

    test('limits come from the configuration', async () => {
      const data = await open({ limits: { ...DEFAULT_LIMITS, batchRecordsMax: 1 } });
      await expect(data.write(putUsers([{ UserId: 'a' }, { UserId: 'b' }]))).rejects.toEqual(
        code('BATCH_TOO_LARGE'),
      );
    });
  });
}
