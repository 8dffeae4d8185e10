import type { Random } from '../../domain/random.ts';
import { ALS_DEFAULTS, type AlsSettings } from './settings.ts';
import { sizedSettings } from './settings-by-size.ts';

const EXPONENTS = [0, 0.25, 0.5, 0.75, 1] as const;
const UNOBSERVED_WEIGHT = [3e-3, 1] as const;
/** The penalty on a typical user, against that of the settings drawn around. */
const STRENGTH = [0.05, 20] as const;
/** The number of factors, against the present one. */
const FACTORS = [0.5, 1, 2, 4] as const;
const FACTORS_MIN = 8;

/** Penalties that did best on public sets, dense and sparse (Rendle et al. 2022: MovieLens 20M, Million Song Dataset). */
export const PUBLISHED = [
  { regularizationExponent: 1, regularization: 0.003, unobservedWeight: 0.1 },
  { regularizationExponent: 1, regularization: 0.002, unobservedWeight: 0.02 },
] as const satisfies readonly Partial<AlsSettings>[];

/** Facts of the data and the machine before a search. */
export interface SearchBounds {
  /** Mean number of items of a user. */
  readonly meanCount: number;
  readonly itemCount: number;
  /** The most factors that fit in memory. */
  readonly factorsMax: number;
}

/** Numbers of factors that a search chooses from, ascending, before memory bounds them. */
export function factorChoices(factors: number): number[] {
  return FACTORS.map((times) => Math.round(factors * times)).filter(
    (choice) => choice >= Math.min(FACTORS_MIN, factors) && choice <= 1024,
  );
}

/**
 * Draws settings: one half of them around the present ones, the other around the defaults, in case that the present
 * ones are far off. The regularization that does well differs by orders of magnitude between exponents, so what is
 * drawn is the penalty on a typical user, and the regularization follows from it.
 */
export function proposeAls(
  random: Random,
  present: AlsSettings,
  count: number,
  { meanCount, itemCount, factorsMax }: SearchBounds,
): AlsSettings[] {
  const scale = ({ unobservedWeight, regularizationExponent }: Penalty) =>
    (meanCount + unobservedWeight * itemCount) ** regularizationExponent;
  const centers = [present, ALS_DEFAULTS].map(
    (settings) => settings.regularization * scale(sizedSettings(settings, itemCount)),
  );
  const choices = factorChoices(present.factors).filter((factors) => factors <= factorsMax);
  return Array.from({ length: count }, (_, at) => {
    const penalty = {
      unobservedWeight: logUniform(random, ...UNOBSERVED_WEIGHT),
      regularizationExponent: EXPONENTS[random.below(EXPONENTS.length)]!,
    };
    const strength = centers[at % centers.length]! * logUniform(random, ...STRENGTH);
    const factors = choices.length === 0 ? present.factors : choices[random.below(choices.length)]!;
    return { ...present, ...penalty, factors, regularization: twoDigits(strength / scale(penalty)) };
  });
}

type Penalty = Pick<AlsSettings, 'unobservedWeight' | 'regularizationExponent'>;

/** A number between two positive bounds, uniform in its logarithm, to two significant digits. */
export function logUniform(random: Random, least: number, most: number): number {
  return twoDigits(least * (most / least) ** random.float());
}

function twoDigits(value: number): number {
  return Number(value.toPrecision(2));
}
