import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../../src/domain/random.ts';
import type { LogisticRegression } from '../../src/model/regression/logistic-regression.ts';
import {
  KINDS,
  RANKING_FEATURES,
  type RankingFeature,
  SESSION_KIND,
} from '../../src/recommend/models/feature-names.ts';
import { LABEL_SUM, VECTOR_SUM } from '../../src/recommend/models/like-sums.ts';
import { choiceTable, chooseRanking } from '../../src/recommend/ranking/choose-ranking.ts';
import type { RankingExample } from '../../src/recommend/ranking/learn-blends.ts';

const CANDIDATES = 60;

/** Users who like each candidate by chance, the likelier the higher what `taste` makes of its features. */
function users(
  count: number,
  taste: (value: (name: RankingFeature) => number) => number,
  seed = 1,
): RankingExample[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, userRow) => user(userRow, random, taste));
}

/** Features that tell nothing: no item has a vector or a label, and no model of another tool is in place. */
const ABSENT: readonly string[] = [VECTOR_SUM, LABEL_SUM, 'given'];
const withoutVectors = (name: string) => !ABSENT.includes(name);

function user(
  userRow: number,
  random: Random,
  taste: (value: (name: RankingFeature) => number) => number,
): RankingExample {
  const width = RANKING_FEATURES.length;
  const features = new Float32Array(CANDIDATES * width).map((_, at) =>
    ABSENT.includes(RANKING_FEATURES[at % width]!) ? 0 : random.normal(),
  );
  const labels = Uint8Array.from({ length: CANDIDATES }, (_, at) => {
    const score = taste((name) => features[at * width + RANKING_FEATURES.indexOf(name)]!);
    return random.float() < 1 / (1 + Math.exp(4 - score)) ? 1 : 0;
  });
  return {
    ...{ userRow, kind: 2 },
    features,
    labels,
    likedCount: Math.max(
      1,
      labels.reduce((sum, label) => sum + label, 0),
    ),
  };
}

const qualityOf = (choice: { rows: readonly { name: string; quality: { mean: number } }[] }, name: string) =>
  choice.rows.find((row) => row.name === name)!.quality.mean;
const weightOf = (ranking: { weights: readonly number[] }, name: RankingFeature) =>
  ranking.weights[RANKING_FEATURES.indexOf(name)]!;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** How many of a user's five best candidates were liked. */
function hitsAtTop(
  { features, labels }: RankingExample,
  { weights }: { weights: readonly number[] },
): number {
  const scores = Array.from(labels, (_, at) =>
    weights.reduce((sum, weight, f) => sum + weight * features[at * weights.length + f]!, 0),
  );
  const order = scores.map((_, at) => at).sort((a, b) => scores[b]! - scores[a]!);
  return order.slice(0, 5).reduce((hits, at) => hits + labels[at]!, 0);
}

