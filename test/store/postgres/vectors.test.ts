import { expect, test } from 'vitest';
import type { VectorSpaces } from '../../../src/domain/vector-space.ts';
import type { DataStore } from '../../../src/store/data-store.ts';
import { itemsOf, vectorsOf } from '../contract/vectors.ts';
import { passed, tempFolder } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

const vectorSpaces: VectorSpaces = { text: { dimensions: 2, similarity: 'cosine' } };
const removal = (itemId: string) => ({ kind: 'deleteVector', space: 'text', itemId }) as const;

function vectorAt({ local }: DataStore, itemId: string): number[] | undefined {
  const vector = local.vectorAt(local.itemRow(itemId), 'text', 2);
  return vector && [...vector];
}

test.skipIf(!HAS_POSTGRES).each([false, true])(
  'nodes see the vectors of others, and one that comes later all of them (items alone: %s)',
  async (isPartial) => {
    const dsn = newDsn();
    const node = async () => (await openNode(dsn, tempFolder(), { vectorSpaces }, isPartial)).data;
    const [one, two] = [await node(), await node()];
    // Both number new items from the same base: the vector goes with the row that the item was given.
    await Promise.all([
      one.write(itemsOf('a', 'b')),
      one.write(vectorsOf('text', ['a', [1, 2]], ['b', [3, 4]])),
      two.write(itemsOf('c')),
      two.write(vectorsOf('text', ['c', [5, 6]])),
    ]);
    await Promise.all([passed(one), passed(two)]);
    for (const each of [one, two])
      expect(['a', 'b', 'c'].map((id) => vectorAt(each, id))).toEqual([
        [1, 2],
        [3, 4],
        [5, 6],
      ]);
    // Of two nodes that remove one, one did.
    const counts = await Promise.all([one.write(removal('a')), two.write(removal('a'))]);
    expect(counts.map(({ rowAffected }) => rowAffected).sort()).toEqual([0, 1]);
    // Its vector goes along, and one that was written in the same go.
    const gone = { kind: 'deleteItem', itemId: 'b' } as const;
    await Promise.all([one.write(vectorsOf('text', ['b', [7, 8]])), one.write(gone)]);
    await passed(two);
    await two.write(itemsOf('b'));
    const three = await node();
    await Promise.all([passed(one), passed(two)]);
    for (const each of [one, two, three])
      expect(['a', 'b', 'c'].map((id) => vectorAt(each, id))).toEqual([undefined, undefined, [5, 6]]);
    // Nothing is left under the row of an item that is gone.
    for (const { local } of [one, two, three]) {
      const rows: number[] = [];
      local.scanVectors(0, (row) => void rows.push(row));
      expect(rows).toEqual([local.itemRow('c')]);
    }
    for (const each of [one, two, three]) await each.close();
  },
);
