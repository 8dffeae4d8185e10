import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { type Checker, lazily } from '../domain/check-body.ts';
import { formatDuration, parseDuration } from '../domain/duration.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import { POSITIVE_KIND_PATTERN } from '../domain/positive-feedback-types.ts';
import { ConfigSchema } from './schema.ts';
import { variableOf } from './variable-names.ts';
import { MASK, withoutUserInfo } from './without-user-info.ts';

/** A schema as this module reads it: the JSON Schema words that schema.ts uses. */
export interface KeySchema {
  /** Absent where values of several types fit. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly items?: KeySchema;
  readonly additionalProperties?: KeySchema;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Least length of a duration, milliseconds. */
  readonly minimumMs?: number;
  /** Its greatest length. */
  readonly maximumMs?: number;
  readonly secret?: boolean;
  /** The name of a store, in which a password can stand. */
  readonly dsn?: boolean;
  /** Values in words, where the schema's own words do not tell them. */
  readonly form?: string;
}

export interface ConfigKey {
  /** Sections and name, as in `['server', 'port']`. */
  readonly path: readonly string[];
  /** The environment variable that overrides it, as in `FURZE_SERVER_PORT`. */
  readonly variable: string;
  readonly schema: KeySchema;
}

/** The schema's root, as plain JSON Schema. */
export const ROOT = ConfigSchema as unknown as KeySchema;

/** All keys in the order of the schema. */
export const CONFIG_KEYS: readonly ConfigKey[] = keysOf(ROOT, []);

function keysOf(schema: KeySchema, path: readonly string[]): ConfigKey[] {
  if (schema.properties === undefined) {
    return [{ path, variable: variableOf(path), schema }];
  }
  return Object.entries(schema.properties).flatMap(([name, child]) => keysOf(child, [...path, name]));
}

/** The keys of each table, where the key is a table of tables by names that the file makes up. */
export function namedTable(schema: KeySchema): KeySchema | undefined {
  return schema.additionalProperties?.properties && schema.additionalProperties;
}

/** True for a secret, and for tables with one among their keys. */
export function holdsSecrets(schema: KeySchema): boolean {
  const keys = Object.values((namedTable(schema) ?? schema).properties ?? {});
  return schema.secret === true || keys.some(({ secret }) => secret);
}

/** True when `value`, as the file writes it, fits the key's schema. */
export function fits(schema: KeySchema, value: unknown): boolean {
  if (schema.format === 'go-duration') {
    const { minimumMs = 0, maximumMs = Number.POSITIVE_INFINITY } = schema;
    const ms = typeof value === 'string' ? parseDuration(value) : Number.NaN;
    return ms >= minimumMs && ms <= maximumMs;
  }
  const known = schema as unknown as TSchema;
  if (Array.isArray(value) && value.length > LIST_LONG)
    return getOrPut(listCheckers, schema, lazily(known)).Check(value);
  return Check(known, value);
}

/** Entries beyond which a list is worth a generated validator: the general one takes milliseconds for a thousand. */
const LIST_LONG = 16;
const listCheckers = new Map<KeySchema, Checker<unknown>>();

const KEY_FORM = 'a key of printable ASCII without blanks around it';

/** Values of the key in words: `an integer from 0 to 65535`. */
export function expectation(schema: KeySchema): string {
  if (schema.form !== undefined) return schema.form;
  if (schema.enum !== undefined) return `one of ${schema.enum.map((name) => `"${name}"`).join(', ')}`;
  if (schema.format === 'go-duration') {
    const least = schema.minimumMs === undefined ? '' : `, at least ${formatDuration(schema.minimumMs)}`;
    const most = schema.maximumMs === undefined ? '' : ` and at most ${formatDuration(schema.maximumMs)}`;
    return `a duration such as "10s", "1h30m" or "72h"${least}${most}`;
  }
  switch (schema.type) {
    case 'object': {
      const [word] = schema.additionalProperties?.enum ?? [];
      return word === undefined ? 'a table' : `a table of feedback types, as in { purchase = "${word}" }`;
    }
    case 'array':
      if (schema.secret) return `a list without repetition, each entry ${KEY_FORM}`;
      return `a list without repetition, each entry ${expectation(schema.items as KeySchema)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      if (schema.secret) return `${KEY_FORM}, or "" for none`;
      if (schema.pattern === POSITIVE_KIND_PATTERN)
        return 'a type such as "like", "rating>=4" or "purchase=5"';
      if (schema.dsn && schema.default === '')
        return 'a bucket such as "s3://models/furze?region=eu-central-1", or "" for none';
      if (schema.pattern?.includes('A-Fa-f')) return 'a host name without a port, or "*"';
      if (schema.pattern?.startsWith('^[^')) return 'a host name or an address without blanks';
      if (schema.pattern?.includes('https?://')) return 'an origin such as "https://shop.example", or "*"';
      if (schema.dsn) return 'a store such as "lmdb://./data" or "postgres://me@host/database"';
      if (schema.pattern === '^lmdb://.+') return 'a store such as "lmdb://./data"';
      if (schema.pattern?.startsWith('^(strict')) return '"strict" or a duration such as "5s"';
      return schema.pattern === undefined && schema.default !== undefined
        ? 'a text'
        : 'a text that is not empty';
    default:
      return `${schema.type === 'integer' ? 'an integer' : 'a number'} from ${schema.minimum} to ${schema.maximum}`;
  }
}

/** From the file's form to the form of `Config`: durations become milliseconds. */
export function decodeValue(schema: KeySchema, value: unknown): unknown {
  return schema.format === 'go-duration' ? parseDuration(value as string) : value;
}

/** From the form of `Config` to the file's. */
export function encodeValue(schema: KeySchema, value: unknown): unknown {
  return schema.format === 'go-duration' ? formatDuration(value as number) : value;
}

/** A value as people may see it: secrets and passwords masked. */
export function shownValue(schema: KeySchema, value: unknown): unknown {
  if (schema.dsn) return typeof value === 'string' ? withoutUserInfo(value) : value;
  if (isTable(value) && holdsSecrets(schema)) {
    const entries = Object.entries(value);
    const schemaOf = (name: string) => schema.properties?.[name] ?? namedTable(schema) ?? {};
    return Object.fromEntries(entries.map(([name, each]) => [name, shownValue(schemaOf(name), each)]));
  }
  if (!schema.secret || value === '') return value;
  return Array.isArray(value) ? value.map((each) => shownValue(schema, each)) : MASK;
}

/** A table of the file, or a section of it. */
export type Table = Record<string, unknown>;

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Value at a key's path; undefined where there is none. */
export function lookUp(table: unknown, path: readonly string[]): unknown {
  let value = table;
  for (const name of path) value = isTable(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** A value as a problem quotes it. */
export function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
