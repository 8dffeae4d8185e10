import { parse, TomlError } from 'smol-toml';
import { checkMeasures, checkRules, type Rules } from './check-experiments.ts';
import { checkRelations, checkValue, findUnknownKeys } from './checks.ts';
import { type EffectiveValue, effectiveValue, unknownVariableWarnings } from './environment-overrides.ts';
import {
  CONFIG_KEYS,
  type ConfigKey,
  decodeValue,
  encodeValue,
  isTable,
  type KeySchema,
  namedTable,
  ROOT,
  type Table,
} from './keys.ts';
import type { Config } from './schema.ts';
import { type Environment, withoutInjected } from './variable-names.ts';

export type { Rules } from './check-experiments.ts';
export type { Config } from './schema.ts';
export type { Environment } from './variable-names.ts';

/** The configuration cannot be used; the message lists every problem with its path and what was expected. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

export type ConfigOverrides = DeepPartial<Config>;
type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

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
    const effective = effectiveValue(key, file, env);
    if (namedTable(key.schema) !== undefined) takeNamed(key, effective, config, problems);
    else if (checkValue(key, effective, problems))
      place(config, key.path, decodeValue(key.schema, effective.value));
  }
  if (problems.length === 0) checkRelations(config as unknown as Config, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return freeze(config) as unknown as Config;
}

/** Placements and experiments in the file's form. */
export type GivenRules = Readonly<Record<keyof Rules, Table>>;

/**
 * Placements and experiments of the configuration with others beside them, checked together; one of the configuration goes before
 * another of its name.
 * @param positive `positive_feedback_types`, of which measures are
 * @throws ConfigError
 */
export function withRules(rules: Rules, given: GivenRules, positive: readonly string[]): Rules {
  const problems: string[] = [];
  const config: Table = {};
  for (const key of CONFIG_KEYS) {
    const kind = key.path[0] as keyof Rules;
    if (!Object.hasOwn(rules, kind)) continue;
    const others = Object.entries(given[kind]).filter(([name]) => !Object.hasOwn(rules[kind], name));
    const value = Object.fromEntries(others);
    findUnknownKeys(ROOT, { [kind]: value }, '', problems);
    takeNamed(key, { value, source: 'file' }, config, problems);
    Object.assign(config[kind] as Table, rules[kind]);
  }
  if (problems.length === 0) checkRules(config as unknown as Rules, problems);
  if (problems.length === 0) checkMeasures(config as unknown as Rules, positive, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return freeze(config) as unknown as Rules;
}

/** Names of tables that the file makes up. */
const NAME = /^[a-z][\w-]*$/i;

/** What tables stand for that were found right: with each change of a rule all others are taken again. */
const taken = new WeakMap<Table, unknown>();

/** Takes the tables of a key whose tables have names of the file's own, each with its defaults. */
function takeNamed(
  { path, schema, variable }: ConfigKey,
  { value, source }: EffectiveValue,
  config: Table,
  problems: string[],
): void {
  place(config, path, {});
  if (!isTable(value)) {
    checkValue({ path, schema, variable }, { value, source }, problems);
    return;
  }
  const keys = namedTable(schema)!;
  for (const [name, table] of Object.entries(value)) {
    const at = [...path, name];
    if (!NAME.test(name)) {
      problems.push(
        `${at.join('.')}: expected a name of letters, digits, "-" and "_" that begins with a letter`,
      );
      continue;
    }
    if (!isTable(table)) {
      checkValue({ path: at, schema: keys, variable }, { value: table, source }, problems);
      continue;
    }
    const known = taken.get(table);
    if (known !== undefined) {
      place(config, at, known);
      continue;
    }
    const before = problems.length;
    if (source === 'environment') findUnknownKeys(keys, table, `${at.join('.')}.`, problems);
    const own: Table = {};
    for (const [word, child] of Object.entries(keys.properties!)) {
      const given = { value: table[word] ?? child.default, source };
      const key = { path: [...at, word], schema: child, variable };
      if (checkValue(key, given, problems)) own[word] = decodeValue(child, given.value);
    }
    const frozen = freeze(own);
    place(config, at, frozen);
    if (problems.length === before) taken.set(table, frozen);
  }
}

function place(config: Table, path: readonly string[], value: unknown): void {
  let table = config;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(table, name)) table[name] = {};
    table = table[name] as Table;
  }
  table[path.at(-1) as string] = value;
}

function encodeTable(schema: KeySchema, table: Table): Table {
  const encoded: Table = {};
  for (const [name, value] of Object.entries(table)) {
    const child = schema.properties?.[name] ?? namedTable(schema);
    if (child === undefined) encoded[name] = value;
    else if (isTable(value)) encoded[name] = encodeTable(child, value);
    else if (value !== undefined) encoded[name] = encodeValue(child, value);
  }
  return encoded;
}

/** A deep-frozen copy, so that the defaults in the schema stay apart; what is one already stays it. */
function freeze(value: unknown): unknown {
  if (Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(freeze));
  if (!isTable(value)) return value;
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, child]) => [name, freeze(child)])),
  );
}
