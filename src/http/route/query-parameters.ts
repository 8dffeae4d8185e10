import type { AskedModel } from '../../background/generation/given-models.ts';
import { parseDuration } from '../../domain/duration.ts';
import { checkId } from '../../domain/field-checks.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Limits } from '../../domain/request-limits.ts';
import { FOLDS } from '../../model/part/given-model.ts';
import type { ItemWishes, LabelBoost } from '../../recommend/catalogue/item-filter.ts';
import type { Discovery } from '../../recommend/models/feature-names.ts';

/** A query parameter; a route names those it takes, and others are ignored. */
export type QueryName = keyof typeof READERS;

/** The query of a request, checked. Parameters that the route does not take keep their defaults. */
export interface Query extends ItemWishes, AskedModel {
  readonly n: number;
  readonly offset: number;
  /** Values of parameters that may be given several times, such as categories. */
  readonly listed: number;
  readonly cursor: string;
  readonly categories: readonly string[];
  readonly userId?: string;
  /** The prefix of ids; empty for all. */
  readonly prefix?: string;
  readonly text?: string;
  readonly placement?: string;
  /** The item that a page is about. */
  readonly item?: string;
  /** See `withDiscovery`. */
  readonly discovery?: Discovery;
  readonly by?: string;
  readonly version?: number;
  readonly variant?: string;
  readonly writeBackType?: string;
  readonly writeBackDelayMs?: number;
  /** True where feedback is asked for with how often it happened. */
  readonly details?: boolean;
}

type MutableQuery = { -readonly [K in keyof Query]: Query[K] };

const NONE: readonly never[] = [];

const BOOST_MIN = 0.001;
const BOOST_MAX = 1000;
/** Pieces that the file of a model of another tool may come in. */
const PIECES_MAX = 1000;
const PENALTY_MAX = 1e12;

/** Settings that a query is read with. */
export interface QueryRules {
  readonly defaultN: number;
  readonly limits: Limits;
}

/**
 * Reads a query string. An empty value counts as not given; of a repeated parameter the first counts, except
 * those that `all` reads.
 * @param text the query as it came, still encoded and without the question mark
 * @throws FurzeError INVALID_PARAMETER
 */
export function parseQuery(text: string, names: readonly QueryName[], rules: QueryRules): Query {
  const query: MutableQuery = {
    n: rules.defaultN,
    offset: 0,
    listed: 0,
    cursor: '',
    categories: NONE,
    excluded: NONE,
    labels: NONE,
    notLabels: NONE,
    boosts: NONE,
  };
  if (text === '' || names.length === 0) return query;
  let seen = 0;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const rawName = decodeQueryText(pair.slice(0, equals), 'query');
    const name = (rawName === 'Cursor' ? 'cursor' : rawName) as QueryName;
    const number = names.indexOf(name);
    if (number < 0) continue;
    const text = pair.slice(equals + 1);
    const { key, read, countMax } = READERS[name] as Reader;
    // A comma within an id is percent-encoded.
    const values = name === 'exclude' ? text.split(',') : [text];
    for (const encoded of values) {
      const value = decodeQueryText(encoded, name);
      if (value === '' || (countMax === undefined && ((seen >> number) & 1) === 1)) continue;
      seen |= 1 << number;
      const made = read(value, name, rules.limits);
      const given = query as Record<string, unknown>;
      if (countMax !== undefined) query.listed++;
      given[key] =
        countMax === undefined ? made : added(given[key] as [], made, name, countMax(rules.limits));
    }
  }
  return query;
}

function readId(value: string, name: string, limits: Limits): string {
  return checkId(value, name, limits, 'INVALID_PARAMETER');
}

function parseFlag(value: string, name: string): boolean {
  if (value !== 'true' && value !== 'false') throw refusal(name, 'must be true or false');
  return value === 'true';
}

function parseDiscovery(value: string, name: string): Discovery {
  if (value === 'auto') return value;
  const share = /^[\d.][\d.e-]*$/i.test(value) ? Number(value) : Number.NaN;
  if (!(share <= 1)) throw refusal(name, 'must be a number from 0 to 1, or auto');
  return share;
}

/** @param values those so far; only the first makes a list of its own, for there may be many */
function added(values: unknown[], value: unknown, name: string, countMax: number): unknown[] {
  if (values.length === countMax) throw refusal(name, `must be given at most ${countMax} times`);
  if (values.length === 0) return [value];
  values.push(value);
  return values;
}

