import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { BlockIntervals, numberBlocks } from '../../src/evaluate/block-intervals.ts';
import { judgeGroup } from '../../src/evaluate/conclusion.ts';
import { measureVariety } from '../../src/evaluate/list-variety.ts';
import { type Answer, SESSIONS, tabulate } from '../../src/evaluate/replay-table.ts';
import { describeReplay, renderReplay, summaryCells } from '../../src/evaluate/replay-text.ts';

const ROLES = new Map([
  ['served lists', 'served'],
  ['most liked, 12 h', 'counter'],
] as const);
const FACTS = {
  catalog: 40,
  roles: ROLES,
  seed: 1,
  questions: 0,
  positives: 400,
  judgeable: 300,
  records: 500,
  fits: 2,
  hours: 72,
};

describe('intervals by blocks', () => {
  const random = createRandom(7);
  const values = Array.from({ length: 400 }, () => random.normal());
  const single = numberBlocks(values.map((_, at) => at));

  it('are those of single questions where each is a block', () => {
    const { mean, halfWidth } = new BlockIntervals([single], 1).of(values);
    expect(Math.abs(mean)).toBeLessThan(0.2);
    expect(halfWidth).toBeGreaterThan(0.08);
    expect(halfWidth).toBeLessThan(0.12);
  });

  it('are wider where questions of one block answer alike, and the wider of two ways counts', () => {
    const blocks = numberBlocks(values.map((_, at) => Math.floor(at / 20)));
    const alike = values.map((_, at) => values[20 * Math.floor(at / 20)]!);
    const wide = new BlockIntervals([blocks], 1).of(alike).halfWidth;
    expect(wide).toBeGreaterThan(2.5 * new BlockIntervals([single], 1).of(alike).halfWidth);
    expect(new BlockIntervals([single, blocks], 1).of(alike).halfWidth).toBeCloseTo(wide, 1);
  });
});

describe('the variety of lists', () => {
  it('counts different items, what two people share, and the places of the most frequent', () => {
    const same = Array.from({ length: 50 }, () => Uint32Array.of(1, 2, 3));
    expect(measureVariety(same, 1)).toEqual({ people: 50, items: 3, shared: 3, topTenShare: 1 });
    const own = Array.from({ length: 50 }, (_, at) => Uint32Array.of(3 * at, 3 * at + 1, 3 * at + 2));
    expect(measureVariety(own, 1)).toEqual({ people: 50, items: 150, shared: 0, topTenShare: 10 / 150 });
  });
});

describe('the table of a replay', () => {
  /** 200 questions of 50 people on ten days; the served list has every second one first. */
  const answers = Array.from(
    { length: 200 },
    (_, at): Answer => ({
      user: at % 50,
      timeMs: Math.floor(at / 20) * 86_400_000,
      groups: [at < 100 ? '1 like' : '20 likes or more'],
      places: new Map([
        ['served lists', at % 2 === 0 ? 0 : -1],
        ['most liked, 12 h', at >= 100 ? 0 : -1],
      ]),
    }),
  );
  const session: Answer = { ...answers[0]!, groups: [SESSIONS] };
  const people = new Map([['served lists', [Uint32Array.of(1, 2), Uint32Array.of(1, 3)]]]);
  const table = tabulate([...answers, session], people, FACTS);

  it('has all questions and each kind in their order, sessions apart', () => {
    expect(table.groups.map(({ name, questions }) => [name, questions])).toEqual([
      ['all questions', 200],
      ['1 like', 100],
      ['20 likes or more', 100],
      ['sessions', 1],
    ]);
    const { rows } = table.groups[0]!;
    expect(rows.map(({ ndcg, hits, hitsBeyondCounter }) => [ndcg.mean, hits, hitsBeyondCounter])).toEqual([
      [0.5, 100, 50],
      [0.5, 100, 0],
    ]);
  });

  it('judges ahead, level and behind by the interval of the difference', () => {
    expect(table.groups.slice(0, 3).map((group) => judgeGroup(group).outcome)).toEqual([
      'level',
      'ahead',
      'behind',
    ]);
    expect(judgeGroup(table.groups[3]!).outcome).toBe('too few');
    expect(table.conclusion).toContain('level with');
    expect(table.conclusion).toContain('behind the best one for: 20 likes or more');
  });

  it('is told with the share that it judges', () => {
    const text = renderReplay(table);
    expect(text).toContain('Of 400 positive records 300 (75 %) can be judged');
    expect(text).toContain('2 people see 3 of 40 items; two people share 1.0 of ten.');
    expect(text).toMatch(/20 likes or more \| +100 \| +0\.500 \| +1\.000 \|/);
  });

  it('is printed as docs/evaluation.md has it', () => {
    const page = readFileSync(new URL('../../docs/evaluation.md', import.meta.url), 'utf8');
    const [, block = ''] = /^```\n(Replay of [\s\S]*?)^```/m.exec(page)!;
    const [first = '', , ...lines] = block.trim().split('\n');
    const plain = (text: string) => text.replaceAll(/\d[\d,]*/g, 'N');
    expect(plain(describeReplay(table))).toContain(plain(first));
    const [head, line, ...rows] = lines.map((each) => each.split('|').map((cell) => cell.trim()));
    expect(head!.slice(1, -1)).toEqual(summaryCells([])[0]);
    expect(line!.every((cell) => /^-*$/.test(cell))).toBe(true);
    const [, all] = summaryCells(table.groups);
    for (const row of rows.filter(([, name]) => name !== '...')) {
      expect(row.slice(1, -1)).toHaveLength(all!.length);
      expect(
        row
          .slice(1, -1)
          .map((cell) => plain(cell).replace(/^[+-]/, ''))
          .slice(1, 6),
      ).toEqual(['N', 'N.N', 'N.N', 'most liked, N h', 'N.N ± N.N']);
      expect(['ahead', 'level', 'behind', 'too few']).toContain(row.at(-2));
    }
  });
});
