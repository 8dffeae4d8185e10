/**
 * Sets of other shapes than the public ones in `data/`, to see that the default lists never lose to one recommender
 * alone: `npx tsx bench/quality/worlds.ts DIR [SEED]` writes for `quality:sets`
 * - `film` (popularity that moves, users who come in bursts) and `news` (items that live for two days),
 * - `tiny` (300 users), and four small ones that popularity rules (`static`, `recent`, `seldom`, `herd`),
 * - two in which nearly all users come once, for an hour (`bursts`, `tastes`),
 * - six for replays: stories that break (`breaking`), people who turn to such stories (`overnight`) or come for the first time
 *   (`newcomers`), purchases that repeat (`repeats`), seasons (`seasons`), and two tastes with hits of their own (`two-tastes`),
 * - `titled` (articles that live for three days, with titles of words that their topics share),
 * - `catalogue` (650,000 likes; users go from a film to one like it);
 * and without times, for `--format lightgcn`, `sparse` (many places, each in one town), `places` (the same, large),
 * `articles` (small groups who read the same) and `few` (most items have two or three likes). All seeded. Their figures
 * compare with nothing published, and nothing was tuned on any one of them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { parseNumber } from '../../src/cli/common/options.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { firstAbove } from '../../src/memory/binary-search.ts';

/** Words that a topic has for itself, and that all have in common; and how many of each a title has. */
const TOPIC_WORDS = 40;
const COMMON_WORDS = 300;
const TITLE_WORDS = 3;

const DAY = 86_400;
const START = 1_500_000_000;

interface World {
  readonly users: number;
  readonly items: number;
  readonly days: number;
  /** Tastes of users and kinds of items. */
  readonly tastes: number;
  /** Mean number of visits of a user, which need not be whole, and of records in one. */
  readonly visits: number;
  readonly perVisit: number;
  /** Share of what users take for being talked about rather than by taste. */
  readonly herd: number;
  /** Days after which an item is half as interesting; 1e9 for never. */
  readonly halfLife: number;
  /** Share of records that go to the story of the day, another one every `STORY_DAYS`; none when absent. */
  readonly stories?: number;
  /** Share of the days that are over when the first story breaks. */
  readonly storiesFrom?: number;
  /** Share of records that are an item of the user's own again; none when absent. */
  readonly repeats?: number;
  /** Days from one season of a kind of items to the next; no seasons when absent. */
  readonly year?: number;
}

/** Days after which another story breaks. */
const STORY_DAYS = 0.5;
/** Factor by which a kind of items is liked more at the height of its season. */
const SEASON = 12;

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
  // Small, and ruled by popularity: what never changes, what lives for days, users who seldom come, no taste at all.
  static: { users: 300, items: 150, days: 120, tastes: 4, visits: 4, perVisit: 3, herd: 0.85, halfLife: 1e9 },
  recent: { users: 300, items: 400, days: 120, tastes: 4, visits: 4, perVisit: 3, herd: 0.8, halfLife: 5 },
  seldom: { users: 900, items: 300, days: 120, tastes: 6, visits: 2, perVisit: 1, herd: 0.6, halfLife: 30 },
  herd: { users: 250, items: 200, days: 120, tastes: 4, visits: 3, perVisit: 4, herd: 1, halfLife: 20 },
  // Nearly everybody comes once, takes many in an hour, and never returns.
  bursts: {
    users: 900,
    items: 1600,
    days: 210,
    tastes: 8,
    visits: 1.05,
    perVisit: 60,
    herd: 0.5,
    halfLife: 60,
  },
  // The same by taste alone: what is talked about says little.
  tastes: {
    users: 1200,
    items: 1200,
    days: 300,
    tastes: 30,
    visits: 1.1,
    perVisit: 40,
    herd: 0.1,
    halfLife: 1e9,
  },
  breaking: {
    ...{ users: 1500, items: 1200, days: 40, tastes: 8, visits: 6, perVisit: 2, herd: 0.3, halfLife: 1 },
    stories: 0.3,
  },
  // Shortly before the end all turn to the news.
  overnight: {
    ...{ users: 1500, items: 1200, days: 40, tastes: 8, visits: 6, perVisit: 2, herd: 0.3, halfLife: 10 },
    ...{ stories: 0.6, storiesFrom: 0.92 },
  },
  newcomers: {
    users: 4000,
    items: 500,
    days: 90,
    tastes: 8,
    visits: 1,
    perVisit: 4,
    herd: 0.3,
    halfLife: 20,
  },
  repeats: {
    ...{ users: 500, items: 400, days: 120, tastes: 6, visits: 8, perVisit: 4, herd: 0.3, halfLife: 60 },
    repeats: 0.4,
  },
  seasons: {
    ...{ users: 1500, items: 600, days: 180, tastes: 6, visits: 5, perVisit: 2, herd: 0.3, halfLife: 1e9 },
    year: 60,
  },
  'two-tastes': {
    ...{ users: 1500, items: 900, days: 60, tastes: 2, visits: 4, perVisit: 3, herd: 0.05, halfLife: 3 },
  },
  titled: {
    ...{ users: 1500, items: 2500, days: 60, tastes: 40, visits: 8, perVisit: 2, herd: 0.15, halfLife: 3 },
  },
};