describe('the choice of a ranking', () => {
  it('weighs what tells and leaves the rest at next to nothing', () => {
    const examples = users(500, (value) => 2 * value('popular_2d') + value('slim'));
    const { ranking, choice } = chooseRanking(examples, 7, withoutVectors)!;
    const main = weightOf(ranking, 'popular_2d');
    expect(main).toBeGreaterThan(1);
    expect(weightOf(ranking, 'slim') / main).toBeGreaterThan(0.35);
    expect(weightOf(ranking, 'slim') / main).toBeLessThan(0.65);
    expect(Math.abs(weightOf(ranking, 'click_through') / main)).toBeLessThan(0.15);
    expect(choice.users).toBe(500);
    expect(choice.asOfMs).toBe(7);
    expect(choice.overBestSingle.mean).toBeGreaterThan(choice.overBestSingle.halfWidth);
    // The lead over popularity is compared user by user: its interval is narrower than that of either.
    const { mean, halfWidth } = choice.overPopular!;
    expect(mean).toBeCloseTo(qualityOf(choice, choice.chosen) - qualityOf(choice, 'popular_2d'), 10);
    expect(halfWidth).toBeLessThan(choice.rows.find(({ name }) => name === choice.chosen)!.quality.halfWidth);
    expect(qualityOf(choice, choice.chosen)).toBeGreaterThan(qualityOf(choice, 'popular_2d'));
  });

  it('lets old items come first where they are liked', () => {
    const { ranking, choice } = chooseRanking(
      users(60, (value) => 4 * value('age')),
      0,
      () => true,
    )!;
    expect(weightOf(ranking, 'age')).toBeGreaterThan(0);
    expect(qualityOf(choice, choice.chosen)).toBeGreaterThan(2 * qualityOf(choice, 'age'));
    expect(new Set(choice.rows.map(({ name }) => name)).size).toBe(choice.rows.length);
  });

  it('serves nothing that was worse than one recommender alone by more than the noise', () => {
    for (const [count, seed] of [
      [25, 1],
      [25, 2],
      [60, 3],
      [60, 4],
      [120, 5],
    ] as const) {
      const examples = users(count, (value) => 3 * value('popular_7d'), seed);
      const { ranking, choice } = chooseRanking(examples, 0, withoutVectors)!;
      const { mean, halfWidth } = choice.overBestSingle;
      expect(mean).toBeGreaterThanOrEqual(-1.03 * halfWidth);
      expect(weightOf(ranking, 'popular_7d')).toBe(Math.max(...ranking.weights));
    }
  });

  it('tells by how little the first way is ahead where another ranks', () => {
    const choices = [1, 2, 3, 4, 5, 6, 7, 8].map(
      (seed) =>
        chooseRanking(
          users(60, (value) => 3 * value('popular_7d'), seed),
          0,
          () => true,
        )!.choice,
    );
    for (const { chosen, rows, firstOverChosen } of choices) {
      expect(firstOverChosen === undefined).toBe(rows[0]!.name === chosen);
      if (firstOverChosen === undefined) continue;
      const quality = rows.find(({ name }) => name === chosen)!.quality;
      expect(firstOverChosen.mean).toBeCloseTo(rows[0]!.quality.mean - quality.mean, 10);
      expect(firstOverChosen.mean).toBeLessThanOrEqual(1.03 * firstOverChosen.halfWidth);
    }
    expect(choices.some(({ firstOverChosen }) => firstOverChosen !== undefined)).toBe(true);
  });

  it('says of no way that it is ahead where it is level with the chosen one', () => {
    const random = createRandom(1);
    const width = RANKING_FEATURES.length;
    const examples = Array.from({ length: 60 }, (_, userRow) => {
      const features = new Float32Array(CANDIDATES * width).map(() => 0.01 * random.normal());
      features[RANKING_FEATURES.indexOf('popular_2d')] = 5;
      const labels = new Uint8Array(CANDIDATES).fill(1, 0, 1);
      return { userRow, kind: 2, features, labels, likedCount: 1 };
    });
    const { choice } = chooseRanking(examples, 0, withoutVectors)!;
    expect(qualityOf(choice, 'popular_2d')).toBeCloseTo(1, 10);
    expect(qualityOf(choice, choice.chosen)).toBeCloseTo(1, 10);
    expect(choice.rows[0]!.name).toBe(choice.chosen);
    expect(choice.firstOverChosen).toBeUndefined();
  });

  it('takes what a user was asked as of several moments for what one user tells', () => {
    const examples = users(40, (value) => value('popular_2d') - value('age'));
    const { choice: once } = chooseRanking(examples, 0, withoutVectors)!;
    const { choice: thrice } = chooseRanking([...examples, ...examples, ...examples], 0, withoutVectors)!;
    expect(thrice.users).toBe(40);
    const alone = ({ rows }: typeof once) => rows.find(({ name }) => name === 'popular_2d')!.quality;
    expect(alone(thrice).mean).toBeCloseTo(alone(once).mean, 10);
    expect(alone(thrice).halfWidth).toBeCloseTo(alone(once).halfWidth, 10);
  });

  it('learns for each kind of user what that kind goes by, and for one that was never asked what all do', () => {
    const [newcomer, regular, never] = [1, 4, 7];
    const examples = [
      ...users(250, (value) => 3 * value('popular_7d'), 1).map((one) => ({ ...one, kind: newcomer })),
      ...users(250, (value) => 3 * value('collaborative'), 2).map((one) => ({ ...one, kind: regular })),
    ];
    const { ranking } = chooseRanking(examples, 0, withoutVectors)!;
    const share = (weights: LogisticRegression) =>
      weightOf(weights, 'popular_7d') /
      (weightOf(weights, 'popular_7d') + weightOf(weights, 'collaborative'));
    expect(share(ranking.byKind[newcomer]!)).toBeGreaterThan(0.8);
    expect(share(ranking.byKind[regular]!)).toBeLessThan(0.2);
    expect(ranking.byKind[never]!.weights).toEqual(ranking.weights);
  });

  it('ranks sessions by what suits them, though it counts for nobody else', () => {
    const examples = [
      ...users(150, (value) => 3 * value('popular_7d'), 1),
      ...users(60, (value) => 3 * value('sequence'), 2).map((one) => ({ ...one, kind: SESSION_KIND })),
    ];
    const { ranking, choice } = chooseRanking(examples, 0, withoutVectors)!;
    expect(choice.users).toBe(150);
    const ofSessions = ranking.byKind[SESSION_KIND]!;
    expect(weightOf(ofSessions, 'sequence')).toBeGreaterThan(
      3 * Math.abs(weightOf(ofSessions, 'popular_7d')),
    );
    expect(weightOf(ranking, 'popular_7d')).toBeGreaterThan(3 * Math.abs(weightOf(ranking, 'sequence')));
  });

  it('does not take what leads by luck alone', () => {
    const fresh = users(500, (value) => value('popular_2d') - value('age'), 99);
    const quality = (ranking: { weights: readonly number[] }) =>
      mean(fresh.map((one) => hitsAtTop(one, ranking)));
    const only = (name: RankingFeature, weight: number) => ({
      weights: RANKING_FEATURES.map((feature) => (feature === name ? weight : 0)),
    });
    const alone = Math.max(quality(only('popular_2d', 1)), quality(only('age', -1)));
    const chosen = Array.from({ length: 5 }, (_, seed) => {
      const examples = users(45, (value) => value('popular_2d') - value('age'), seed);
      return quality(chooseRanking(examples, 0, withoutVectors)!.ranking);
    });
    expect(Math.min(...chosen)).toBeGreaterThan(0.9 * alone);
    expect(mean(chosen)).toBeGreaterThan(1.1 * alone);
  });

  it('stays near the best one alone where there are few users to learn from', () => {
    const fresh = users(300, (value) => 4 * value('popular_30d'), 98);
    const quality = (ranking: { weights: readonly number[] }) =>
      mean(fresh.map((one) => hitsAtTop(one, ranking)));
    const alone = quality({ weights: RANKING_FEATURES.map((name) => Number(name === 'popular_30d')) });
    for (const seed of [1, 2, 3]) {
      const examples = users(12, (value) => 4 * value('popular_30d'), seed);
      const { ranking } = chooseRanking(examples, 0, withoutVectors)!;
      expect(quality(ranking)).toBeGreaterThan(0.95 * alone);
    }
  });

  it('draws to all that is as good as the best one alone, and tells which', () => {
    const one = chooseRanking(
      users(300, (value) => 3 * value('slim')),
      0,
      () => true,
    )!;
    expect(one.choice.rows.map(({ name }) => name)).toContain('a blend of all, steadied by slim');
    const two = chooseRanking(
      users(60, (value) => 1.5 * value('slim') + 1.5 * value('popular_2d'), 4),
      0,
      () => true,
    )!;
    expect(two.choice.rows.map(({ name }) => name).join()).toMatch(
      /a blend of all, steadied by the best \d+/,
    );
    expect(weightOf(two.ranking, 'slim')).toBeGreaterThan(0);
    expect(weightOf(two.ranking, 'popular_2d')).toBeGreaterThan(0);
  });

  it('gives probabilities that hold on average', () => {
    const examples = users(400, (value) => value('collaborative') + value('popular_12h'));
    const { ranking } = chooseRanking(examples, 0, withoutVectors)!;
    let expected = 0;
    let seen = 0;
    for (const { features, labels } of examples) {
      for (let at = 0; at < labels.length; at++) {
        const logit = ranking.weights.reduce(
          (sum, weight, f) => sum + weight * features[at * RANKING_FEATURES.length + f]!,
          ranking.bias,
        );
        expected += 1 / (1 + Math.exp(-logit));
        seen += labels[at]!;
      }
    }
    expect(expected / seen).toBeCloseTo(1, 1);
  });

  it('judges no model that is not there, and no young items where age tells nothing', () => {
    const examples = users(100, (value) => 2 * value('popular_2d'));
    const { choice } = chooseRanking(examples, 0, (name) => name === 'collaborative')!;
    const names = choice.rows.map(({ name }) => name).join(' ');
    expect(names).toContain('collaborative');
    expect(names).not.toContain('slim');
    expect(names).not.toContain('click_through');
  });

  it('makes nothing of the ages of items that came together', () => {
    const age = RANKING_FEATURES.indexOf('age');
    const random = createRandom(3);
    // What is liked came a little sooner, as the first of a file does.
    const examples = users(120, (value) => 2 * value('slim'));
    for (const { features, labels } of examples) {
      labels.forEach((label, at) => {
        features[at * RANKING_FEATURES.length + age] = 1e-5 * (random.normal() + label / 2);
      });
    }
    const { ranking } = chooseRanking(examples, 0, withoutVectors)!;
    // An item of today beside items of ten days: what they are liked for decides.
    const aged = Math.abs(weightOf(ranking, 'age')) * Math.log1p(10);
    expect(aged).toBeLessThan(0.5 * weightOf(ranking, 'slim'));
  });

  it('takes as much discovery as costs a twentieth at most, of whom five likes or more are known', () => {
    const ofAll = (taste: Parameters<typeof users>[1], count = 300, kind = 3) => {
      const asked = users(count, taste).map((example) => ({ ...example, kind }));
      return chooseRanking(asked, 0, withoutVectors)!.ranking.discoveries!;
    };
    const own = ofAll((value) => 2 * value('collaborative') + 2 * value('slim'));
    expect(own).toHaveLength(KINDS);
    // In the middle of a visit as much as coming back.
    expect(own.flatMap((share, kind) => (share > 0 ? [[kind, share]] : []))).toEqual([
      [3, 1],
      [8, 1],
    ]);
    // What leads nobody has nothing to spare.
    expect(ofAll((value) => 3 * value('popular_2d'))[3]).toBeLessThan(0.5);
    const mixed = ofAll((value) => 2 * value('collaborative') + 2 * value('popular_2d'))[3]!;
    expect(mixed).toBeGreaterThan(0);
    expect(mixed).toBeLessThan(0.7);
    const none = new Array(KINDS).fill(0);
    expect(ofAll((value) => 2 * value('collaborative') + 2 * value('slim'), 300, 2)).toEqual(none);
    expect(ofAll((value) => 2 * value('collaborative') + 2 * value('slim'), 20)).toEqual(none);
  });

  it('tells nothing of users none of whose candidates were liked', () => {
    const examples = users(100, () => -100);
    expect(chooseRanking(examples, 0, withoutVectors)).toBeUndefined();
    expect(chooseRanking([], 0, withoutVectors)).toBeUndefined();
  });

  it('is a table that people can read', () => {
    const { choice } = chooseRanking(
      users(100, (value) => 2 * value('popular_2d')),
      0,
      () => true,
    )!;
    const lines = choiceTable(choice);
    expect(lines).toHaveLength(choice.rows.length);
    expect(lines[0]).toMatch(/^\S.* {2}NDCG@10 0\.\d{4} ± 0\.\d{4}$/);
    expect(new Set(lines.map((line) => line.indexOf('NDCG'))).size).toBe(1);
  });
});
