import type { Interactions } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import type { AlsStart } from '../../src/model/als/memory-layout.ts';
import { collected } from '../dataset/collected.ts';

/** Groups of items; a user takes most of its items from one of them. */
const GROUPS = 6;

export interface Tastes {
  readonly train: Interactions;
  readonly heldOut: NonNullable<AlsStart['heldOut']>;
}

/** A seeded set in which something can be learned and something is chance, large enough to hold records out. */
export function tastes(userCount = 2600, itemCount = 120, seed = 4): Tastes {
  const random = createRandom(seed);
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (let left = 4 + random.below(10); left > 0; left--) {
      const own = random.float() < 0.7;
      const place = Math.floor((itemCount / GROUPS) * random.float() ** 2);
      userRows.push(user);
      itemRows.push(own ? place * GROUPS + (user % GROUPS) : random.below(itemCount));
    }
  }
  const times = userRows.map(() => random.float());
  const { interactions: train, heldOut } = collected({ userRows, itemRows, times }, { seed });
  if (heldOut.userRows.length === 0) throw new Error('the set is too small');
  return { train, heldOut };
}
