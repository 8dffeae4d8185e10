import { describe, expect, test } from 'vitest';
import type { VectorSpaces } from '../../../src/domain/vector-space.ts';
import type { ChangeSet, DataStore, WriteCommand } from '../../../src/store/data-store.ts';
import { code } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

const vectorSpaces: VectorSpaces = {
  text: { dimensions: 3, similarity: 'dot' },
  image: { dimensions: 1, similarity: 'dot' },
};

/** A command that puts items without details. */
export function itemsOf(...ids: readonly string[]): WriteCommand {
  const blank = { IsHidden: false, Categories: [], Timestamp: '', Labels: [], Comment: '' };
  return { kind: 'putItems', batch: { records: ids.map((ItemId) => ({ ItemId, ...blank })) } };
}

/** A command that puts vectors. */
export function vectorsOf(space: string, ...records: readonly [string, readonly number[]][]): WriteCommand {
  const batch = records.map(([ItemId, Vector]) => ({ ItemId, Vector: Float32Array.from(Vector) }));
  return { kind: 'putVectors', space, batch: { records: batch } };
}

const removal = (itemId: string, space = 'text') => ({ kind: 'deleteVector', space, itemId }) as const;

/** Vectors of items: as they were given, in all spaces, gone with their item, told of, kept over a restart. */
export function vectors({ open, reopen }: StoreUnderTest): void {
  describe('vectors', () => {
    const vectorAt = ({ local }: DataStore, itemId: string, space = 'text') =>
      local.vectorAt(local.itemRow(itemId), space, vectorSpaces[space]!.dimensions);

    test('are what was written last, of each space, also after a restart', async () => {
      const data = await open({ vectorSpaces });
      // An item and its vector may be stored in one go.
      await Promise.all([
        data.write(itemsOf('a', 'b')),
        data.write(vectorsOf('text', ['a', [1, 2, 3]], ['b', [-0.1, 1e-30, 3e15]])),
        data.write(vectorsOf('image', ['b', [7]])),
      ]);
      await data.write(vectorsOf('text', ['a', [0, 0, 0]], ['a', [4, 5, 6]]));
      const again = await reopen(data, { vectorSpaces });
      expect(vectorAt(again, 'a')).toEqual(Float32Array.of(4, 5, 6));
      expect(vectorAt(again, 'b')).toEqual(Float32Array.of(-0.1, 1e-30, 3e15));
      expect(vectorAt(again, 'b', 'image')).toEqual(Float32Array.of(7));
      expect(vectorAt(again, 'a', 'image')).toBeUndefined();
      const walked: [number, string][] = [];
      expect(again.local.scanVectors(0, (row, space) => void walked.push([row, space]))).toBe(-1);
      expect(walked.map(([row, space]) => [again.local.itemIdAt(row), space])).toEqual([
        ['a', 'text'],
        ['b', 'image'],
        ['b', 'text'],
      ]);
    });

    test('are removed once, and of one space', async () => {
      const data = await open({ vectorSpaces });
      await data.write(itemsOf('a'));
      await data.write(vectorsOf('text', ['a', [1, 2, 3]]));
      await data.write(vectorsOf('image', ['a', [1]]));
      const counts = await Promise.all([data.write(removal('a')), data.write(removal('a'))]);
      expect(counts.map(({ rowAffected }) => rowAffected)).toEqual([1, 0]);
      expect((await data.write(removal('a'))).rowAffected).toBe(0);
      expect((await data.write(removal('nobody'))).rowAffected).toBe(0);
      expect([vectorAt(data, 'a'), vectorAt(data, 'a', 'image')]).toEqual([undefined, Float32Array.of(1)]);
      await data.write(vectorsOf('text', ['a', [4, 5, 6]]));
      expect((await data.write(removal('a'))).rowAffected).toBe(1);
      expect(vectorAt(await reopen(data, { vectorSpaces }), 'a')).toBeUndefined();
    });

    test('go with their item, and the next one of that name has none', async () => {
      const data = await open({ vectorSpaces });
      await data.write(itemsOf('a', 'b'));
      await data.write(vectorsOf('text', ['a', [1, 2, 3]], ['b', [1, 1, 1]]));
      const gone = { kind: 'deleteItem', itemId: 'a' } as const;
      await Promise.all([
        data.write(vectorsOf('image', ['a', [1]])),
        data.write(gone),
        data.write(itemsOf('a')),
      ]);
      const again = await reopen(data, { vectorSpaces });
      expect(vectorAt(again, 'a')).toBeUndefined();
      expect(vectorAt(again, 'a', 'image')).toBeUndefined();
      expect(vectorAt(again, 'b')).toEqual(Float32Array.of(1, 1, 1));
    });

    test('of an item that there is not are refused with all beside them', async () => {
      const data = await open({ vectorSpaces });
      await data.write(itemsOf('a'));
      const both = vectorsOf('text', ['a', [1, 2, 3]], ['nobody', [1, 2, 3]]);
      await expect(data.write(both)).rejects.toEqual(code('ITEM_NOT_FOUND'));
      expect(vectorAt(data, 'a')).toBeUndefined();
    });

    test('listeners are told whose are written or removed, once these can be read', async () => {
      const data = await open({ vectorSpaces });
      await data.write(itemsOf('a', 'b'));
      const told: (readonly [rows: ChangeSet['vectorRows'], vector: Float32Array | undefined])[] = [];
      data.onChange(({ vectorRows }) => void told.push([vectorRows, vectorAt(data, 'b')]));
      await data.write(vectorsOf('text', ['b', [1, 2, 3]]));
      await data.write(removal('b'));
      await data.write(removal('b'));
      const row = data.local.itemRow('b');
      expect(told).toEqual([
        [[row], Float32Array.of(1, 2, 3)],
        [[row], undefined],
      ]);
    });
  });
}
