import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { RANKING_FEATURES, type RankingFeature, UNTAUGHT } from '../../src/recommend/models/feature-names.ts';
import {
  type AnsweredQuestion,
  KNOWN_QUESTIONS,
  MovingWeights,
  UNTAUGHT_QUESTIONS,
} from '../../src/recommend/ranking/moving-weights.ts';
import { popularity, ranking } from './hand-made.ts';

const WIDTH = RANKING_FEATURES.length;
const at = (name: RankingFeature) => RANKING_FEATURES.indexOf(name);
const FITTED = ranking({ popular_30d: 1, item_knn: 0.2, age: 0.1 }, popularity());

/** Thirty candidates of chance, the one with the most of a feature liked. */
function question(random: Random, liked: RankingFeature): AnsweredQuestion {
  const features = Float64Array.from({ length: 30 * WIDTH }, () => random.float());
  let chosen = 0;
  for (let row = 1; row < 30; row++)
    if (features[row * WIDTH + at(liked)]! > features[chosen * WIDTH + at(liked)]!) chosen = row;
  return { features, chosen };
}

/** Thirty candidates of chance, one of them liked by the chances that the weights give. */
function drawn(random: Random, weights: readonly number[]): AnsweredQuestion {
  const features = Float64Array.from({ length: 30 * WIDTH }, () => random.normal());
  const chances = Array.from({ length: 30 }, (_, chosen) => Math.exp(-lossOf({ features, chosen }, weights)));
  let left = random.float();
  const chosen = chances.findIndex((chance) => (left -= chance) < 0);
  return { features, chosen: Math.max(0, chosen) };
}

/** Minus the logarithm of the chance that the weights give to what was liked. */
function lossOf({ features, chosen }: AnsweredQuestion, weights: readonly number[]): number {
  const scores = Array.from({ length: 30 }, (_, row) =>
    weights.reduce((sum, weight, of) => sum + weight * features[row * WIDTH + of]!, 0),
  );
  return Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0)) - scores[chosen]!;
}

/** The place, from 0, at which the weights put what was liked. */
function placeOf({ features, chosen }: AnsweredQuestion, weights: readonly number[]): number {
  const score = (row: number) =>
    weights.reduce((sum, weight, of) => sum + weight * features[row * WIDTH + of]!, 0);
  return Array.from({ length: 30 }, (_, row) => row).filter((row) => score(row) > score(chosen)).length;
}

/** The candidate at a place, from 0, in the order of the weights. */
function atPlace({ features }: AnsweredQuestion, weights: readonly number[], place: number): number {
  return Array.from({ length: 30 }, (_, row) => row).find(
    (row) => placeOf({ features, chosen: row }, weights) === place,
  )!;
}

/** What a hit at a place is worth in a list of ten. */
function gainOf(place: number): number {
  return place < 10 ? 1 / Math.log2(place + 2) : 0;
}

