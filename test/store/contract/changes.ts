import { describe, expect, test } from 'vitest';
import { feedback, putFeedback, putItems, putUsers } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

/** What listeners are told of commits. */
export function changes({ open }: StoreUnderTest): void {
  describe('changes', () => {
    test('listeners hear of a commit before its writes resolve, overwritten feedback with both times', async () => {
      const data = await open();
      const heard: string[] = [];
      data.onChange(({ added, removed, feedbackTypes }) => {
        heard.push(
          `${feedbackTypes} +${[...added.timesMs.subarray(0, added.length)]} -${[...removed.timesMs.subarray(0, removed.length)]}`,
        );
      });
      await data.write(putFeedback([feedback('other', 'u', 'i', { Timestamp: '1970-01-01T00:00:01Z' })]));
      await data.write(
        putFeedback([feedback('other', 'u', 'i', { Timestamp: '1969-12-31T23:59:59Z' })], true),
      );
      await data.write(putFeedback([feedback('other', 'u', 'i')]));
      expect(heard).toEqual(['other +1000 -', 'other +-1000 -1000']);
    });

    test('feedback that is written as it stands is told of to nobody, with another comment it is', async () => {
      const data = await open();
      const same = feedback('other', 'u', 'i', { Timestamp: '1970-01-01T00:00:01Z', Value: 2 });
      const heard: string[] = [];
      data.onChange(({ added, removed }) => {
        heard.push(`+${added.length} -${removed.length}`);
      });
      for (const record of [
        same,
        same,
        { ...same, Comment: 'other' },
        { ...same, Value: 3, Comment: 'other' },
      ])
        expect((await data.write(putFeedback([record], true))).rowAffected).toBe(1);
      expect(heard.filter((each) => each !== '+0 -0')).toEqual(['+1 -0', '+1 -1', '+1 -1']);
    });

    test('users and items are told of with their rows, which a deletion names too', async () => {
      const data = await open();
      const items: string[] = [];
      const users: number[] = [];
      const gone: number[][] = [];
      data.onChange((each) => {
        items.push(...Array.from(each.items, ({ row, itemId }) => `${row} ${itemId}`));
        users.push(...each.userRows);
        gone.push([...each.deletedItemRows, ...each.deletedUserRows]);
      });
      await data.write(putItems([{ ItemId: 'a' }, { ItemId: 'b' }]));
      await data.write(putUsers([{ UserId: 'u' }]));
      await data.write({ kind: 'deleteItem', itemId: 'b' });
      await data.write({ kind: 'deleteUser', userId: 'u' });
      expect(items).toEqual(['0 a', '1 b']);
      expect(users).toEqual([0]);
      expect(gone.flat()).toEqual([1, 0]);
    });
  });
}
