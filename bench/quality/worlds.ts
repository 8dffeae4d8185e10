/**
 * Sets of other shapes than the public ones in `data/`, to see that the default lists never lose to one recommender
 * alone: `npx tsx bench/quality/worlds.ts DIR` writes `film` (popularity that moves, users who come in bursts), `news`
 * (items that live for two days), `tiny` (300 users) and `sparse` (many places, each in one town; for `--format
 * lightgcn`). All seeded. Their figures compare with nothing published, and nothing was tuned on any one of them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, type Random } from '../../src/domain/random.ts';

const DAY = 86_400;
const START = 1_500_000_000;

interface World {
  readonly users: number;
  readonly items: number;
  readonly days: number;
  /** Tastes of users and kinds of items. */
  readonly tastes: number;
  /** Mean number of visits of a user, and of records in one. */
  readonly visits: number;
  readonly perVisit: number;
  /** Share of what users take for being talked about rather than by taste. */
  readonly herd: number;
  /** Days after which an item is half as interesting; Infinity for never. */
  readonly halfLife: number;
}

const WORLDS: Readonly<Record<string, World>> = {
  film: {
    users: 2500,
    items: 2000,
    days: 300,
    tastes: 12,
    visits: 2,
    perVisit: 15,
    herd: 0.5,
    halfLife: 40,
  },
  news: {
    users: 3000,
    items: 4000,
    days: 60,
    tastes: 10,
    visits: 8,
    perVisit: 3,
    herd: 0.5,
    halfLife: 1,
  },
  tiny: { users: 300, items: 150, days: 120, tastes: 4, visits: 4, perVisit: 3, herd: 0.3, halfLife: 60 },
};

/** Records `user,item,time` in no order. */
function records(world: World, random: Random): string[] {
  const { users, items, days, tastes, visits, perVisit, herd, halfLife } = world;
  const appeal = Float64Array.from({ length: items }, () => random.float() ** -0.7);
  const born = Float64Array.from({ length: items }, () => (random.float() * 1.3 - 0.3) * days);
  const kind = Uint32Array.from({ length: items }, () => random.below(tastes));
  const lines: string[] = [];
  for (let user = 0; user < users; user++) {
    const likes = [random.below(tastes), random.below(tastes)];
    const taken = new Set<number>();
    const count = 1 + random.below(2 * visits - 1);
    for (let visit = 0; visit < count; visit++) {
      const day = random.float() * days;
      const chances = new Float64Array(items);
      let sum = 0;
      for (let item = 0; item < items; item++) {
        const age = day - born[item]!;
        if (age < 0) continue;
        const fresh = 2 ** (-age / halfLife);
        const own = likes.includes(kind[item]!) ? (1 - herd) * tastes : 0;
        sum += chances[item] = appeal[item]! * (fresh + 0.002) * (herd + own);
      }
      const wanted = 1 + random.below(2 * perVisit - 1);
      for (let at = 0; at < wanted; at++) {
        let left = random.float() * sum;
        const item = chances.findIndex((chance) => (left -= chance) < 0);
        if (item < 0 || taken.has(item)) continue;
        taken.add(item);
        lines.push(`${user},${item},${Math.round(START + day * DAY + at * 20)}`);
      }
    }
  }
  return lines;
}

/** Each user's places by row: a few towns of Zipf-like places, and some of the whole country. */
function sparse(users: number, items: number, towns: number, mean: number, random: Random): number[][] {
  const size = items / towns;
  return Array.from({ length: users }, () => {
    const home = random.below(towns);
    const second = random.below(towns);
    const corner = random.float();
    const wanted = 10 + Math.floor(-(mean - 10) * Math.log(1 - random.float()));
    const taken = new Set<number>();
    for (let at = 0; at < wanted * 2 && taken.size < wanted; at++) {
      const draw = random.float();
      const town = draw < 0.65 ? home : draw < 0.9 ? second : random.below(towns);
      // Half are near the user's corner of the town, half are what the town goes to.
      const place = random.float() < 0.5 ? (corner + 0.1 * random.normal() + 1) % 1 : random.float() ** 3;
      taken.add(Math.floor(town * size + place * size) % items);
    }
    return [...taken];
  });
}

function main(folder: string): void {
  for (const [name, world] of Object.entries(WORLDS)) {
    mkdirSync(join(folder, name), { recursive: true });
    const lines = records(world, createRandom(7));
    writeFileSync(join(folder, name, 'likes.csv'), `user,item,time\n${lines.join('\n')}\n`);
  }
  const random = createRandom(11);
  const users = sparse(8000, 16_000, 160, 30, random);
  mkdirSync(join(folder, 'sparse'), { recursive: true });
  const isTest = users.map((items) => items.map(() => random.float() < 0.2));
  const text = (test: boolean) =>
    users
      .map((items, user) => [user, ...items.filter((_, at) => isTest[user]![at] === test)].join(' '))
      .join('\n');
  writeFileSync(join(folder, 'sparse', 'train.txt'), `${text(false)}\n`);
  writeFileSync(join(folder, 'sparse', 'test.txt'), `${text(true)}\n`);
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('which folder?');
main(folder);