describe('weights that move with each like', () => {
  it('do not run away where all that can be chosen is about as popular', () => {
    const random = createRandom(3);
    const moving = new MovingWeights(UNTAUGHT_QUESTIONS);
    for (let asked = 0; asked < 100; asked++) {
      const one = question(random, 'popular_120d');
      for (let value = at('popular_120d'); value < one.features.length; value += WIDTH)
        one.features[value] = 1 + 1e-4 * one.features[value]!;
      moving.learn(one, UNTAUGHT);
    }
    for (const weight of moving.applyTo(UNTAUGHT).weights) expect(Math.abs(weight)).toBeLessThan(10);
  });

  it('follow what is liked within some dozen likes, and turn again when that does', () => {
    const random = createRandom(5);
    const moving = new MovingWeights(KNOWN_QUESTIONS);
    const places = (liked: RankingFeature, count: number) => {
      const found: number[] = [];
      for (let asked = 0; asked < count; asked++) {
        const one = question(random, liked);
        found.push(placeOf(one, moving.applyTo(FITTED).weights));
        moving.learn(one, FITTED);
      }
      return found.slice(-20).reduce((sum, place) => sum + place / 20, 0);
    };
    expect(places('popular_30d', 40)).toBeLessThan(2);
    expect(places('popular_1h', 120)).toBeLessThan(2);
    expect(places('slim', 200)).toBeLessThan(2);
  });

  it('stay as the fit has learned them without likes, and are the same for the same likes', () => {
    const one = new MovingWeights(KNOWN_QUESTIONS);
    expect(one.applyTo(FITTED)).toEqual({ bias: FITTED.bias, weights: FITTED.weights });
    const other = new MovingWeights(KNOWN_QUESTIONS);
    for (const moving of [one, other]) {
      const random = createRandom(3);
      for (let asked = 0; asked < 30; asked++) moving.learn(question(random, 'popular_1h'), FITTED);
    }
    expect(one.applyTo(FITTED)).toEqual(other.applyTo(FITTED));
    expect(one.applyTo(FITTED)).not.toEqual({ bias: FITTED.bias, weights: FITTED.weights });
  });

  it('lose next to nothing where what the fit has learned stays right', () => {
    const random = createRandom(6);
    const moving = new MovingWeights(KNOWN_QUESTIONS);
    let excess = 0;
    for (let asked = 0; asked < 300; asked++) {
      const one = drawn(random, FITTED.weights);
      excess += lossOf(one, moving.applyTo(FITTED).weights) - lossOf(one, FITTED.weights);
      moving.learn(one, FITTED);
    }
    // Nats over all questions.
    expect(excess).toBeLessThan(5);
  });

  it('leave the head of lists alone where half of all likes come from where no list reaches', () => {
    const weights = RANKING_FEATURES.map((_, of) => 2 * (FITTED.weights[of] ?? 0));
    const sure = { bias: 0, weights };
    const [random, moving] = [createRandom(1), new MovingWeights(KNOWN_QUESTIONS)];
    let [served, fitted] = [0, 0];
    for (let asked = 0; asked < 900; asked++) {
      const one = drawn(random, weights);
      const chosen = asked % 2 === 0 ? one.chosen : atPlace(one, weights, 15 + random.below(15));
      const answered = { ...one, chosen };
      served += gainOf(placeOf(answered, moving.applyTo(sure).weights));
      fitted += gainOf(placeOf(answered, weights));
      moving.learn(answered, sure);
    }
    expect(served).toBeGreaterThan(0.99 * fitted);
  });

  it('are numbers of a sane size where a feature is the same for all candidates, or nearly never there', () => {
    const sizeOf = (moving: MovingWeights, of: RankingFeature) =>
      Math.abs(moving.applyTo(FITTED).weights[at(of)]! - FITTED.weights[at(of)]!);
    for (let seed = 0; seed < 50; seed++) {
      const random = createRandom(seed);
      const [moving, one] = [new MovingWeights(KNOWN_QUESTIONS), question(random, 'slim')];
      const same = Math.log(2 + seed);
      for (let row = 0; row < 30; row++) one.features[row * WIDTH + at('popular_1h')] = same;
      moving.learn(one, FITTED);
      expect(sizeOf(moving, 'popular_1h')).toBeLessThan(1e-6);
      expect(sizeOf(moving, 'slim')).toBeGreaterThan(0);
    }
    const random = createRandom(4);
    const moving = new MovingWeights(KNOWN_QUESTIONS);
    const withSeldom = (value: number) => {
      const one = question(random, 'slim');
      for (let row = 0; row < 30; row++) one.features[row * WIDTH + at('new_item')] = 0;
      one.features[one.chosen * WIDTH + at('new_item')] = value;
      moving.learn(one, FITTED);
    };
    for (let asked = 0; asked < 300; asked++) withSeldom(0);
    withSeldom(1);
    expect(sizeOf(moving, 'new_item')).toBeGreaterThan(0);
    expect(sizeOf(moving, 'new_item')).toBeLessThan(1.5);
  });

  it('never speak against what the likes of a user or of all speak for', () => {
    const random = createRandom(8);
    const moving = new MovingWeights(KNOWN_QUESTIONS);
    // The least of everything is liked.
    for (let asked = 0; asked < 200; asked++) {
      const { features, chosen } = question(random, 'popular_7d');
      const sums = Float64Array.from(features, (value) => 1 - value);
      moving.learn({ features: sums, chosen }, FITTED);
      for (const name of ['slim', 'item_knn', 'popular_ever'] as const) {
        const { features: some } = question(random, name);
        let least = 0;
        for (let row = 1; row < 30; row++)
          if (some[row * WIDTH + at(name)]! < some[least * WIDTH + at(name)]!) least = row;
        moving.learn({ features: some, chosen: least }, FITTED);
      }
    }
    const { weights } = moving.applyTo(FITTED);
    expect(weights[at('slim')]).toBeGreaterThanOrEqual(0);
    expect(weights[at('item_knn')]).toBeGreaterThanOrEqual(0);
    const scales = weights.filter((_, of) => RANKING_FEATURES[of]!.startsWith('popular_'));
    expect(scales.reduce((sum, weight) => sum + weight, 0)).toBeGreaterThanOrEqual(-1e-9);
  });

  it('learn nothing from what is not a number', () => {
    const moving = new MovingWeights(KNOWN_QUESTIONS);
    moving.learn({ features: new Float64Array(2 * WIDTH).fill(Number.NaN), chosen: 0 }, FITTED);
    expect(moving.applyTo(FITTED).weights).toEqual(FITTED.weights);
  });
});
