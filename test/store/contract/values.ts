import { describe, expect, test } from 'vitest';
import { feedback, putFeedback, putItems, putUsers, toJson, walk } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

const byValue = {
  positiveFeedbackTypes: ['rating>=4', 'rating>=5=3', 'like'],
  readFeedbackTypes: ['rating', 'read'],
};
const rating = (UserId: string, ItemId: string, Value: number) =>
  feedback('rating', UserId, ItemId, { Value });

/** Values of feedback and labels of any form. */
export function values({ open, reopen }: StoreUnderTest): void {
  describe('values and labels', () => {
    test('a value is given back where it is not 0, and goes with its feedback', async () => {
      const data = await open();
      await data.write(putFeedback([rating('u', 'a', 3.5), rating('u', 'b', 0), feedback('like', 'u', 'c')]));
      const all = await data.getUserFeedback('u');
      expect(all.map(({ ItemId, Value }) => [ItemId, Value])).toEqual([
        ['a', 3.5],
        ['b', undefined],
        ['c', undefined],
      ]);
      expect(all[1]).not.toHaveProperty('Value');
      expect(await walk(1, (n, cursor) => data.getFeedbackPage(n, cursor, 'rating'))).toEqual(
        all.slice(0, 2),
      );
      // POST keeps what is there, PUT writes over it, with a value or without.
      await data.write(putFeedback([rating('u', 'a', 1)]));
      expect((await data.getFeedback('rating', 'u', 'a'))?.Value).toBe(3.5);
      await data.write(putFeedback([rating('u', 'a', -2), rating('u', 'b', 7)], true));
      expect((await data.getFeedback('rating', 'u', 'a'))?.Value).toBe(-2);
      await data.write(putFeedback([rating('u', 'a', 0)], true));
      expect(await data.getFeedback('rating', 'u', 'a')).not.toHaveProperty('Value');
      const { removed } = await data.write({
        kind: 'deleteFeedback',
        feedbackType: undefined,
        userId: 'u',
        itemId: 'b',
      });
      expect(removed).toMatchObject([{ Value: 7 }]);
      await data.write(putFeedback([feedback('rating', 'u', 'b')]));
      expect(await data.getFeedback('rating', 'u', 'b')).not.toHaveProperty('Value');
    });

    test('only feedback that reaches the value takes the place of what was read', async () => {
      const data = await open(byValue);
      await data.write(putFeedback([feedback('read', 'u', 'a'), feedback('read', 'u', 'b')]));
      await data.write(putFeedback([rating('u', 'a', 3), rating('u', 'b', 4)]));
      const types = async (itemId: string) =>
        (await data.getPairFeedback('u', itemId)).map(({ FeedbackType }) => FeedbackType).sort();
      expect(await types('a')).toEqual(['rating', 'read']);
      expect(await types('b')).toEqual(['rating']);
    });

    test('labels of any form are kept as they came', async () => {
      const before = await open();
      const Labels = { genre: ['drama', ['court', 'drama']], year: 1957, seen: true, none: null };
      await before.write(
        putItems([
          { ItemId: 'i', Labels: Labels as never },
          { ItemId: 'j', Labels: ['plain'] },
        ]),
      );
      await before.write(putUsers([{ UserId: 'u', Labels: 'alone' as never, Comment: 'c' }]));
      const data = await reopen(before);
      const item = await data.getItem('i');
      expect(item).toMatchObject({ Labels: ['drama', 'court'], LabelsAsGiven: Labels });
      expect(await data.getItem('j')).not.toHaveProperty('LabelsAsGiven');
      expect(await data.getUser('u')).toMatchObject({
        Labels: ['alone'],
        LabelsAsGiven: 'alone',
        Comment: 'c',
      });
      await data.write({ kind: 'patchItem', itemId: 'i', json: toJson({ IsHidden: true }) });
      expect((await data.getItem('i'))?.LabelsAsGiven).toEqual(Labels);
      await data.write({ kind: 'patchItem', itemId: 'i', json: toJson({ Labels: ['x'] }) });
      expect((await data.getItem('i'))?.LabelsAsGiven).toBeUndefined();
    });
  });
}
