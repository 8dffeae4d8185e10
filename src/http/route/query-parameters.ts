import type { AskedModel } from '../../background/generation/given-models.ts';
import { parseDuration } from '../../domain/duration.ts';
import { checkId } from '../../domain/field-checks.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Limits } from '../../domain/request-limits.ts';
import type { ItemWishes, LabelBoost } from '../../recommend/catalogue/item-filter.ts';
import type { Discovery } from '../../recommend/models/feature-names.ts';
import { assignModel, type ModelParameter, parseFlag } from './model-parameters.ts';

/** The query parameters of all routes; a route names those it takes, and others are ignored. */
export type QueryName =
  | 'n'
  | 'offset'
  | 'cursor'
  | 'user-id'
  | 'category'
  | 'exclude'
  | 'label'
  | 'not-label'
  | 'boost'
  | 'placement'
  | 'discovery'
  | 'prefix'
  | 'q'
  | 'write-back-type'
  | 'write-back-delay'
  | 'by'
  | 'details'
  | ModelParameter;

/** The query of a request, checked. Parameters that the route does not take keep their defaults. */
export interface Query extends ItemWishes, AskedModel {
  readonly n: number;
  readonly offset: number;
  readonly cursor: string;
  readonly categories: readonly string[];
  readonly userId?: string;
  /** The prefix of ids; empty for all. */
  readonly prefix?: string;
  /** A text to search for. */
  readonly text?: string;
  /** The name of a placement. */
  readonly placement?: string;
  /** See `withDiscovery`. */
  readonly discovery?: Discovery;
  /** The name of a vector space. */
  readonly by?: string;
  readonly writeBackType?: string;
  readonly writeBackDelayMs?: number;
  /** True where feedback is asked for with how often it happened. */
  readonly details?: boolean;
}

type MutableQuery = { -readonly [K in keyof Query]: Query[K] };

const NONE: readonly never[] = [];

/** Parameters of which all count that are given, and how many may be. */
const REPEATED: Partial<Record<QueryName, number>> = { exclude: 1000, label: 16, 'not-label': 16, boost: 4 };
const BOOST_MIN = 0.001;
const BOOST_MAX = 1000;

/** Settings that a query is read with. */
export interface QueryRules {
  readonly defaultN: number;
  readonly limits: Limits;
}

/**
 * Reads a query string. An empty value counts as not given; of a repeated parameter the first counts, except
 * `category` and those of `REPEATED`, of which all do.
 * @param text the query as it came, still encoded and without the question mark
 * @throws FurzeError INVALID_PARAMETER
 */
export function parseQuery(text: string, names: readonly QueryName[], rules: QueryRules): Query {
  const query: MutableQuery = {
    n: rules.defaultN,
    offset: 0,
    cursor: '',
    categories: NONE,
    excluded: NONE,
    labels: NONE,
    notLabels: NONE,
    boosts: NONE,
  };
  if (text === '' || names.length === 0) return query;
  const plain = plainCount(text);
  if (plain >= 0 && plain <= rules.limits.nMax && names.includes('n')) {
    query.n = plain;
    return query;
  }
  let seen = 0;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const rawName = decodeQueryText(pair.slice(0, equals), 'query');
    const name = (rawName === 'Cursor' ? 'cursor' : rawName) as QueryName;
    const number = names.indexOf(name);
    if (number < 0) continue;
    const text = pair.slice(equals + 1);
    // A comma within an id is percent-encoded.
    const values = name === 'exclude' ? text.split(',') : [text];
    for (const encoded of values) {
      const value = decodeQueryText(encoded, name);
      const isRepeated = name === 'category' || name in REPEATED;
      if (value === '' || (!isRepeated && ((seen >> number) & 1) === 1)) continue;
      seen |= 1 << number;
      assign(query, name, value, rules.limits);
    }
  }
  return query;
}

