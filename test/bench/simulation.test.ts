import { describe, expect, test } from 'vitest';
import {
  copySeconds,
  type Machines,
  postgresBytes,
  redisBytes,
  type Site,
  simulate,
} from '../../bench/cluster/simulation.ts';

const SITE: Site = {
  name: 'a site',
  users: 1e6,
  items: 1e5,
  feedback: 5e7,
  activeShare: 0.2,
  reads: 30_000,
  writes: 500,
  growth: 0.5,
};
const MACHINES: Machines = { servers: 2, serverCores: 2, databases: 1, databaseCores: 8, hasCopies: true };

describe('the simulation of a cluster', () => {
  test('says the same of the same seed, and that more servers bear the loss of one', () => {
    const two = simulate(SITE, MACHINES, 0, 5);
    expect(simulate(SITE, MACHINES, 0, 5)).toEqual(two);
    expect(two.losses).toBeGreaterThan(0);
    expect(two.shortMinutes).toBeGreaterThan(0);
    const four = simulate(SITE, { ...MACHINES, servers: 4 }, 0, 5);
    expect(four.shortMinutes).toBe(0);
    expect(four.serverShare).toBeLessThan(two.serverShare);
  });

  test('has sizes and loads grow with the site, and writes divided among databases', () => {
    const now = simulate(SITE, MACHINES, 0, 5);
    const later = simulate(SITE, MACHINES, 2, 5);
    expect(later.redisBytes / now.redisBytes).toBeCloseTo(2.25);
    expect(later.databaseShare / now.databaseShare).toBeCloseTo(2.25);
    expect(later.firstCopySeconds).toBeGreaterThan(2 * now.firstCopySeconds);
    const divided = simulate(SITE, { ...MACHINES, databases: 4 }, 0, 5);
    expect(now.orderShare / divided.orderShare).toBeCloseTo(4);
  });

  test('agrees with what npm run bench:cluster has measured', () => {
    const points = [
      { is: postgresBytes({ users: 20_000, items: 5000, feedback: 297_000 }), was: 103.4 * 297_000 },
      { is: postgresBytes({ users: 11_900, items: 3954, feedback: 19_977 }), was: 274.7 * 19_977 },
      { is: copySeconds({ users: 50_000, items: 5000, feedback: 995_000 }), was: 0.984 },
      { is: redisBytes(20_000), was: 916 * 20_000 },
    ];
    for (const { is, was } of points) expect(Math.abs(is / was - 1)).toBeLessThan(0.1);
  });
});
