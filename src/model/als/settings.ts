import { FurzeError } from '../../domain/furze-error.ts';

/**
 * Solvers of a row's equations: `cg` by some conjugate-gradient steps from the last epoch's values, `cholesky`
 * exactly.
 */
export type ConcreteSolver = 'cg' | 'cholesky';
/**
 * `auto` is `cholesky` up to 4 factors, where exactness costs nothing, and `cg` above. On a seeded set of 20,000 users
 * and 8,000 items the solvers reach the same NDCG@10 to a few parts in a thousand from the third epoch on. `cg` takes a
 * third of the time at 64 factors, and less at more.
 */
export type AlsSolverKind = ConcreteSolver | 'auto';

/** Hyper-parameters of implicit ALS, in the parametrization of Rendle et al. 2021 ("Revisiting the performance of iALS"). */
export interface AlsSettings {
  /** Length of a user's and an item's vector, 1 to 1,024; 0 for one by the size of the data, see `sizedFactors`. */
  readonly factors: number;
  /** Most passes over items and users, 1 to 10,000; a training that is judged on held-out records may end earlier. */
  readonly epochs: number;
  /** Strength of the penalty on the vectors' lengths, above 0; see `rowRegularization`. */
  readonly regularization: number;
  /** Weight of every pair without feedback against 1 for a pair with it; 0 for one by the size of the catalogue. */
  readonly unobservedWeight: number;
  /** 0 penalizes all rows alike, 1 in proportion to how often they occur. */
  readonly regularizationExponent: number;
  readonly solver: AlsSolverKind;
  /** Preconditioned conjugate-gradient steps a row and epoch, 1 to 100; more than 2 change nothing that can be measured. */
  readonly steps: number;
  readonly seed: number;
}

/** Defaults that did well on two sets; bench/notes/quality.md says how they were chosen and how far to trust that. */
export const ALS_DEFAULTS: AlsSettings = {
  factors: 0,
  epochs: 15,
  regularization: 0.2,
  unobservedWeight: 0,
  regularizationExponent: 0.5,
  solver: 'auto',
  steps: 2,
  seed: 1,
};

/**
 * Completes settings with the defaults.
 * @throws FurzeError BAD_REQUEST that names the first setting out of its range
 */
export function alsSettings(given: Partial<AlsSettings> = {}): AlsSettings {
  const settings = { ...ALS_DEFAULTS, ...given };
  const whole = (name: 'factors' | 'epochs' | 'steps', most: number, least = 1) => {
    const value = settings[name];
    if (!(Number.isInteger(value) && value >= least && value <= most))
      refuse(name, value, `an integer from ${least} to ${most}`);
  };
  const finite = (name: 'regularization' | 'unobservedWeight', least: number, expected: string) => {
    const value = settings[name];
    if (!(value >= least && Number.isFinite(value))) refuse(name, value, expected);
  };
  whole('factors', 1024, 0);
  whole('epochs', 10_000);
  whole('steps', 100);
  finite('regularization', Number.MIN_VALUE, 'a finite number above 0');
  finite('unobservedWeight', 0, 'a finite number from 0');
  const exponent = settings.regularizationExponent;
  if (!(exponent >= 0 && exponent <= 2)) refuse('regularizationExponent', exponent, 'a number from 0 to 2');
  if (!Number.isInteger(settings.seed)) refuse('seed', settings.seed, 'an integer');
  return settings;
}

function refuse(name: string, value: unknown, expected: string): never {
  throw new FurzeError('BAD_REQUEST', `the setting ${name} is ${String(value)}; it must be ${expected}`);
}

/**
 * Regularization of a row, scaled by how often it occurs (Rendle et al. 2021, section 3.3):
 * regularization * (count + unobservedWeight * otherCount) ^ regularizationExponent.
 * @param count entries of the row
 * @param otherCount rows of the other side
 */
export function rowRegularization(
  settings: Pick<AlsSettings, 'regularization' | 'unobservedWeight' | 'regularizationExponent'>,
  count: number,
  otherCount: number,
): number {
  const { regularization, unobservedWeight, regularizationExponent } = settings;
  return regularization * (count + unobservedWeight * otherCount) ** regularizationExponent;
}