/** The number of a query that is `n=` and a few digits, as that of most requests is; -1 for any other. */
function plainCount(text: string): number {
  const { length } = text;
  if (length < 3 || length > 11 || text.charCodeAt(0) !== 0x6e || text.charCodeAt(1) !== 0x3d) return -1;
  let count = 0;
  for (let at = 2; at < length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    count = count * 10 + digit;
  }
  return count;
}

function assign(query: MutableQuery, name: QueryName, value: string, limits: Limits): void {
  const id = () => checkId(value, name, limits, 'INVALID_PARAMETER');
  switch (name) {
    case 'n':
      query.n = parseCount(value, 'n', limits.nMax);
      return;
    case 'offset':
      query.offset = parseCount(value, 'offset', limits.offsetMax);
      return;
    case 'cursor':
      query.cursor = value;
      return;
    case 'category':
      query.categories = added(query.categories, id(), name, limits.labelsMax);
      return;
    case 'exclude':
      query.excluded = added(query.excluded, id(), name);
      return;
    case 'label':
      query.labels = added(query.labels, id(), name);
      return;
    case 'not-label':
      query.notLabels = added(query.notLabels, id(), name);
      return;
    case 'boost':
      query.boosts = added(query.boosts, parseBoost(value, limits), name);
      return;
    case 'placement':
      query.placement = id();
      return;
    case 'discovery':
      query.discovery = value === 'auto' ? value : parseShare(value, name);
      return;
    case 'prefix':
      query.prefix = id();
      return;
    case 'q':
      query.text = id();
      return;
    case 'by':
      query.by = id();
      return;
    case 'user-id':
      query.userId = id();
      return;
    case 'write-back-type':
      query.writeBackType = id();
      return;
    case 'write-back-delay':
      query.writeBackDelayMs = parseDelay(value);
      return;
    case 'details':
      query.details = parseFlag(value, name);
      return;
    default:
      assignModel(query, name, value, id);
  }
}

function parseShare(value: string, name: QueryName): number {
  const share = /^[\d.][\d.e-]*$/i.test(value) ? Number(value) : Number.NaN;
  if (!(share <= 1)) throw refusal(name, 'must be a number from 0 to 1, or auto');
  return share;
}

function added<T>(values: readonly T[], value: T, name: QueryName, countMax = REPEATED[name]!): readonly T[] {
  if (values.length === countMax) throw refusal(name, `must be given at most ${countMax} times`);
  return [...values, value];
}

/** A label and its factor, which stands behind the last colon. */
function parseBoost(value: string, limits: Limits): LabelBoost {
  const colon = value.lastIndexOf(':');
  const number = value.slice(colon + 1);
  const factor = /^\d+(\.\d+)?$/.test(number) ? Number(number) : Number.NaN;
  if (colon < 1 || !(factor >= BOOST_MIN && factor <= BOOST_MAX))
    throw refusal('boost', `must be a label, a colon and a factor from ${BOOST_MIN} to ${BOOST_MAX}`);
  return { label: checkId(value.slice(0, colon), 'boost', limits, 'INVALID_PARAMETER'), factor };
}

/** The longest write-back delay: a hundred years keep the timestamp within four digits of year. */
const DELAY_MS_MAX = 100 * 365 * 24 * 3_600_000;

function parseDelay(value: string): number {
  const delayMs = parseDuration(value);
  if (Number.isNaN(delayMs))
    throw refusal('write-back-delay', 'must be a duration with units such as 0h10m0s');
  if (delayMs > DELAY_MS_MAX) throw refusal('write-back-delay', 'must be at most a hundred years');
  return Math.round(delayMs);
}

function parseCount(value: string, name: string, most: number): number {
  const count = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw refusal(name, 'must be an integer from 0');
  if (count > most) throw refusal(name, `must be at most ${most}`);
  return count;
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

function refusal(path: string, message: string): FurzeError {
  return new FurzeError('INVALID_PARAMETER', `${path} ${message}.`, [{ path, message }]);
}