/** A line `item,time,title` for each item, with words of its kind and of all. */
function titled(kinds: Uint32Array, born: Float64Array, random: Random): string[] {
  const wordOf = (name: string, count: number) => `${name}${Math.floor(count * random.float() ** 2)}`;
  return Array.from(kinds, (kind, item) => {
    const words = Array.from({ length: TITLE_WORDS }, () => [
      wordOf(`topic${kind}word`, TOPIC_WORDS),
      wordOf('word', COMMON_WORDS),
    ]);
    return `${item},${Math.round(START + born[item]! * DAY)},${words.flat().join(' ')}`;
  });
}

/** Records `user,item,time` in no order, with the kind of each item and the day when it came. */
function records(world: World, random: Random) {
  const { users, items, days, tastes, visits, perVisit, herd, halfLife } = world;
  const { stories = 0, storiesFrom = 0, repeats = 0, year } = world;
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
        const season = year === undefined ? 1 : inSeason(day / year - kind[item]! / tastes);
        sum += chances[item] = appeal[item]! * (fresh + 0.002) * (herd + own) * season;
      }
      const wanted = 1 + random.below(2 * perVisit - 1);
      for (let at = 0; at < wanted; at++) {
        const second = Math.round(START + day * DAY + at * 20);
        if (repeats > 0 && taken.size > 0 && random.float() < repeats) {
          lines.push(`${user},${[...taken][random.below(taken.size)]},${second}`);
          continue;
        }
        const isStory = stories > 0 && day >= storiesFrom * days && random.float() < stories;
        let left = random.float() * sum;
        const item = isStory ? storyOf(day, items) : chances.findIndex((chance) => (left -= chance) < 0);
        if (item < 0 || taken.has(item)) continue;
        taken.add(item);
        lines.push(`${user},${item},${second}`);
      }
    }
  }
  return { lines, kind, born };
}

/** Weight of a kind of items by its season. @param turn years since the height of its season */
function inSeason(turn: number): number {
  return 1 + SEASON * Math.max(0, Math.cos(2 * Math.PI * turn)) ** 4;
}

