import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { editionOf } from '../../src/recommend/placements/experiment-split.ts';
import type { GivenFeedback, Outcome, SeenList } from '../../src/shown/attribution.ts';
import { ExperimentSums } from '../../src/shown/experiment-sums.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 10);
const NOW_MS = START_MS + 72 * HOUR_MS;

function settingsOf(more = '') {
  const { experiment } = parseConfig(`
    [placement.home]
    [experiment.x]
    placement = "home"
    start = "2026-01-10T00:00:00Z"
    measure = "like"
    variants = [{ name = "now", share = 0.5 }, { name = "few", share = 0.5, override = { max_per_label = 1 } }]
    ${more}`);
  return experiment.x!;
}

const edition = editionOf('x', settingsOf());

function sumsOf(more = '', nowMs = NOW_MS): ExperimentSums {
  return new ExperimentSums('x', settingsOf(more), nowMs);
}

function list(
  variant: string,
  hours: number,
  outcomes: readonly Outcome[] = [],
  placement = 'home',
): SeenList {
  const timeMs = START_MS + hours * HOUR_MS;
  return { placement, variant, edition, timeMs, shownMs: timeMs, seen: new Map(), outcomes: [...outcomes] };
}

function given(hours: number, type = 'like'): Outcome {
  return { itemRow: 1, type, kind: type, timeMs: START_MS + hours * HOUR_MS, isNamed: false };
}

/** So many users of each variant, a share of whom like something. */
function fill(sums: ExperimentSums, users: number, shares: Readonly<Record<string, number>>): void {
  for (const [variant, share] of Object.entries(shares))
    for (let user = 0; user < users; user++) {
      const came = user < users * share ? [given(2)] : [];
      sums.add([list(variant, 1, came)], came, new Map());
    }
}

describe('what counts of a user', () => {
  const counted = (lists: SeenList[], feedback: GivenFeedback[] = [], more = '') => {
    const sums = sumsOf(more);
    const values = new Map(lists.flatMap(({ outcomes }) => outcomes.map((each) => [each, 2.5] as const)));
    sums.add(lists, feedback, values);
    const { Variants, Mixed } = sums.outcome;
    return { few: Variants[1], Mixed };
  };

  it('is feedback of the measure within the horizon of the first list, once the horizon is over', () => {
    const outcomes = [given(2), given(24.9), given(25.1), given(3, 'share')];
    const lists = [list('few', 1, outcomes.slice(0, 3)), list('few', 2, outcomes.slice(3))];
    expect(counted(lists).few).toMatchObject({ Seen: 1, Users: 1, Responders: 1, Mean: 1 });
    expect(counted(lists, [], 'counts = "feedback"').few?.Mean).toBe(2);
    expect(counted(lists, [], 'counts = "value"').few?.Mean).toBe(5);
    expect(counted(lists, [], 'horizon_hours = 72').few).toMatchObject({ Seen: 1, Users: 0 });
  });

  it('is no past of a user where the list was told to be seen after what came of it', () => {
    const sums = sumsOf();
    for (const [variant, likes] of [
      ['now', 20],
      ['few', 30],
    ] as const)
      for (let user = 0; user < 1000; user++) {
        const came = user % 100 < likes ? [given(1.5)] : [];
        sums.add([{ ...list(variant, 1, came), shownMs: START_MS + 2 * HOUR_MS }], came, new Map());
      }
    expect(sums.outcome.Variants[1]!.Difference).toBeCloseTo(0.1, 6);
  });

  it('is nothing of other placements, of lists before the start, or of who took no part', () => {
    expect(counted([list('few', -1), list('few', 1, [], 'side'), list('', 2)]).few?.Seen).toBe(0);
  });

  it('is nothing of another experiment, though its variants have the same names', () => {
    const former = editionOf('x', { ...settingsOf(), variants: [] });
    expect(counted([{ ...list('few', 1), edition: former }]).few?.Seen).toBe(0);
    expect(counted([{ ...list('few', 1), edition: undefined }]).few?.Seen).toBe(0);
    expect(editionOf('x', settingsOf('traffic = 0.5\nhorizon_hours = 1'))).toBe(edition);
  });

  it('is nothing of users who saw several variants', () => {
    expect(counted([list('few', 1), list('now', 2)])).toMatchObject({ few: { Seen: 0 }, Mixed: 1 });
  });
});

