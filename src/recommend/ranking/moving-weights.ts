import { choiceMoments, lossOf } from '../../model/regression/conditional-logit.ts';
import { type LogisticRegression, solveSymmetric } from '../../model/regression/logistic-regression.ts';
import { RANKING_FEATURES, type RankingFeature } from '../models/feature-names.ts';
import { AGE_SPREAD_MIN, isScale, neverAgainst } from './learn-blends.ts';

/** After each question those of before count so much: the latest hundred or so tell. */
const FADE = 0.99;
/** The fit's lesson counts as much as so many questions, and `UNTAUGHT` as few. */
export const KNOWN_QUESTIONS = 30;
export const UNTAUGHT_QUESTIONS = 3;
/**
 * Multiple of an even chance that each answer has beside its chance by the weights, where both weights are compared (a
 * contaminated likelihood; Huber 1964): whether what stands below the middle stands a little higher reaches nobody's ten.
 */
const BY_CHANCE = 4;
/** One question moves the score of a candidate against the chosen one by so much at most, in log-odds. */
const STEP_MAX = 1;
/** Logarithms of popularity are weighed as if they differed by so much at the least. */
const SCALE_SPREAD_MIN = 0.3;
/** Variance below this share of the mean square is rounding. */
const ROUNDING = 1e-18;
const WIDTH = RANKING_FEATURES.length;

/** A question that was just answered. */
export interface AnsweredQuestion {
  /** `WIDTH` numbers a candidate. */
  readonly features: Float64Array;
  /** The candidate that was liked. */
  readonly chosen: number;
}

/** What `MovingWeights` has learned, kept over a restart. */
export interface SavedWeights {
  /** Of which features, in order. */
  readonly features: string;
  readonly moved: readonly number[];
  readonly hessian: readonly number[];
  readonly variances: readonly number[];
  readonly questions: number;
  readonly excess: number;
}

/** Names of the features; what was learned of others is no use. */
const FEATURES = RANKING_FEATURES.join();

/**
 * The distance that the weights of a ranking have moved since its fit. Each like moves them by a step of Newton's method on
 * the conditional logit of all questions since (the online Newton step of Hazan, Agarwal and Kale 2007). Older questions fade,
 * and a ridge draws to what the fit has learned. The weights of all kinds of users move alike, so that some dozen likes tell
 * it. Where what the fit has learned told the answers better of late, lists go by the mean of both, each weighing as the
 * likelihood of the answers under it (a Bayesian mixture; Cesa-Bianchi and Lugosi 2006, chapter 3): what chance has moved
 * counts little. An answer that neither put near the head says next to nothing there, however unlike its chances are. The same
 * likes in the same order give the same weights.
 */
export class MovingWeights {
  private readonly moved = new Float64Array(WIDTH);
  private readonly hessian = new Float64Array(WIDTH * WIDTH);
  /** Sums over questions, faded: the variance of each feature within the candidates, and their number. */
  private readonly variances = new Float64Array(WIDTH);
  private questions = 0;
  /** Nats that the weights as they have moved took more to tell the answers than those of the fit, faded; see `BY_CHANCE`. */
  private excess = 0;

  private readonly known: number;

  /**
   * @param known so many questions count as much as what the weights have learned already
   * @param saved where it begins; with the fit where that is absent or of other features
   */
  constructor(known: number, saved?: SavedWeights) {
    this.known = known;
    if (saved?.features !== FEATURES) return;
    this.moved.set(saved.moved);
    this.hessian.set(saved.hessian);
    this.variances.set(saved.variances);
    this.questions = saved.questions;
    this.excess = saved.excess;
  }

  save(): SavedWeights {
    const { questions, excess } = this;
    const [moved, hessian, variances] = [[...this.moved], [...this.hessian], [...this.variances]];
    return { features: FEATURES, moved, hessian, variances, questions, excess };
  }

