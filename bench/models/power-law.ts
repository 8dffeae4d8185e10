import { buildInteractions, type Interactions } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import { drawer } from '../draw.ts';

/** Groups of taste; a user belongs to three, an item to one. */
const GROUPS = 64;
const GROUPS_OF_USER = 3;
/** Share of a user's items that come from its groups; the rest follow popularity alone. */
const OWN_SHARE = 0.7;
/** Exponent of the popularity of items (Zipf). */
const ITEM_EXPONENT = 0.9;
/** Spread of the users' counts around their median (log-normal), and the fewest that a user has. */
const COUNT_DEVIATION = 1.1;
const COUNT_MIN = 5;

/** A matrix to train on and the pairs held out of it. */
export interface HeldOut {
  readonly train: Interactions;
  readonly test: Interactions;
}

/**
 * Makes a seeded set in which both sides follow power laws and users have tastes, so that a model can learn something.
 * A fifth of the pairs of every `holdEvery`-th user is held out.
 */
export function powerLaw(
  userCount: number,
  itemCount: number,
  pairs: number,
  seed: number,
  holdEvery: number,
): HeldOut {
  const random = createRandom(seed);
  const weightOf = (row: number) => (row + 1) ** -ITEM_EXPONENT;
  const drawAny = drawer(Array.from({ length: itemCount }, (_, row) => weightOf(row)));
  const rowOf = (group: number, place: number) => place * GROUPS + group;
  const drawOf = Array.from({ length: GROUPS }, (_, group) => {
    const size = Math.ceil((itemCount - group) / GROUPS);
    return drawer(Array.from({ length: size }, (_, place) => weightOf(rowOf(group, place))));
  });
  const counts = Array.from({ length: userCount }, () => Math.exp(COUNT_DEVIATION * random.normal()));
  const scale = pairs / counts.reduce((sum, count) => sum + count, 0);
  const train = { userCount, itemCount, userRows: [] as number[], itemRows: [] as number[] };
  const test = { userCount, itemCount, userRows: [] as number[], itemRows: [] as number[] };
  const ownedBy = new Int32Array(itemCount).fill(-1);
  for (let user = 0; user < userCount; user++) {
    const own = Array.from({ length: GROUPS_OF_USER }, () => random.below(GROUPS));
    const wanted = Math.min(Math.max(COUNT_MIN, Math.round(counts[user]! * scale)), itemCount >> 2);
    let found = 0;
    // Popular items come up again and again; a user with a long list may end with fewer than wanted.
    for (let tries = wanted * 4; tries > 0 && found < wanted; tries--) {
      const group = random.float() < OWN_SHARE ? own[random.below(GROUPS_OF_USER)]! : undefined;
      const item = group === undefined ? drawAny(random) : rowOf(group, drawOf[group]!(random));
      if (ownedBy[item] === user) continue;
      ownedBy[item] = user;
      found++;
      const target = user % holdEvery === 0 && found % 5 === 0 ? test : train;
      target.userRows.push(user);
      target.itemRows.push(item);
    }
  }
  return { train: buildInteractions(train), test: buildInteractions(test) };
}