describe('the sentence', () => {
  it('says that it is too early', () => {
    const sums = sumsOf();
    fill(sums, 60, { now: 0.5, few: 0.5 });
    expect(sums.outcome).toMatchObject({ State: 'too early', Measure: 'share of users with like' });
    expect(sums.outcome.Sentence).toBe(
      'Too early to tell: each variant needs 100 users whose time is over, 30 of them with a result.',
    );
  });

  it('tells before there is anything how long it will take, by what users of the placement did before', () => {
    const sums = sumsOf('traffic = 0.5');
    for (let user = 0; user < 2000; user++) {
      const came = user % 5 === 0 ? [given(2)] : [];
      sums.add([{ ...list('', 1, came), edition: undefined }], came, new Map());
    }
    const { State, Sentence, Variants } = sums.outcome;
    expect([State, Variants[0]!.Seen]).toEqual(['too early', 0]);
    // Of 0.2 with a deviation of 0.4, twice that between halves: 0.01 is 3.6 to 5 standard errors of some 100,000 users.
    const [, users, days] =
      /before, a difference of 5 % takes about ([\d,]+) users, (\d+) days of its traffic\.$/.exec(Sentence)!;
    const count = Number(users!.replaceAll(',', ''));
    expect(count).toBeGreaterThan(80_000);
    expect(count).toBeLessThan(200_000);
    // 2,000 in less than three days, half of whom will take part.
    expect(Number(days)).toBe(Math.ceil(count / (2000 / (71 / 24)) / 0.5));
  });

  it('names the better one with its lift and interval', () => {
    const sums = sumsOf();
    fill(sums, 4000, { now: 0.2, few: 0.3 });
    const { State, Winner, Sentence, Variants } = sums.outcome;
    expect([State, Winner]).toEqual(['decided', 'few']);
    expect(Sentence).toMatch(/^few does better than now by 50 % \(\d\d to \d\d\)\.$/);
    expect(Variants[1]!.Low!).toBeGreaterThan(0);
    expect(Variants[0]!.Difference).toBeUndefined();
  });

  it('names the first where all others are worse', () => {
    const sums = sumsOf();
    fill(sums, 4000, { now: 0.3, few: 0.2 });
    expect(sums.outcome).toMatchObject({ State: 'decided', Winner: 'now' });
    expect(sums.outcome.Sentence).toMatch(/^few does worse than now by 33 % \(\d\d to \d\d\)\.$/);
  });

  it('tells how long a decision takes where none is certain', () => {
    const sums = sumsOf();
    fill(sums, 2000, { now: 0.2, few: 0.21 });
    const { State, Sentence, Winner } = sums.outcome;
    expect([State, Winner]).toEqual(['open', undefined]);
    expect(Sentence).toMatch(
      /^No winner yet\. Beside now: few -\d+ to \+\d+ %\. If it stays as it is, another \d+ days decide\. A difference of 5 % takes about [\d,]+ users\.$/,
    );
  });

  it('says first that a split is wrong', () => {
    const sums = sumsOf();
    fill(sums, 4000, { now: 0.2 });
    fill(sums, 3000, { few: 0.9 });
    expect(sums.outcome).toMatchObject({ State: 'split wrong' });
  });

  it('tells of a guardrail that falls', () => {
    const sums = sumsOf('guardrails = ["buy"]');
    for (const [variant, likes, buys] of [
      ['now', 0.2, 0.3],
      ['few', 0.3, 0.2],
    ] as const)
      for (let user = 0; user < 4000; user++) {
        const like = user % 10 < likes * 10 ? [given(2)] : [];
        const buy = user % 10 < buys * 10 ? [given(5, 'buy')] : [];
        sums.add([list(variant, 1, like)], [...like, ...buy], new Map());
      }
    const { Guardrails, Sentence } = sums.outcome;
    expect(Guardrails).toMatchObject([
      { Kind: 'feedback', Type: 'buy', Variant: 'few', Falls: true },
      { Kind: 'latency', Variant: 'few', Falls: false },
      { Kind: 'failures', Variant: 'few', Falls: false },
    ]);
    expect(Sentence).toMatch(/\. But with few fewer users have buy\.$/);
  });

  it('tells of a guardrail and of a measure that nobody has any more', () => {
    const sums = sumsOf('guardrails = ["buy"]');
    for (let user = 0; user < 2000; user++) {
      const [like, buy] = [[given(2)], [given(5, 'buy')]];
      sums.add([list('now', 1, user % 4 === 0 ? like : [])], user % 4 === 0 ? buy : [], new Map());
      sums.add([list('few', 1)], [], new Map());
    }
    const { Guardrails, Sentence } = sums.outcome;
    expect(Guardrails[0]).toMatchObject({ Type: 'buy', Falls: true });
    expect(Sentence).toMatch(/^few does worse than now by 100 % \(.*\. But with few fewer users have buy\.$/);
  });
});

describe('what a variant costs', () => {
  const shown = { seen: new Map([[1, { place: 1, lastMs: START_MS }]]) };
  const ofUser = (variant: string, took: readonly number[], failed = 0): SeenList[] => [
    ...took.map((tookMs, at) => ({ ...list(variant, 1 + at), ...shown, tookMs })),
    ...Array.from({ length: failed }, (_, at) => list(variant, 5 + at)),
  ];
  const outcomeOf = (users: number, now: (user: number) => SeenList[], few: (user: number) => SeenList[]) => {
    const sums = sumsOf();
    for (let user = 0; user < users; user++)
      for (const lists of [now(user), few(user)]) sums.add(lists, [], new Map());
    return sums.outcome;
  };

  it('is named where its lists take longer, by the mean of each user, and one that stands still tells little', () => {
    const slow = outcomeOf(
      2000,
      (user) => ofUser('now', [10 + (user % 7), 20]),
      (user) => ofUser('few', [13 + (user % 7), 23]),
    );
    expect(slow.Guardrails).toMatchObject([
      { Kind: 'latency', Variant: 'few', Falls: true, Difference: 3 },
      { Kind: 'failures', Falls: false },
    ]);
    const same = outcomeOf(
      2000,
      (user) => ofUser('now', [10 + (user % 7)]),
      (user) => ofUser('few', [user === 7 ? 10_000_000 : 10 + (user % 7)]),
    );
    expect(same.Guardrails[0]).toMatchObject({ Falls: false });
    expect(same.Guardrails[0]!.Difference).toBeLessThan(6);
  });

  it('is named where more of its users get none, also where nobody of the other does', () => {
    const failing = outcomeOf(
      1000,
      () => ofUser('now', [10]),
      (user) => ofUser('few', user % 10 === 0 ? [] : [10], user % 10 === 0 ? 3 : 0),
    );
    expect(failing.Guardrails).toMatchObject([
      { Kind: 'latency', Falls: false, Difference: 0 },
      { Kind: 'failures', Variant: 'few', Falls: true, Difference: 0.1 },
    ]);
    expect(failing.Variants).toMatchObject([{ Seen: 1000 }, { Seen: 1000 }]);
    const quicker = outcomeOf(
      1000,
      () => ofUser('now', [10], 1),
      () => ofUser('few', [5]),
    );
    expect(quicker.Guardrails.map(({ Falls }) => Falls)).toEqual([false, false]);
  });
});
