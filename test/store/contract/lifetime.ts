import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/domain/request-limits.ts';
import { code, feedback, putFeedback, putUsers } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

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

    test('limits come from the configuration', async () => {
      const data = await open({ limits: { ...DEFAULT_LIMITS, batchRecordsMax: 1 } });
      await expect(data.write(putUsers([{ UserId: 'a' }, { UserId: 'b' }]))).rejects.toEqual(
        code('BATCH_TOO_LARGE'),
      );
    });
  });
}
