import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { ArmSums } from '../../../src/shown/statistics/arm-sums.ts';
import {
  compareArms,
  isSplitWrong,
  unitHalfWidth,
  usersToSee,
} from '../../../src/shown/statistics/compare-arms.ts';

const RULES = { alpha: 0.05, planUsers: 10_000 };

function armOf(rows: readonly (readonly [outcome: number, past: number])[]): ArmSums {
  const arm = new ArmSums();
  for (const [outcome, past] of rows) arm.add(outcome, past);
  return arm;
}

describe('two variants', () => {
  it('differ by their means where nothing is known of the past, with the deviation of two means', () => {
    const a = armOf(Array.from({ length: 300 }, (_, at) => [at % 3, 0]));
    const b = armOf(Array.from({ length: 200 }, (_, at) => [at % 5, 0]));
    const { difference, deviation, users } = compareArms(a, b, RULES);
    expect([users, difference]).toEqual([500, 1]);
    // Variances of the outcomes, without bias by two degrees of freedom; that of the first is below that of both.
    const [own, other] = [(2 / 3) * (300 / 298), 2 * (200 / 198)];
    const common = (300 * own + 200 * other) / 500;
    const standardError = Math.sqrt(common / 300 + other / 200);
    expect(deviation / Math.sqrt(users)).toBeCloseTo(standardError, 12);
  });

  it('are compared as if both had the same past, by one line', () => {
    // Outcomes are exact lines: 1 + 2x and 2 + 3x; means of the past 1.5 and 2.5, of all 2.
    const a = armOf(Array.from({ length: 400 }, (_, at) => [1 + 2 * (at % 4), at % 4]));
    const b = armOf(Array.from({ length: 400 }, (_, at) => [2 + 3 * (1 + (at % 4)), 1 + (at % 4)]));
    const { difference, deviation } = compareArms(a, b, RULES);
    expect(difference).toBeCloseTo(8 - 5, 10);
    // What is left is half a unit of the outcome for each of the past, whose variance is 1.25.
    expect(deviation).toBeCloseTo(Math.sqrt(4 * (400 / 398) * 0.25 * 1.25), 6);
  });

  it('are not called different because a small one lacks the few heavy users', () => {
    const light = Array.from({ length: 2000 }, (_, at) => [at % 2, 1] as const);
    const heavy = Array.from({ length: 20 }, () => [300, 1] as const);
    const { difference, halfWidth } = compareArms(
      armOf([...light, ...heavy]),
      armOf(light.slice(0, 200)),
      RULES,
    );
    expect(difference).toBeLessThan(-2);
    expect(halfWidth).toBeGreaterThan(-difference);
  });

  it('are known better by what tells of people, and the truth stays within', () => {
    const random = createRandom(5);
    const arms = [new ArmSums(), new ArmSums()];
    const blind = [new ArmSums(), new ArmSums()];
    for (let user = 0; user < 20_000; user++) {
      const taste = random.normal();
      const at = user % 2;
      const outcome = taste + 0.3 * random.normal() + 0.1 * at;
      arms[at]!.add(outcome, taste);
      blind[at]!.add(outcome, 0);
    }
    const seen = compareArms(arms[0]!, arms[1]!, RULES);
    const unseen = compareArms(blind[0]!, blind[1]!, RULES);
    expect(seen.halfWidth).toBeLessThan(0.35 * unseen.halfWidth);
    for (const { difference, halfWidth } of [seen, unseen])
      expect(Math.abs(difference - 0.1)).toBeLessThan(halfWidth);
    expect(seen.difference).toBeGreaterThan(seen.halfWidth);
  });

  it('say nothing with few users or hardly any result', () => {
    const rows = (users: number, results: number) =>
      armOf(Array.from({ length: users }, (_, at) => [Number(at < results), 0]));
    expect(compareArms(rows(99, 50), rows(5000, 50), RULES).halfWidth).toBe(Infinity);
    expect(compareArms(rows(5000, 29), rows(5000, 30), RULES).halfWidth).toBe(Infinity);
    // Of 300 users a share as that of both would be 29.
    expect(compareArms(rows(300, 90), rows(5000, 422), RULES).halfWidth).toBe(Infinity);
    expect(compareArms(rows(5000, 30), rows(5000, 30), RULES).halfWidth).toBeLessThan(1);
  });

  it('are told of where one has no result at all', () => {
    const rows = (users: number, results: number) =>
      armOf(Array.from({ length: users }, (_, at) => [Number(at < results), 0]));
    const { difference, halfWidth } = compareArms(rows(5000, 500), rows(5000, 0), RULES);
    expect(difference).toBeCloseTo(-0.1, 12);
    expect(halfWidth).toBeLessThan(0.05);
    expect(compareArms(new ArmSums(), new ArmSums(), RULES)).toMatchObject({ users: 0, difference: 0 });
  });
});

describe('the confidence sequence', () => {
  it('has the width of theorem 2.2, tightest where it is planned for', () => {
    // By hand: -2 ln 0.05 = 5.991, so 10,000 squares of the parameter are 5.991 + ln 5.991 + 1 = 8.782.
    const scaled = 8.7817;
    const expected = Math.sqrt(
      ((2 * (scaled + 1)) / (10_000 * scaled)) * Math.log(Math.sqrt(scaled + 1) / 0.05),
    );
    expect(unitHalfWidth(10_000, RULES)).toBeCloseTo(expected, 5);
    const planned = (planUsers: number) => unitHalfWidth(10_000, { ...RULES, planUsers });
    for (const other of [1000, 3000, 30_000, 100_000]) expect(planned(10_000)).toBeLessThan(planned(other));
  });

  it('is wider than an interval for one look, and narrows', () => {
    for (const users of [100, 1000, 1e4, 1e6]) {
      expect(unitHalfWidth(users, RULES)).toBeGreaterThan(1.96 / Math.sqrt(users));
      expect(unitHalfWidth(2 * users, RULES)).toBeLessThan(unitHalfWidth(users, RULES));
    }
  });

  it('tells how many users a difference takes', () => {
    const users = usersToSee(0.05, 1, RULES);
    const isSeen = (count: number) => unitHalfWidth(count, RULES) + 0.8416 / Math.sqrt(count) <= 0.05;
    expect([isSeen(users), isSeen(users - 1)]).toEqual([true, false]);
    expect(usersToSee(-0.05, 1, RULES)).toBe(users);
    expect(usersToSee(0, 1, RULES)).toBe(Infinity);
  });
});

describe('the split', () => {
  it('is wrong where one side lacks users, and not by chance', () => {
    expect(isSplitWrong([5300, 4700], [0.5, 0.5])).toBe(true);
    expect(isSplitWrong([5050, 4950], [0.5, 0.5])).toBe(false);
    expect(isSplitWrong([6000, 2000, 2000], [0.6, 0.2, 0.2])).toBe(false);
    expect(isSplitWrong([6000, 2400, 1600], [0.6, 0.2, 0.2])).toBe(true);
    expect(isSplitWrong([20, 0], [0.5, 0.5])).toBe(false);
  });
});
