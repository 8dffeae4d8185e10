import { parse, TomlError } from 'smol-toml';
import { positiveKindNames } from '../positive-feedback-types.ts';
import {
  type Environment,
  environmentOverride,
  unknownVariableWarnings,
  withoutInjected,
} from './environment.ts';
import {
  CONFIG_KEYS,
  type ConfigKey,
  decodeValue,
  encodeValue,
  expectation,
  fits,
  type KeySchema,
  ROOT,
  shownValue,
} from './keys.ts';
import type { Config } from './schema.ts';

export type { Environment } from './environment.ts';
export type { Config, DurationMs } from './schema.ts';

/** The configuration cannot be used; the message lists every problem with its path and what was expected. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A configuration of which any part may be missing. */
export type ConfigOverrides = DeepPartial<Config>;
type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

type Table = Record<string, unknown>;

/**
 * Reads a configuration file's text and lays the environment over it. What neither names has its default.
 * @param tomlText the file; empty for defaults alone
 * @param warn told of what is odd and stops nothing, such as an unknown variable
 * @throws ConfigError
 */
export function parseConfig(tomlText: string, env: Environment = {}, warn: Warn = () => {}): Config {
  let file: Table;
  try {
    file = parse(tomlText);
  } catch (error) {
    if (error instanceof TomlError) throw new ConfigError([`not TOML: ${placeOf(error)}`]);
    throw error;
  }
  const variables = withoutInjected(env);
  for (const warning of unknownVariableWarnings(variables)) warn(warning);
  return checkConfig(file, variables);
}

/** Told of one oddity, a sentence without a line end. */
export type Warn = (message: string) => void;

/** Where the text is not TOML and why. The error's own message quotes the lines, in which a secret can stand. */
function placeOf(error: TomlError): string {
  const reason = error.message.split('\n', 1)[0]!.replace('Invalid TOML document: ', '');
  return `line ${error.line}, column ${error.column}: ${reason}`;
}

/** The defaults with `overrides` over them (durations in milliseconds), checked like a file. @throws ConfigError */
export function defaultConfig(overrides: ConfigOverrides = {}): Config {
  return checkConfig(encodeTable(ROOT, overrides as Table), {});
}

function checkConfig(file: Table, env: Environment): Config {
  const problems: string[] = [];
  findUnknownKeys(ROOT, file, '', problems);
  const config: Table = {};
  for (const key of CONFIG_KEYS) {
    const value = rawValue(key, file, env, problems);
    if (value !== undefined) place(config, key.path, decodeValue(key.schema, value));
  }
  if (problems.length === 0) checkRelations(config as unknown as Config, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return freeze(config) as unknown as Config;
}

/** The key's value in the file's form, from the environment, the file or its default; undefined after a problem. */
function rawValue(key: ConfigKey, file: Table, env: Environment, problems: string[]): unknown {
  const override = environmentOverride(key, env);
  const value = override ?? lookUp(file, key.path) ?? key.schema.default;
  if (fits(key.schema, value)) return value;
  const where = override === undefined ? key.path.join('.') : `${key.variable} (${key.path.join('.')})`;
  const got = key.schema.secret ? 'something else' : show(shownValue(key.schema, value));
  problems.push(`${where}: expected ${expectation(key.schema)}, got ${got}`);
  return undefined;
}

function findUnknownKeys(schema: KeySchema, table: Table, prefix: string, problems: string[]): void {
  for (const [name, value] of Object.entries(table)) {
    const path = prefix + name;
    const properties = schema.properties as Readonly<Record<string, KeySchema>>;
    const child = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (child === undefined) {
      problems.push(`${path}: unknown key; expected one of ${Object.keys(properties).join(', ')}`);
    } else if (child.properties !== undefined) {
      if (isTable(value)) findUnknownKeys(child, value, `${path}.`, problems);
      else problems.push(`${path}: expected ${expectation(child)}, got ${show(value)}`);
    }
  }
}

/** What no single key's schema can say. */
function checkRelations(config: Config, problems: string[]): void {
  const { server, recommend, node, database } = config;
  if (node.role !== 'all' && database.data_store.startsWith('lmdb:')) {
    problems.push(
      `node.role: expected "all" with database.data_store in a folder, which is one process's, got "${node.role}"`,
    );
  }
  const { api_key, api_keys, read_only_api_key, ssl_cert, ssl_key } = server;
  if ((ssl_cert === '') !== (ssl_key === '')) {
    const [missing, given] = ssl_cert === '' ? ['ssl_cert', 'ssl_key'] : ['ssl_key', 'ssl_cert'];
    problems.push(`server.${missing}: expected a file beside server.${given}, got none`);
  }
  if (read_only_api_key !== '' && api_key === '' && api_keys.length === 0) {
    problems.push(
      'server.read_only_api_key: expected server.api_key or server.api_keys beside it, got neither',
    );
  }
  if (read_only_api_key !== '' && [api_key, ...api_keys].includes(read_only_api_key)) {
    problems.push('server.read_only_api_key: expected a key that is not also one that may write');
  }
  if (server.default_n > server.max_n) {
    problems.push(
      `server.default_n: expected at most server.max_n (${server.max_n}), got ${server.default_n}`,
    );
  }
  checkPositiveKinds(recommend.data_source.positive_feedback_types, problems);
  const { popular, latest } = recommend.offline.explore_recommend;
  if (popular + latest > 1) {
    problems.push(
      `recommend.offline.explore_recommend: expected popular and latest together at most 1, got ${popular + latest}`,
    );
  }
}

function checkPositiveKinds(entries: readonly string[], problems: string[]): void {
  const place = 'recommend.data_source.positive_feedback_types';
  try {
    const names = positiveKindNames(entries);
    const again = names.find((name, at) => names.indexOf(name) !== at);
    if (again !== undefined) problems.push(`${place}: expected ${show(again)} once, got it twice`);
  } catch {
    problems.push(`${place}: expected weights above 0, got ${show(entries)}`);
  }
}

function lookUp(file: Table, path: readonly string[]): unknown {
  let value: unknown = file;
  for (const name of path) value = isTable(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

function place(config: Table, path: readonly string[], value: unknown): void {
  let table = config;
  for (const name of path.slice(0, -1)) table = (table[name] ??= {}) as Table;
  table[path.at(-1) as string] = value;
}

function encodeTable(schema: KeySchema, table: Table): Table {
  const encoded: Table = {};
  for (const [name, value] of Object.entries(table)) {
    const child = schema.properties?.[name];
    if (child === undefined) encoded[name] = value;
    else if (isTable(value)) encoded[name] = encodeTable(child, value);
    else if (value !== undefined) encoded[name] = encodeValue(child, value);
  }
  return encoded;
}

function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A deep-frozen copy, so that the defaults in the schema stay apart. */
function freeze(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(freeze));
  if (!isTable(value)) return value;
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, child]) => [name, freeze(child)])),
  );
}
