import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSet, type RankingSet } from '../../bench/quality/load.ts';
import { rowIndices } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';

const OPTIONS = { positive: undefined, split: 'temporal', share: 0.2 } as const;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'furze-sets-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Users with 3 to 9 items each, in an order of time. */
const random = createRandom(5);
const histories = Array.from({ length: 30 }, () => {
  const items = new Set(Array.from({ length: 3 + random.below(7) }, () => random.below(40)));
  return [...items];
});

function write(name: string, lines: readonly string[]): void {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
}

function load(format: 'ncf' | 'lightgcn', name = ''): RankingSet {
  const set = loadSet(format, join(folder, name), OPTIONS);
  if (set.kind !== 'ranking') throw new Error('not a set for ranking');
  return set;
}

describe('a folder with NCF files', () => {
  const negatives = (user: number) => Array.from({ length: 99 }, (_, at) => (at + user) % 40);

  beforeAll(() => {
    const line = (user: number, item: number, at: number) =>
      `${user}\t${item}\t${(at % 5) + 1}\t97830${1000 + at}`;
    for (const set of ['ml-1m', 'pinterest-20']) {
      const kept = set === 'ml-1m' ? histories : histories.slice(0, 10);
      write(
        `${set}.train.rating`,
        kept.flatMap((items, user) => items.slice(0, -1).map((item, at) => line(user, item, at))),
      );
      write(
        `${set}.test.rating`,
        kept.map((items, user) => line(user, items.at(-1)!, 99)),
      );
      write(
        `${set}.test.negative`,
        kept.map((items, user) => `(${user},${items.at(-1)})\t${negatives(user).join('\t')}`),
      );
    }
  });

  it('is read set by set, by the beginning of the names', () => {
    const { train, cases } = load('ncf', 'ml-1m');
    expect(train.count).toBe(histories.reduce((sum, items) => sum + items.length - 1, 0));
    expect(cases.map(({ userRow, itemRow }) => [userRow, itemRow])).toEqual(
      histories.map((items, user) => [user, items.at(-1)]),
    );
    for (const { negativeRows, userRow } of cases) expect([...negativeRows]).toEqual(negatives(userRow));
    expect(load('ncf', 'pinterest-20').cases).toHaveLength(10);
  });

  it('is refused when it does not say which set is meant', () => {
    expect(() => load('ncf')).toThrow(
      /one file that ends in .* there are ml-1m.train.rating, pinterest-20.train.rating/,
    );
  });

  it('validates on the last training record of each user, and never on the test', () => {
    const { validation } = load('ncf', 'ml-1m');
    histories.forEach((items, user) => {
      const known = items.slice(0, -1);
      const last = known.length > 1 ? known.slice(-1) : [];
      expect([...rowIndices(validation.test, user)]).toEqual(last);
    });
  });
});

describe('a folder with LightGCN files', () => {
  it('is read, with users that have nothing to test, trailing blanks and lines as on Windows', () => {
    write(
      'train.txt',
      histories.map((items, user) => `${[user, ...items.slice(0, -1)].join(' ')} \r`),
    );
    write(
      'test.txt',
      histories.map((items, user) => (user % 3 === 0 ? `${user} ` : `${user} ${items.at(-1)}`)),
    );
    const { train, test, cases } = load('lightgcn');
    expect(cases).toEqual([]);
    histories.forEach((items, user) => {
      expect([...rowIndices(train.byUser, user)]).toEqual(items.slice(0, -1).sort((a, b) => a - b));
      expect([...rowIndices(test, user)]).toEqual(user % 3 === 0 ? [] : items.slice(-1));
    });
    expect(train.userCount).toBe(histories.length);
    expect(train.itemCount).toBe(1 + Math.max(...histories.flat()));
  });
});
