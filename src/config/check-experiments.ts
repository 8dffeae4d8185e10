import { FilterError } from '../domain/filter-error.ts';
import { parseFilter } from '../domain/filter-tree.ts';
import { positiveKindNames } from '../domain/positive-feedback-types.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import { expectation, fits, type KeySchema, show } from './keys.ts';
import type { Config } from './schema.ts';
import { placement as placementSchema } from './schema-placements.ts';

/** Placements and experiments by name. */
export type Rules = Pick<Config, 'placement' | 'experiment'>;
type Experiment = Config['experiment'][string];

const KEYS = placementSchema.properties as unknown as Readonly<Record<string, KeySchema>>;
/** Shares are written with a few decimals. */
const SUM_ERROR_MAX = 1e-6;

/** Placements that were found right, which are checked again with each change of another. */
const rightPlacements = new WeakSet<Config['placement'][string]>();

/** Checks the keys of placements and experiments together: experiments vary placements that there are, each in one way. */
export function checkRules({ experiment, placement }: Rules, problems: string[]): void {
  for (const [name, own] of Object.entries(placement)) {
    if (rightPlacements.has(own)) continue;
    const before = problems.length;
    checkPlacement(own, `placement.${name}`, problems);
    if (problems.length === before) rightPlacements.add(own);
  }
  const varied = new Map<string, string>();
  for (const [name, settings] of Object.entries(experiment)) {
    const at = `experiment.${name}`;
    const own = Object.hasOwn(placement, settings.placement) ? placement[settings.placement] : undefined;
    const known =
      Object.keys(placement).map(show).join(', ') || 'one that is configured, of which there is none';
    if (own === undefined)
      problems.push(`${at}.placement: expected a placement: ${known}; got ${show(settings.placement)}`);
    const other = varied.get(settings.placement);
    if (other !== undefined)
      problems.push(`${at}.placement: expected one that no other experiment varies, as ${other} does`);
    varied.set(settings.placement, at);
    if (settings.start !== '' && Number.isNaN(parseTimestamp(settings.start)))
      problems.push(
        `${at}.start: expected a time such as "2030-01-31T18:00:00Z", or "", got ${show(settings.start)}`,
      );
    checkShares(settings, at, problems);
    checkMethod(settings, own, at, problems);
    for (const [number, variant] of settings.variants.entries())
      checkOverride(variant.override ?? {}, own, `${at}.variants[${number}].override`, problems);
  }
}

/**
 * Feedback counts from a value on as `positive_feedback_types` has it: another such measure would count nothing.
 * @param positive that list, without a fault
 */
export function checkMeasures(
  { experiment }: Pick<Rules, 'experiment'>,
  positive: readonly string[],
  problems: string[],
): void {
  const names = positiveKindNames(positive);
  for (const [name, { measure }] of Object.entries(experiment))
    if (/(>=|<=|>|<) *-?\d/.test(measure) && !names.includes(measure))
      problems.push(
        `experiment.${name}.measure: expected a feedback type, or one with a value as in positive_feedback_types (${names.map(show).join(', ') || 'none'}), got ${show(measure)}`,
      );
}

function checkShares({ variants }: Experiment, at: string, problems: string[]): void {
  if (variants.length < 2) problems.push(`${at}.variants: expected at least two, got ${variants.length}`);
  const sum = variants.reduce((total, { share }) => total + share, 0);
  if (variants.length > 0 && Math.abs(sum - 1) > SUM_ERROR_MAX)
    problems.push(`${at}.variants: expected shares that sum up to 1, got ${Number(sum.toFixed(6))}`);
  for (const [number, { name }] of variants.entries())
    if (variants.findIndex((variant) => variant.name === name) < number)
      problems.push(`${at}.variants[${number}].name: expected one of its own, got ${show(name)} twice`);
}

/** Both rankings of a pair are seen by the same users, which leaves no others to compare guardrails with. */
function checkMethod(
  { method, variants, guardrails }: Experiment,
  own: Config['placement'][string] | undefined,
  at: string,
  problems: string[],
): void {
  if (method === 'split') return;
  if (variants.length > 2)
    problems.push(`${at}.variants: expected two with method ${show(method)}, got ${variants.length}`);
  if (guardrails.length > 0)
    problems.push(`${at}.guardrails: expected none with method ${show(method)}, got ${show(guardrails)}`);
  const explored = variants[0]?.override?.explore ?? own?.explore;
  if (method === 'estimate' && own !== undefined && explored === 0)
    problems.push(`${at}.placement: expected one with explore above 0 for method "estimate"`);
}

function checkOverride(
  override: Readonly<Record<string, unknown>>,
  own: Config['placement'][string] | undefined,
  at: string,
  problems: string[],
): void {
  const before = problems.length;
  for (const [key, value] of Object.entries(override)) {
    const schema = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (schema === undefined)
      problems.push(`${at}.${key}: unknown key; expected one of ${Object.keys(KEYS).join(', ')}`);
    else if (!fits(schema, value))
      problems.push(`${at}.${key}: expected ${expectation(schema)}, got ${show(value)}`);
  }
  if (own !== undefined && problems.length === before) checkPlacement({ ...own, ...override }, at, problems);
}

/** Checks the keys of a placement together. @param at its path */
function checkPlacement(
  { filter, pins, length, kind, begun }: Config['placement'][string],
  at: string,
  problems: string[],
): void {
  if (kind === 'continue' && begun.length === 0)
    problems.push(`${at}.begun: expected feedback types, as kind is "continue", got none`);
  try {
    parseFilter(filter);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    problems.push(`${at}.filter${error.path}: ${error.message}`);
  }
  const [places, items] = [new Set<number>(), new Set<string>()];
  for (const [number, { item, place, until }] of pins.entries()) {
    const pin = `${at}.pins[${number}]`;
    if (until !== undefined && Number.isNaN(parseTimestamp(until)))
      problems.push(`${pin}.until: expected a time such as "2030-01-31T18:00:00Z", got ${show(until)}`);
    if (length > 0 && place > length)
      problems.push(`${pin}.place: expected at most ${at}.length (${length}), got ${place}`);
    if (places.has(place))
      problems.push(`${pin}.place: expected a place without another pin, got ${place} twice`);
    if (items.has(item))
      problems.push(`${pin}.item: expected an item without another pin, got ${show(item)} twice`);
    places.add(place);
    items.add(item);
  }
}
