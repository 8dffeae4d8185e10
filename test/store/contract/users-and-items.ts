import { describe, expect, test } from 'vitest';
import { code, putItems, putUsers, toJson } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

/** Inserts, patches, categories and deletions of users and items. */
export function usersAndItems({ open }: StoreUnderTest): void {
  describe('users and items', () => {
    test('an insert overwrites, the last record of a batch wins, and each row counts once', async () => {
      const data = await open();
      expect(
        await data.write(putUsers([{ UserId: 'a' }, { UserId: 'b' }, { UserId: 'a', Comment: 'x' }])),
      ).toEqual({
        rowAffected: 2,
        removed: [],
      });
      expect(await data.getUser('a')).toEqual({ UserId: 'a', Labels: [], Comment: 'x', Subscribe: [] });
      expect(await data.getUser('c')).toBeUndefined();
      expect(await data.getUser('')).toBeUndefined();
      expect(await data.getUser('z'.repeat(5000))).toBeUndefined();
    });

    test('a patch changes the fields it has and is refused for an unknown id', async () => {
      const data = await open();
      await data.write(putItems([{ ItemId: 'i', Labels: ['x'], Timestamp: '2020-01-01', Comment: 'c' }]));
      await data.write({ kind: 'patchItem', itemId: 'i', json: toJson({ IsHidden: true, Comment: null }) });
      expect(await data.getItem('i')).toEqual({
        ItemId: 'i',
        IsHidden: true,
        Categories: [],
        Timestamp: '2020-01-01T00:00:00Z',
        Labels: ['x'],
        Comment: 'c',
      });
      await expect(data.write({ kind: 'patchItem', itemId: 'no', json: toJson({}) })).rejects.toEqual(
        code('ITEM_NOT_FOUND'),
      );
      await expect(data.write({ kind: 'patchUser', userId: 'no', json: toJson({}) })).rejects.toEqual(
        code('USER_NOT_FOUND'),
      );
    });

    test('categories are added once, removed, and need their item', async () => {
      const data = await open();
      await data.write(putItems([{ ItemId: 'i' }]));
      const add = { kind: 'addCategory', itemId: 'i', category: 'c' } as const;
      expect((await data.write(add)).rowAffected).toBe(1);
      expect((await data.write(add)).rowAffected).toBe(0);
      expect((await data.getItem('i'))?.Categories).toEqual(['c']);
      expect((await data.write({ ...add, kind: 'removeCategory' })).rowAffected).toBe(1);
      expect((await data.getItem('i'))?.Categories).toEqual([]);
      await expect(data.write({ ...add, itemId: 'no' })).rejects.toEqual(code('ITEM_NOT_FOUND'));
    });

    test('deleting an unknown user or item affects no row', async () => {
      const data = await open();
      expect((await data.write({ kind: 'deleteUser', userId: 'no' })).rowAffected).toBe(0);
      expect((await data.write({ kind: 'deleteItem', itemId: 'no' })).rowAffected).toBe(0);
    });
  });
}
