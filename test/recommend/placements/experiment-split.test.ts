import { expect, it } from 'vitest';
import { ExperimentSplit } from '../../../src/recommend/placements/experiment-split.ts';

const USERS = 40_000;
const VARIANTS = [
  { name: 'a', share: 0.5 },
  { name: 'b', share: 0.3 },
  { name: 'c', share: 0.2 },
];

/** Five standard deviations of a count of users with that chance. */
const slack = (share: number) => 5 * Math.sqrt(USERS * share * (1 - share));

it('splits users by their shares, of those who take part', () => {
  const split = new ExperimentSplit('colors', 0.4, VARIANTS);
  const counts = new Map<string, number>();
  for (let user = 0; user < USERS; user++) {
    const variant = split.variantOf(`user-${user}`);
    counts.set(variant, (counts.get(variant) ?? 0) + 1);
  }
  const expected = { '': 0.6, a: 0.2, b: 0.12, c: 0.08 };
  for (const [name, share] of Object.entries(expected))
    expect(Math.abs(counts.get(name)! - USERS * share)).toBeLessThan(slack(share));
});

it('is the same for the same user everywhere, and another experiment splits otherwise', () => {
  const [one, same, other] = ['x', 'x', 'y'].map((name) => new ExperimentSplit(name, 1, VARIANTS));
  let both = 0;
  for (let user = 0; user < USERS; user++) {
    const variant = one!.variantOf(`${user}`);
    expect(same!.variantOf(`${user}`)).toBe(variant);
    if (variant === 'a' && other!.variantOf(`${user}`) === 'a') both++;
  }
  expect(Math.abs(both - USERS / 4)).toBeLessThan(slack(0.25));
  expect(one!.variantOf('alice')).toBe(new ExperimentSplit('x', 1, VARIANTS).variantOf('alice'));
});
