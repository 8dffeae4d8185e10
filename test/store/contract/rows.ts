import { describe, expect, test } from 'vitest';
import { type DataStore, FeedbackColumns } from '../../../src/store/data-store.ts';
import { feedback, putFeedback, putItems, putUsers } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

/** The reads by row, of the stores that have them. */
export function rows({ open }: StoreUnderTest): void {
  describe('rows', () => {
    test('an id keeps its row when it is put again, and gets a new one after a delete', async () => {
      const { write, local } = bound(await open());
      await write(putItems([{ ItemId: 'a' }, { ItemId: 'b' }]));
      await write(putItems([{ ItemId: 'a', IsHidden: true }]));
      expect(local.itemRow('a')).toBe(0);
      await write({ kind: 'deleteItem', itemId: 'a' });
      expect(local.itemRow('a')).toBe(-1);
      await write(putItems([{ ItemId: 'a' }]));
      expect(local.itemRow('a')).toBe(2);
      expect(local.itemIdAt(0)).toBeUndefined();
      expect(local.itemIdAt(2)).toBe('a');
      expect(local.itemRowCount).toBe(3);
    });

    test('a scan of the feedback in pieces gives whole users, and the items name the same pairs', async () => {
      const { write, local } = bound(await open());
      const all = Array.from({ length: 40 }, (_, at) => feedback('like', `u${at % 7}`, `i${at % 11}`));
      await write(putFeedback(all));
      const columns = new FeedbackColumns();
      const pairs: string[] = [];
      for (let from = 0; from >= 0; ) {
        columns.clear();
        const next = local.scanFeedback(from, 5, columns);
        for (let at = 0; at < columns.length; at++) {
          const userRow = columns.userRows[at]!;
          expect(userRow >= from && (next < 0 || userRow < next)).toBe(true);
          pairs.push(`${userRow} ${columns.itemRows[at]}`);
        }
        from = next;
      }
      const wanted = new Set(
        all.map(({ UserId, ItemId }) => `${local.userRow(UserId)} ${local.itemRow(ItemId)}`),
      );
      expect(pairs.sort()).toEqual([...wanted].sort());
      const byItem = Array.from({ length: local.itemRowCount }, (_, itemRow) =>
        [...local.readItemUsers(itemRow)].map((userRow) => `${userRow} ${itemRow}`),
      );
      expect(byItem.flat().sort()).toEqual(pairs);
    });

    test('records that are not stored use up no feedback types', async () => {
      const { write, local } = bound(await open({ autoInsertUser: false }));
      await write(putUsers([{ UserId: 'u' }]));
      const skipped = Array.from({ length: 4096 }, (_, i) => feedback(`type ${i}`, 'nobody', 'i'));
      expect((await write(putFeedback(skipped))).rowAffected).toBe(0);
      expect((await write(putFeedback([feedback('like', 'u', 'i')]))).rowAffected).toBe(1);
      expect(local.feedbackTypes()).toEqual(['like']);
    });
  });
}

/** The parts of a store that tests of rows use. */
function bound(data: DataStore) {
  return { write: data.write.bind(data), local: data.local! };
}