  /** @param weights as the fit has learned them for the kind of user that was asked about */
  learn({ features, chosen }: AnsweredQuestion, { weights }: LogisticRegression): void {
    const { moved, hessian, variances } = this;
    const candidates = features.length / WIDTH;
    const labels = new Uint8Array(candidates);
    labels[chosen] = 1;
    const multiples = new Float64Array(candidates).fill(1);
    const now = Float64Array.from(moved, (by, at) => weights[at]! + by);
    const list = { width: WIDTH, features, labels, multiples, starts: [0, candidates] };
    const moments = choiceMoments(list, now);
    if (!moments.gradient.every(Number.isFinite)) return;
    const evenChance = BY_CHANCE / candidates;
    const chanceBy = (loss: number) => Math.exp(-loss) + evenChance;
    this.excess =
      this.excess * FADE + Math.log(chanceBy(lossOf(list, weights).loss) / chanceBy(moments.loss));
    this.questions = this.questions * FADE + 1;
    const steep = new Float64Array(WIDTH * WIDTH);
    for (let at = 0; at < steep.length; at++) {
      hessian[at] = hessian[at]! * FADE + moments.hessian[at]!;
      steep[at] = hessian[at]!;
    }
    const pull = moments.gradient;
    for (let at = 0; at < WIDTH; at++) {
      variances[at] = variances[at]! * FADE + variance(features, at);
      const ridge =
        this.known * Math.max(variances[at]! / this.questions, leastVariance(RANKING_FEATURES[at]!));
      // A feature that never varied moves nothing.
      steep[at * WIDTH + at]! += ridge > 0 ? ridge : 1;
      pull[at]! -= (1 - FADE) * ridge * moved[at]!;
    }
    const step = solveSymmetric(steep, pull);
    if (!step.every(Number.isFinite)) return;
    const part = STEP_MAX / Math.max(STEP_MAX, widest(step, features, chosen));
    step.forEach((by, at) => {
      moved[at]! += part * by;
    });
  }

  /** The weights as they are now. What never speaks against an item does not come to do so. */
  applyTo({ bias, weights }: LogisticRegression): LogisticRegression {
    const share = 1 / (1 + Math.exp(this.excess));
    const now = weights.map((weight, at) => {
      const moved = weight + share * this.moved[at]!;
      return neverAgainst(RANKING_FEATURES[at]!) ? Math.max(0, moved) : moved;
    });
    const scales = RANKING_FEATURES.flatMap((name, at) => (isScale(name) ? [at] : []));
    const inAll = scales.reduce((sum, at) => sum + now[at]!, 0);
    if (inAll < 0) now[scales.at(-1)!]! -= inAll;
    return { bias, weights: now };
  }
}

/** The largest difference that a step makes between the chosen candidate and another. */
function widest(step: ArrayLike<number>, features: Float64Array, chosen: number): number {
  const scores = Array.from({ length: features.length / WIDTH }, (_, candidate) => {
    let score = 0;
    for (let at = 0; at < WIDTH; at++) score += step[at]! * features[candidate * WIDTH + at]!;
    return score;
  });
  return scores.reduce((most, score) => Math.max(most, Math.abs(score - scores[chosen]!)), 0);
}

/**
 * Logarithms that differ by next to nothing, as those of two scales do while all likes are of one day, tell next to nothing:
 * weighed as if they differed they would come to hundreds.
 */
function leastVariance(name: RankingFeature): number {
  if (name === 'age') return AGE_SPREAD_MIN ** 2;
  return isScale(name) ? SCALE_SPREAD_MIN ** 2 : 0;
}

/** 0 where all are equal but for rounding. */
function variance(features: Float64Array, of: number): number {
  const count = features.length / WIDTH;
  let mean = 0;
  for (let at = of; at < features.length; at += WIDTH) mean += features[at]! / count;
  let sum = 0;
  let squares = 0;
  for (let at = of; at < features.length; at += WIDTH) {
    sum += (features[at]! - mean) ** 2;
    squares += features[at]! ** 2;
  }
  return sum > ROUNDING * squares ? sum / count : 0;
}