/** The story of the day, behind all other items. */
function storyOf(day: number, items: number): number {
  return items + Math.floor(day / STORY_DAYS);
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

interface Walks {
  readonly users: number;
  readonly items: number;
  readonly days: number;
  /** Mean number of visits of a user, and of records in one. */
  readonly visits: number;
  readonly perVisit: number;
  /** Share of steps that go on to one of the few items most like the last one. */
  readonly onwards: number;
}

/** Items lie in a space of tastes; in a visit users go from item to item, or to something well-known near their taste. */
function walks({ users, items, days, visits, perVisit, onwards }: Walks, random: Random): string[] {
  const dimensions = 6;
  const places = Float64Array.from({ length: items * dimensions }, () => random.normal());
  const appeal = Float64Array.from({ length: items }, () => random.float() ** -0.6);
  const born = Float64Array.from({ length: items }, () => (random.float() * 3 - 2) * days);
  const alike = (item: number, other: number) => {
    let sum = 0;
    for (let at = 0; at < dimensions; at++)
      sum += (places[item * dimensions + at]! - places[other * dimensions + at]!) ** 2;
    return sum;
  };
  const next = Array.from({ length: items }, (_, item) =>
    Array.from({ length: items }, (_, other) => other)
      .filter((other) => other !== item)
      .map((other) => [alike(item, other) - 0.3 * Math.log(appeal[other]!), other] as const)
      .sort(([a], [b]) => a - b)
      .slice(0, 12)
      .map(([, other]) => other),
  );
  const lines: string[] = [];
  for (let user = 0; user < users; user++) {
    const home = random.below(items);
    const sums = new Float64Array(items);
    const taken = new Set<number>();
    for (let visit = 1 + random.below(2 * visits - 1); visit > 0; visit--) {
      const day = random.float() * days;
      let sum = 0;
      for (let item = 0; item < items; item++) {
        const age = (day - born[item]!) / days;
        if (age >= 0) sum += appeal[item]! * Math.exp(-alike(home, item) / 8) * (0.3 + 2 ** (-age * 4));
        sums[item] = sum;
      }
      let last = home;
      const wanted = 1 + random.below(2 * perVisit - 1);
      for (let at = 0; at < wanted; at++) {
        const goesOn = random.float() < onwards;
        const item = goesOn ? next[last]![random.below(12)]! : firstAbove(sums, random.float() * sum);
        if (born[item]! > day || taken.has(item)) continue;
        taken.add(item);
        last = item;
        lines.push(`${user},${item},${Math.round(START + day * DAY + at * 20)}`);
      }
    }
  }
  return lines;
}

/** Each user's articles: those of a few small groups, of which each user belongs to some, and of neighbors in a field. */
function articles(users: number, items: number, groups: number, mean: number, random: Random): number[][] {
  const starts = Array.from({ length: groups }, () => random.below(items));
  const sizes = Array.from({ length: groups }, () => 5 + Math.floor(25 * random.float() ** 2));
  return Array.from({ length: users }, () => {
    const field = random.below(groups);
    const mine = Array.from({ length: 2 + random.below(5) }, () => (field + random.below(12)) % groups);
    const wanted = 5 + Math.floor(-(mean - 5) * Math.log(1 - random.float()));
    const taken = new Set<number>();
    for (let at = 0; at < wanted * 2 && taken.size < wanted; at++) {
      const group = random.float() < 0.75 ? mine[random.below(mine.length)]! : random.below(groups);
      taken.add((starts[group]! + random.below(sizes[group]!)) % items);
    }
    return [...taken];
  });
}

/** Writes users' items in the form of `--format lightgcn`, a fifth of them as the test. */
function writeSplit(folder: string, users: readonly number[][], random: Random): void {
  mkdirSync(folder, { recursive: true });
  const isTest = users.map((items) => items.map(() => random.float() < 0.2));
  const text = (test: boolean) =>
    users
      .map((items, user) => [user, ...items.filter((_, at) => isTest[user]![at] === test)].join(' '))
      .join('\n');
  writeFileSync(join(folder, 'train.txt'), `${text(false)}\n`);
  writeFileSync(join(folder, 'test.txt'), `${text(true)}\n`);
}

function main(folder: string, seed: number): void {
  const write = (name: string, lines: readonly string[]) => {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'likes.csv'), `user,item,time\n${lines.join('\n')}\n`);
  };
  for (const [name, world] of Object.entries(WORLDS)) {
    const { lines, kind, born } = records(world, createRandom(seed));
    write(name, lines);
    if (name !== 'titled') continue;
    const titles = titled(kind, born, createRandom(seed + 5));
    writeFileSync(join(folder, name, 'items.csv'), `item,time,title\n${titles.join('\n')}\n`);
  }
  const random = createRandom(seed + 4);
  writeSplit(join(folder, 'sparse'), sparse(8000, 16_000, 160, 30, random), random);
  write(
    'catalogue',
    walks({ users: 6000, items: 3600, days: 900, visits: 2, perVisit: 60, onwards: 0.45 }, random),
  );
  writeSplit(join(folder, 'places'), sparse(30_000, 41_000, 410, 34, random), random);
  writeSplit(join(folder, 'articles'), articles(5500, 17_000, 900, 37, random), random);
  writeSplit(join(folder, 'few'), sparse(2500, 20_000, 60, 26, random), random);
}

new Command('worlds')
  .argument('<folder>', 'where each set gets a folder of its own')
  .argument('[seed]', 'of all sets', parseNumber, 7)
  .action(main)
  .parse();
