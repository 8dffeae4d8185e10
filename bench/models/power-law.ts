import { buildInteractions, type Interactions } from '../../src/dataset/interactions.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';

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

/** Draws numbers in proportion to weights. */
class Sampler {
  readonly #rows: readonly number[];
  readonly #sums: Float64Array;

  constructor(rows: readonly number[], weightOf: (row: number) => number) {
    this.#rows = rows;
    this.#sums = new Float64Array(rows.length);
    let sum = 0;
    rows.forEach((row, at) => {
      sum += weightOf(row);
      this.#sums[at] = sum;
    });
  }

  draw(random: Random): number {
    const goal = random.float() * this.#sums.at(-1)!;
    let low = 0;
    let high = this.#sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sums[middle]! > goal) high = middle;
      else low = middle + 1;
    }
    return this.#rows[low]!;
  }
}

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
  const items = Array.from({ length: itemCount }, (_, row) => row);
  const all = new Sampler(items, weightOf);
  const groups = Array.from(
    { length: GROUPS },
    (_, group) =>
      new Sampler(
        items.filter((row) => row % GROUPS === group),
        weightOf,
      ),
  );
  const counts = Array.from({ length: userCount }, () => Math.exp(COUNT_DEVIATION * random.normal()));
  const scale = pairs / counts.reduce((sum, count) => sum + count, 0);
  const train = { userCount, itemCount, userRows: [] as number[], itemRows: [] as number[] };
  const test = { userCount, itemCount, userRows: [] as number[], itemRows: [] as number[] };
  const ownedBy = new Int32Array(itemCount).fill(-1);
  for (let user = 0; user < userCount; user++) {
    const own = Array.from({ length: GROUPS_OF_USER }, () => groups[random.below(GROUPS)]!);
    const wanted = Math.min(Math.max(COUNT_MIN, Math.round(counts[user]! * scale)), itemCount >> 2);
    let found = 0;
    // Popular items come up again and again; a user with a long list may end with fewer than wanted.
    for (let tries = wanted * 4; tries > 0 && found < wanted; tries--) {
      const sampler = random.float() < OWN_SHARE ? own[random.below(GROUPS_OF_USER)]! : all;
      const item = sampler.draw(random);
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
