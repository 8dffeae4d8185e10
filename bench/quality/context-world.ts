/**
 * Made-up usage of apps in the shape of Frappe (Baltrunas et al. 2015; as split by He and Chua 2017): 957 users, 4,082
 * apps, 8 fields of context, 5,382 features in all; 96,203 positives with two negatives each, 288,609 rows. Behind it
 * stand latent factors: a user keeps a set of apps chosen by popularity and taste, and takes one of them up by habit and
 * by the hour. A negative is an app that the user does not have, in the same context. It is for choosing defaults that
 * suit such data; its figures compare with nothing else.
 *
 * `npx tsx bench/quality/context-world.ts DIR` writes `train.libfm`, `validation.libfm` and `test.libfm` (70/20/10).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { drawer } from '../draw.ts';

/** Values of each field: users, apps, daytime, weekday, weekend, home or work, cost, weather, country, city. */
const FIELDS = [957, 4082, 7, 7, 2, 3, 2, 9, 80, 233] as const;
const TASTES = 8;

export interface ContextShape {
  readonly positives: number;
  readonly users: number;
  readonly apps: number;
}

const FRAPPE: ContextShape = { positives: 96_203, users: FIELDS[0], apps: FIELDS[1] };

/** Lines in the libfm form, in random order. */
export function contextLines(seed: number, shape: ContextShape = FRAPPE): string[] {
  const random = createRandom(seed);
  const { users, apps } = shape;
  const fields = [users, apps, ...FIELDS.slice(2)];
  const firsts = fields.map((_, field) => fields.slice(0, field).reduce((sum, size) => sum + size, 0));
  const vectors = (count: number, deviation: number) =>
    Array.from({ length: count }, () => Array.from({ length: TASTES }, () => deviation * random.normal()));
  const appTastes = vectors(apps, 1);
  const hours = vectors(FIELDS[2], 0.5);
  const popularity = Array.from({ length: apps }, (_, app) => -0.9 * Math.log(app + 3));
  const people = vectors(users, 0.6).map((taste) => person(taste));
  const activity = weigher(people.map(() => random.normal() * 1.1));
  const lines: string[] = [];
  for (let made = 0; made < shape.positives; made++) {
    const user = activity(random);
    const { set, own, country, city } = people[user]!;
    const daytime = random.below(FIELDS[2]);
    const weekday = random.below(FIELDS[3]);
    const timely = weigher(
      set.map((app, place) => -0.7 * Math.log(place + 1) + dot(hours[daytime]!, appTastes[app]!)),
    );
    const context = [
      daytime,
      weekday,
      weekday >= 5 ? 1 : 0,
      random.float() < 0.7 ? 0 : 1 + random.below(2),
      random.float() < 0.9 ? 0 : 1,
      random.below(FIELDS[7]),
      country,
      city,
    ];
    const line = (app: number, label: number) =>
      [label, ...[user, app, ...context].map((value, field) => `${firsts[field]! + value}:1`)].join(' ');
    lines.push(line(set[timely(random)]!, 1));
    for (let left = 2; left > 0; ) {
      const app = random.below(apps);
      if (own.has(app)) continue;
      lines.push(line(app, -1));
      left--;
    }
  }
  return shuffled(lines, random);

  function person(taste: readonly number[]) {
    const draw = weigher(appTastes.map((of, app) => popularity[app]! + dot(taste, of)));
    const own = new Set<number>();
    const size = Math.min(apps >> 2, Math.round(Math.exp(2.7 + 0.8 * random.normal())) + 1);
    while (own.size < size) own.add(draw(random));
    const country = Math.floor(FIELDS[8] * random.float() ** 3);
    return { set: [...own], own, country, city: Math.floor(FIELDS[9] * random.float() ** 3) };
  }
}

/** Draws places by the exponentials of their logarithmic weights. */
function weigher(logWeights: readonly number[]): (random: Random) => number {
  return drawer(logWeights.map(Math.exp));
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}

function shuffled(lines: string[], random: Random): string[] {
  for (let at = lines.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [lines[at], lines[other]] = [lines[other]!, lines[at]!];
  }
  return lines;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('which folder shall the files go to?');
  mkdirSync(folder, { recursive: true });
  const lines = contextLines(1);
  const [train, validation] = [Math.round(lines.length * 0.7), Math.round(lines.length * 0.9)];
  writeFileSync(join(folder, 'train.libfm'), `${lines.slice(0, train).join('\n')}\n`);
  writeFileSync(join(folder, 'validation.libfm'), `${lines.slice(train, validation).join('\n')}\n`);
  writeFileSync(join(folder, 'test.libfm'), `${lines.slice(validation).join('\n')}\n`);
}