/** A label and its factor, which stands behind the last colon. */
function parseBoost(value: string, name: string, limits: Limits): LabelBoost {
  const colon = value.lastIndexOf(':');
  const number = value.slice(colon + 1);
  const factor = /^\d+(\.\d+)?$/.test(number) ? Number(number) : Number.NaN;
  if (colon < 1 || !(factor >= BOOST_MIN && factor <= BOOST_MAX))
    throw refusal(name, `must be a label, a colon and a factor from ${BOOST_MIN} to ${BOOST_MAX}`);
  return { label: readId(value.slice(0, colon), name, limits), factor };
}

/** The longest write-back delay: a hundred years keep the timestamp within four digits of year. */
const DELAY_MS_MAX = 100 * 365 * 24 * 3_600_000;

function parseDelay(value: string, name: string): number {
  const delayMs = parseDuration(value);
  if (Number.isNaN(delayMs)) throw refusal(name, 'must be a duration with units such as 0h10m0s');
  if (delayMs > DELAY_MS_MAX) throw refusal(name, 'must be at most a hundred years');
  return Math.round(delayMs);
}

function parseCount(value: string, name: string, max: number): number {
  const count = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw refusal(name, 'must be an integer from 0');
  if (count > max) throw refusal(name, `must be at most ${max}`);
  return count;
}

function parsePiece(value: string, name: string): NonNullable<AskedModel['piece']> {
  const [, number, of, upload] = /^(\d{1,4}):(\d{1,4}):([\w-]{1,64})$/.exec(value) ?? [];
  const piece = { number: Number(number), of: Number(of), upload: upload! };
  if (piece.number >= 1 && piece.number <= piece.of && piece.of <= PIECES_MAX) return piece;
  throw refusal(name, `must be as 2:5:name, of at most ${PIECES_MAX} pieces`);
}

function parseFold(value: string, name: string): (typeof FOLDS)[number] {
  const fold = FOLDS.find((fold) => fold === value);
  if (fold === undefined) throw refusal(name, `must be one of ${FOLDS.join(', ')}`);
  return fold;
}

function parsePenalty(value: string, name: string): number {
  const number = /^[\d.][\d.e-]*$/i.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= PENALTY_MAX))
    throw refusal(name, `must be a number from 0 to ${PENALTY_MAX}`);
  return number;
}

function decodeQueryText(text: string, name: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw refusal(name, 'must be percent-encoded UTF-8');
  }
}

export function refusal(path: string, message: string): FurzeError {
  return new FurzeError('INVALID_PARAMETER', `${path} ${message}.`, [{ path, message }]);
}

/** Makes what a parameter gives to the query out of its value. */
type Read<Value> = (value: string, name: string, limits: Limits) => Value;

interface Reader {
  readonly key: keyof Query;
  readonly read: Read<unknown>;
  /** How often it may be given, where all its values count. */
  readonly countMax?: (limits: Limits) => number;
}

function first<Key extends keyof Query>(key: Key, read: Read<Query[Key]>): Reader {
  return { key, read };
}

type ListKey = 'categories' | keyof ItemWishes;

function all<Key extends ListKey>(
  key: Key,
  read: Read<Query[Key][number]>,
  countMax: number | ((limits: Limits) => number),
): Reader {
  return { key, read, countMax: typeof countMax === 'number' ? () => countMax : countMax };
}

const READERS = {
  n: first('n', (value, name, { nMax }) => parseCount(value, name, nMax)),
  offset: first('offset', (value, name, { offsetMax }) => parseCount(value, name, offsetMax)),
  cursor: first('cursor', (value) => value),
  'user-id': first('userId', readId),
  category: all('categories', readId, ({ labelsMax }) => labelsMax),
  exclude: all('excluded', readId, 1000),
  label: all('labels', readId, 16),
  'not-label': all('notLabels', readId, 16),
  boost: all('boosts', parseBoost, 4),
  placement: first('placement', readId),
  item: first('item', readId),
  version: first('version', (value, name) => parseCount(value, name, Number.MAX_SAFE_INTEGER)),
  variant: first('variant', readId),
  discovery: first('discovery', parseDiscovery),
  prefix: first('prefix', readId),
  q: first('text', readId),
  'write-back-type': first('writeBackType', readId),
  'write-back-delay': first('writeBackDelayMs', parseDelay),
  by: first('by', readId),
  details: first('details', parseFlag),
  // Of whoever puts a model of another tool.
  piece: first('piece', parsePiece),
  fold: first('fold', parseFold),
  regularization: first('regularization', parsePenalty),
  'unobserved-weight': first('unobservedWeight', parsePenalty),
  'judged-by': first('judgedBy', readId),
  use: first('isUsed', parseFlag),
};
