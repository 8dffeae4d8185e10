import { FurzeError } from '../../domain/furze-error.ts';

export interface SlimSettings {
  /** Items that an item's regression runs over: those most like it. 1 to 1,000; the cost grows with its cube. */
  readonly neighborhood: number;
  /** Weights kept for an item, the largest. 1 to 10,000. */
  readonly neighbors: number;
  /** L2 penalty of a weight. Above 0. */
  readonly regularization: number;
  /** L2 penalty in proportion to how often the item is liked (Steck 2020). 0 or more. */
  readonly frequencyRegularization: number;
  /** A user of n items counts n ^ -exponent, so that those who like everything say less. 0 counts all the same. */
  readonly userExponent: number;
}

export const SLIM_DEFAULTS: SlimSettings = {
  neighborhood: 150,
  neighbors: 100,
  regularization: 40,
  frequencyRegularization: 0.5,
  userExponent: 0.25,
};

/** @throws FurzeError BAD_REQUEST for a setting out of range */
export function slimSettings(given: Partial<SlimSettings>): SlimSettings {
  const settings = { ...SLIM_DEFAULTS, ...given };
  const refuse = (name: keyof SlimSettings, range: string): never => {
    throw new FurzeError('BAD_REQUEST', `${name} is ${settings[name]}; it must be ${range}`);
  };
  const { neighborhood, neighbors, regularization, frequencyRegularization, userExponent } = settings;
  const isInteger = (value: number, most: number) => Number.isInteger(value) && value >= 1 && value <= most;
  if (!isInteger(neighborhood, 1000)) refuse('neighborhood', 'an integer from 1 to 1000');
  if (!isInteger(neighbors, 10_000)) refuse('neighbors', 'an integer from 1 to 10000');
  if (!(regularization > 0 && Number.isFinite(regularization))) refuse('regularization', 'a number above 0');
  if (!(frequencyRegularization >= 0 && Number.isFinite(frequencyRegularization))) {
    refuse('frequencyRegularization', 'a number from 0');
  }
  if (!(userExponent >= 0 && userExponent <= 2)) refuse('userExponent', 'a number from 0 to 2');
  return settings;
}
