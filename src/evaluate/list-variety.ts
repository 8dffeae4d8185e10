import type { ListVariety } from '../domain/evaluation-schemas.ts';
import { counted, groupDigits } from '../domain/group-digits.ts';
import { createRandom } from '../domain/random.ts';

const PAIRS = 4000;
const TOP_ITEMS = 10;

/** Two people of ten items share so many where nearly everybody gets the same. */
const ALIKE = 7;

/** Measures the lists of people at one moment; pairs are drawn with the seed. */
export function measureVariety(lists: readonly Uint32Array[], seed: number): ListVariety {
  const places = new Map<number, number>();
  let total = 0;
  for (const list of lists) {
    total += list.length;
    for (const item of list) places.set(item, (places.get(item) ?? 0) + 1);
  }
  const most = [...places.values()].sort((a, b) => b - a).slice(0, TOP_ITEMS);
  return {
    people: lists.length,
    items: places.size,
    shared: sharedByTwo(lists, seed),
    topTenShare: most.reduce((sum, count) => sum + count, 0) / Math.max(1, total),
  };
}

/** Says in a sentence how alike lists are. @param catalog items that there are */
export function describeVariety({ people, items, shared }: ListVariety, catalog: number): string {
  const seen = `${counted(people, 'people')} see ${groupDigits(items)} of ${counted(catalog, 'items')}`;
  const alike = `two people share ${shared.toFixed(1)} of ten`;
  return shared >= ALIKE
    ? `Nearly everybody gets the same list: ${seen}, and ${alike}.`
    : `${seen}; ${alike}.`;
}

function sharedByTwo(lists: readonly Uint32Array[], seed: number): number {
  if (lists.length < 2) return 0;
  const random = createRandom(seed);
  let shared = 0;
  for (let pair = 0; pair < PAIRS; pair++) {
    const one = random.below(lists.length);
    const other = (one + 1 + random.below(lists.length - 1)) % lists.length;
    const items = new Set(lists[one]);
    for (const item of lists[other]!) if (items.has(item)) shared++;
  }
  return shared / PAIRS;
}
