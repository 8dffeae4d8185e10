import { getOrPut } from '../domain/get-or-put.ts';
import { counted } from '../domain/group-digits.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { ItemVector, VectorSpaces } from '../domain/vector-space.ts';
import type { DataStore, LocalReads } from '../store/data-store.ts';

/** Numbers of vectors that are written at once, unless one item has more. */
const NUMBERS_MAX = 262_144;

/**
 * Copies the vectors of items that are copied already, and looks each up afterwards.
 * @param spaces those of the configuration; vectors of others, or of another length, stay behind
 * @returns how many are copied, and by space how many stay behind
 * @throws OperatorError where one is another than it was
 */
export async function copyVectors(
  from: LocalReads,
  to: DataStore,
  spaces: VectorSpaces,
): Promise<{ readonly copied: number; readonly left: ReadonlyMap<string, number> }> {
  const left = new Map<string, number>();
  let copied = 0;
  for (let next = 0; next >= 0; ) {
    const bySpace = new Map<string, ItemVector[]>();
    let numbers = 0;
    next = from.scanVectors(next, (row, space, Vector) => {
      numbers += Vector.length;
      const isKept = Object.hasOwn(spaces, space) && spaces[space]!.source !== 'text';
      if (isKept && spaces[space]!.dimensions === Vector.length)
        getOrPut(bySpace, space, (): ItemVector[] => []).push({ ItemId: from.itemIdAt(row)!, Vector });
      else left.set(space, (left.get(space) ?? 0) + 1);
      return numbers < NUMBERS_MAX;
    });
    for (const [space, records] of bySpace) {
      await to.write({ kind: 'putVectors', space, batch: { records } });
      for (const { ItemId, Vector } of records) {
        const found = to.local.vectorAt(to.local.itemRow(ItemId), space, Vector.length);
        if (found === undefined || !Buffer.from(found.buffer).equals(Buffer.from(Vector.buffer)))
          throw new OperatorError(`the vector of the item ${JSON.stringify(ItemId)} in ${space} differs`);
      }
      copied += records.length;
    }
  }
  return { copied, left };
}

/** Says which vectors stay behind, a line each. */
export function tellLeft(left: ReadonlyMap<string, number>): string[] {
  return Array.from(
    left,
    ([space, count]) =>
      `${counted(count, 'vectors')} of ${JSON.stringify(space)} ${count === 1 ? 'stays' : 'stay'} behind: the configuration has no such space of so many numbers; --config names another`,
  );
}
