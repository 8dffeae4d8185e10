import { describe, expect, it } from 'vitest';
import { clusterShelf } from '../../src/background/generation/generation-storage.ts';
import { PART_NAMES, partOf } from '../../src/model/registry.ts';
import type { SavedStates } from '../../src/store/cache-store.ts';
import type { Cluster } from '../../src/store/cluster.ts';
import type { PostgresDsn } from '../../src/store/dsn.ts';
import { NotLeadingError } from '../../src/store/model-store.ts';

const IS_SAVED = (name: (typeof PART_NAMES)[number]) => partOf(name).saving !== undefined;

function shelfUnder(epoch: number | undefined) {
  return clusterShelf(
    { epoch } as Cluster,
    { dsn: {} as PostgresDsn, objects: undefined },
    {} as SavedStates,
  );
}

describe('names of parts in the database that all nodes share', () => {
  it.each(PART_NAMES.filter(IS_SAVED))('are for the leader alone: %s', (name) => {
    const shelf = shelfUnder(3);
    // Those of another fit, too, which may make the same generation, are others.
    for (const fit of [1, 2]) {
      expect(shelf.begin()).toBe(3);
      expect(shelf.nameOf(name, 7)).toMatch(new RegExp(`/7-3-${fit}$`));
    }
    expect(() => shelfUnder(undefined).nameOf(name, 7)).toThrow(NotLeadingError);
  });

  it.each(PART_NAMES.filter((name) => !IS_SAVED(name)))(
    'are nobody’s where a part is not saved: %s',
    (name) => {
      for (const epoch of [3, undefined]) expect(shelfUnder(epoch).nameOf(name, 0)).toBeUndefined();
    },
  );
});
