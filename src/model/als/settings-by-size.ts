/** Resolves settings that leave the choice, by the size of the set. */
import type { AlsSettings, ConcreteSolver } from './settings.ts';

/** Up to so many factors `auto` solves exactly. */
const EXACT_FACTORS_MAX = 4;

/** The weight of pairs without feedback in catalogues of up to 10,000 items. */
const UNOBSERVED_WEIGHT = 0.1;
/** Largest weight of all pairs without feedback of a user together: those of a large catalogue would drown the others. */
const UNOBSERVED_MAX = 1000;

/** The numbers of factors that 0 may stand for. */
const FACTORS = [64, 128, 256] as const;
export const FACTORS_MIN = FACTORS[0];
/** Items and pairs for each factor at the least: fewer tell no more tastes apart. */
const ITEMS_A_FACTOR = 32;
const PAIRS_A_FACTOR = 600;
/** Multiply-adds of scoring the whole catalogue for a user at the most: about a millisecond. */
const SCORING_WORK_MAX = 1.2e7;
/** Multiply-adds of an epoch at the most, beyond the fewest factors: a few seconds of one core. */
const EPOCH_WORK_MAX = 2e10;

/**
 * The factors that 0 stands for: the most that the data fill and that stay quick to learn and to ask. A large catalogue has many
 * niches, which few factors cannot tell apart (Rendle et al. 2022 find no end of the gain up to 2,048 factors).
 */
export function sizedFactors(
  { factors, steps }: Pick<AlsSettings, 'factors' | 'steps'>,
  {
    userCount,
    itemCount,
    count,
  }: { readonly userCount: number; readonly itemCount: number; readonly count: number },
): number {
  if (factors > 0) return factors;
  const work = (f: number) => 4 * steps * count * f + (steps + 1) * (userCount + itemCount) * f * f;
  const filled = Math.min(
    itemCount / ITEMS_A_FACTOR,
    count / PAIRS_A_FACTOR,
    SCORING_WORK_MAX / Math.max(1, itemCount),
  );
  return FACTORS.findLast((f) => f <= filled && work(f) <= EPOCH_WORK_MAX) ?? FACTORS[0];
}

/**
 * Settings with the weight that 0 stands for: 0.1, in a large catalogue 1000 / items. The published settings of iALS
 * (Rendle et al. 2022) weigh a user's unobserved pairs at 70 to 2,000 together, whether there are 3,700 items or 41,000.
 */
export function sizedSettings(settings: AlsSettings, itemCount: number): AlsSettings {
  if (settings.unobservedWeight > 0) return settings;
  const unobservedWeight = Math.min(UNOBSERVED_WEIGHT, UNOBSERVED_MAX / Math.max(1, itemCount));
  return { ...settings, unobservedWeight };
}

/** The solver that `auto` stands for. */
export function chosenSolver({ solver, factors }: AlsSettings): ConcreteSolver {
  if (solver !== 'auto') return solver;
  return factors <= EXACT_FACTORS_MAX ? 'cholesky' : 'cg';
}
