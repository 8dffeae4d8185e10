import { describe, expect, test } from 'vitest';
import type { ChangeSet } from '../../../src/store/data-store.ts';
import { code, feedback, NOW_MS, putFeedback, putItems } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

/** What writes of feedback do to each other, and what deletions take along. */
export function feedbackRules({ open }: StoreUnderTest): void {
  describe('feedback', () => {
    test('POST keeps what is there and PUT writes over it, in the store and within a batch', async () => {
      const data = await open();
      const first = feedback('other', 'u', 'i', { Comment: 'first' });
      const second = feedback('other', 'u', 'i', { Comment: 'second', Timestamp: '2024-01-01T00:00:00.5Z' });
      expect((await data.write(putFeedback([first, second]))).rowAffected).toBe(1);
      expect((await data.write(putFeedback([second]))).rowAffected).toBe(0);
      expect(await data.getFeedback('other', 'u', 'i')).toEqual(first);
      expect((await data.write(putFeedback([first, second], true))).rowAffected).toBe(1);
      expect(await data.getFeedback('other', 'u', 'i')).toEqual({
        ...second,
        Timestamp: '2024-01-01T00:00:00.500Z',
      });
    });

    test('without a timestamp it happened when it arrived', async () => {
      const data = await open();
      await data.write(putFeedback([{ FeedbackType: 'other', UserId: 'u', ItemId: 'i' }]));
      expect((await data.getFeedback('other', 'u', 'i'))?.Timestamp).toBe(
        new Date(NOW_MS).toISOString().replace('.000', ''),
      );
    });

    test('an unknown user or item is created empty, or its records are skipped', async () => {
      const data = await open();
      await data.write(putFeedback([feedback('other', '🐝', '__proto__')]));
      expect(await data.getItem('__proto__')).toMatchObject({
        ItemId: '__proto__',
        Timestamp: '',
        Categories: [],
      });
      expect(await data.getUser('🐝')).toEqual({ UserId: '🐝', Labels: [], Comment: '', Subscribe: [] });

      const strict = await open({ autoInsertItem: false });
      await strict.write(putItems([{ ItemId: 'i' }]));
      const batch = [feedback('other', 'u', 'i'), feedback('other', 'lonely', 'no')];
      expect((await strict.write(putFeedback(batch))).rowAffected).toBe(1);
      expect(await strict.getUser('lonely')).toBeUndefined();
    });

    test('positive feedback takes the place of read feedback, which may come again after', async () => {
      const data = await open();
      const changes: ChangeSet[] = [];
      data.onChange((change) => {
        changes.push(change);
      });
      await data.write(putFeedback([feedback('read', 'u', 'i'), feedback('read', 'u', 'j')]));
      const written = await data.write(putFeedback([feedback('like', 'u', 'i'), feedback('like', 'v', 'i')]));
      expect(written).toEqual({ rowAffected: 2, replacedReads: 1, removed: [] });
      expect((await data.getPairFeedback('u', 'i')).map((each) => each.FeedbackType)).toEqual(['like']);
      expect(changes.at(-1)?.removed.length).toBe(1);
      await data.write(putFeedback([feedback('read', 'u', 'i')]));
      expect(await data.getPairFeedback('u', 'i')).toHaveLength(2);
      // A type that is read and positive is positive.
      await data.write(putFeedback([feedback('star', 'u', 'j'), feedback('like', 'u', 'j')]));
      expect((await data.getPairFeedback('u', 'j')).map((each) => each.FeedbackType).sort()).toEqual([
        'like',
        'star',
      ]);
    });

    test('the typed delete answers what it removed or 404, the pair form answers a list', async () => {
      const data = await open();
      const all = [feedback('like', 'u', 'i', { Comment: 'c' }), feedback('other', 'u', 'i')];
      await data.write(putFeedback(all));
      const pair = { kind: 'deleteFeedback', userId: 'u', itemId: 'i' } as const;
      expect(await data.write({ ...pair, feedbackType: 'like' })).toEqual({
        rowAffected: 1,
        removed: [all[0]],
      });
      await expect(data.write({ ...pair, feedbackType: 'like' })).rejects.toEqual(code('FEEDBACK_NOT_FOUND'));
      await expect(data.write({ ...pair, feedbackType: 'never' })).rejects.toEqual(
        code('FEEDBACK_NOT_FOUND'),
      );
      expect((await data.write({ ...pair, feedbackType: undefined })).removed).toEqual([all[1]]);
      expect((await data.write({ ...pair, feedbackType: undefined })).removed).toEqual([]);
      expect(await data.getItemFeedback('i')).toEqual([]);
      expect((await data.getStats()).feedback).toBe(0);
    });

    test('deleting a user or an item removes its feedback and comments', async () => {
      const data = await open();
      const all = ['u', 'v'].flatMap((user) =>
        ['i', 'j'].map((item) => feedback('like', user, item, { Comment: 'c' })),
      );
      await data.write(putFeedback(all));
      await data.write({ kind: 'deleteUser', userId: 'u' });
      await data.write({ kind: 'deleteItem', itemId: 'i' });
      const left = [feedback('like', 'v', 'j', { Comment: 'c' })];
      expect((await data.getFeedbackPage(10, '')).rows).toEqual(left);
      expect((await data.getFeedbackPage(10, '', 'like')).rows).toEqual(left);
      await data.write(putFeedback([feedback('like', 'u', 'i')]));
      expect((await data.getFeedback('like', 'u', 'i'))?.Comment).toBe('');
    });

    test('a refused batch leaves nothing and does not hold up its neighbors', async () => {
      const data = await open();
      const good = data.write(putFeedback([feedback('other', 'u', 'i')]));
      const bad = data.write(putFeedback([feedback('other', 'v', 'i'), { UserId: 'v' }]));
      const alsoGood = data.write(putFeedback([feedback('other', 'w', 'i')]));
      expect((await good).rowAffected).toBe(1);
      await expect(bad).rejects.toEqual(code('INVALID_BODY'));
      expect((await alsoGood).rowAffected).toBe(1);
      expect(await data.getUser('v')).toBeUndefined();
      await expect(
        data.write({
          kind: 'putFeedback',
          overwrite: false,
          batch: { json: Uint8Array.of(123), single: false },
        }),
      ).rejects.toEqual(code('INVALID_JSON'));
    });
  });
}
