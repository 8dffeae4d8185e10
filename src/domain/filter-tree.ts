/** Conditions on items as a tree, read once from what a person wrote. */
import { FilterError } from './filter-error.ts';

/** Numbers between which one lies, both left out themselves. */
export interface Between {
  readonly gt: number;
  readonly lt: number;
}

export type FilterTree =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly FilterTree[] }
  | { readonly kind: 'not'; readonly part: FilterTree }
  /** An item has at least one of the names. */
  | { readonly kind: 'label' | 'category'; readonly names: readonly string[] }
  | { readonly kind: 'ageDays'; readonly between: Between };

/** Tables within tables. */
const DEPTH_MAX = 16;
/** Conditions in all. */
const CONDITIONS_MAX = 256;
const WORDS = ['and', 'or', 'not', 'label', 'category', 'age_days'];

/**
 * Reads a filter: `{ and = [...] }`, `{ or = [...] }`, `{ not = {...} }`, `{ label = "a" }`, `{ category = { in = ["a", "b"] } }`,
 * `{ age_days = { gt = 1, lt = 30 } }`. An empty table has no condition.
 * @throws FilterError
 */
export function parseFilter(value: unknown): FilterTree | undefined {
  if (isTable(value) && Object.keys(value).length === 0) return undefined;
  return read(value, '', 1, { conditions: 0 });
}

/** Conditions read so far. */
interface Count {
  conditions: number;
}

function read(value: unknown, path: string, depth: number, count: Count): FilterTree {
  if (depth > DEPTH_MAX) throw new FilterError(path, `expected at most ${DEPTH_MAX} tables in one another`);
  if (++count.conditions > CONDITIONS_MAX)
    throw new FilterError(path, `expected at most ${CONDITIONS_MAX} conditions in all`);
  const entries = isTable(value) ? Object.entries(value) : [];
  const [entry] = entries;
  if (entry === undefined || entries.length > 1)
    throw new FilterError(path, `expected a table with one of ${WORDS.join(', ')}, got ${show(value)}`);
  const [word, given] = entry;
  const at = `${path}.${word}`;
  switch (word) {
    case 'and':
    case 'or':
      return { kind: word, parts: partsOf(given, at, depth, count) };
    case 'not':
      return { kind: 'not', part: read(given, at, depth + 1, count) };
    case 'label':
    case 'category':
      return { kind: word, names: namesOf(given, at) };
    case 'age_days':
      return { kind: 'ageDays', between: betweenOf(given, at) };
    default:
      throw new FilterError(at, `unknown condition; expected one of ${WORDS.join(', ')}`);
  }
}

function partsOf(given: unknown, at: string, depth: number, count: Count): FilterTree[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new FilterError(at, `expected a list of conditions, got ${show(given)}`);
  return given.map((part, number) => read(part, `${at}[${number}]`, depth + 1, count));
}

function namesOf(given: unknown, at: string): readonly string[] {
  const isOneOf = isTable(given) && Object.keys(given).join() === 'in';
  const names: unknown = isOneOf ? given.in : [given];
  const isNames = Array.isArray(names) && names.length > 0 && names.length <= CONDITIONS_MAX;
  if (!isNames || !names.every((name) => typeof name === 'string' && name !== ''))
    throw new FilterError(
      at,
      `expected a name or { in = [...] } with 1 to ${CONDITIONS_MAX} names, got ${show(given)}`,
    );
  return names;
}

function betweenOf(given: unknown, at: string): Between {
  const entries = isTable(given) ? Object.entries(given) : [];
  const isBounds = entries.every(
    ([word, bound]) =>
      (word === 'gt' || word === 'lt') && typeof bound === 'number' && Number.isFinite(bound),
  );
  if (entries.length === 0 || !isBounds)
    throw new FilterError(at, `expected { gt = NUMBER, lt = NUMBER } or one of both, got ${show(given)}`);
  return { gt: Number.NEGATIVE_INFINITY, lt: Number.POSITIVE_INFINITY, ...Object.fromEntries(entries) };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
