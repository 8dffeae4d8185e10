/** Checks a configuration; each problem is one text with its path and what was expected. */
import { positiveKindNames } from '../domain/positive-feedback-types.ts';
import { apiKeys } from './api-keys.ts';
import { checkMeasures, checkRules } from './check-experiments.ts';
import type { EffectiveValue } from './environment-overrides.ts';
import {
  type ConfigKey,
  expectation,
  fits,
  holdsSecrets,
  isTable,
  type KeySchema,
  namedTable,
  show,
  shownValue,
  type Table,
} from './keys.ts';
import { NO_SPACE } from './list-space.ts';
import type { Config } from './schema.ts';

/** Nobody reads more problems than these. */
const PROBLEMS_MAX = 100;

/** Names keys of the file that there are none of, and sections that are no tables, some of very many. */
export function findUnknownKeys(schema: KeySchema, table: Table, prefix: string, problems: string[]): void {
  for (const [name, value] of Object.entries(table)) {
    if (problems.length >= PROBLEMS_MAX) return;
    const path = prefix + name;
    const properties = schema.properties as Readonly<Record<string, KeySchema>>;
    const child = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (child === undefined) {
      problems.push(`${path}: unknown key; expected one of ${Object.keys(properties).join(', ')}`);
    } else if (namedTable(child) !== undefined && isTable(value)) {
      for (const [own, keys] of Object.entries(value))
        if (isTable(keys)) findUnknownKeys(namedTable(child)!, keys, `${path}.${own}.`, problems);
    } else if (child.properties !== undefined) {
      if (isTable(value)) findUnknownKeys(child, value, `${path}.`, problems);
      else problems.push(`${path}: expected ${expectation(child)}, got ${show(value)}`);
    }
  }
}

/** Checks a value against its key, in the file's form. */
export function checkValue(key: ConfigKey, { value, source }: EffectiveValue, problems: string[]): boolean {
  if (fits(key.schema, value)) return true;
  const path = key.path.join('.');
  const where = source === 'environment' ? `${key.variable} (${path})` : path;
  const got = holdsSecrets(key.schema) ? 'something else' : show(shownValue(key.schema, value));
  problems.push(`${where}: expected ${expectation(key.schema)}, got ${got}`);
  return false;
}

/** Checks that concern several keys. */
export function checkRelations(config: Config, problems: string[]): void {
  const { server, recommend, node, database } = config;
  if (node.role !== 'all' && database.data_store.startsWith('lmdb:')) {
    problems.push(
      `node.role: expected "all" with database.data_store in a folder, which is one process's, got "${node.role}"`,
    );
  }
  if (database.model_store !== '' && database.data_store.startsWith('lmdb:'))
    problems.push('database.model_store: expected "" with database.data_store in a folder, got a bucket');
  const { ssl_cert, ssl_key } = server;
  if ((ssl_cert === '') !== (ssl_key === '')) {
    const [missing, given] = ssl_cert === '' ? ['ssl_cert', 'ssl_key'] : ['ssl_key', 'ssl_cert'];
    problems.push(`server.${missing}: expected a file beside server.${given}, got none`);
  }
  checkKeys(config, problems);
  if (server.default_n > server.max_n) {
    problems.push(
      `server.default_n: expected at most server.max_n (${server.max_n}), got ${server.default_n}`,
    );
  }
  const { vector_space } = recommend;
  const isNone = ['', NO_SPACE].includes(vector_space);
  if (!isNone && config.vectors[vector_space]?.similarity !== 'cosine')
    problems.push(
      `recommend.vector_space: expected the name of a space of [vectors] with similarity = "cosine", got ${show(vector_space)}`,
    );
  checkRules(config, problems);
  checkPositiveKinds(recommend.data_source.positive_feedback_types, problems);
  if (problems.length === 0) checkMeasures(config, recommend.data_source.positive_feedback_types, problems);
  const { popular, latest } = recommend.offline.explore_recommend;
  if (popular + latest > 1) {
    problems.push(
      `recommend.offline.explore_recommend: expected popular and latest together at most 1, got ${popular + latest}`,
    );
  }
}

/** Keys tell who asks, so each is of one holder; and where there is any, somebody owns the service. */
function checkKeys({ server, key }: Config, problems: string[]): void {
  const own = apiKeys({ server, key: {} });
  const { read_only_api_key } = server;
  const hasOwner = apiKeys({ server, key }).length > 0;
  if (read_only_api_key !== '' && !hasOwner)
    problems.push(
      'server.read_only_api_key: expected server.api_key or server.api_keys beside it, got neither',
    );
  if (read_only_api_key !== '' && own.includes(read_only_api_key))
    problems.push('server.read_only_api_key: expected a key that is not also one that may write');
  const known = new Set([...own, read_only_api_key]);
  for (const [name, { value, role }] of Object.entries(key)) {
    if (value === '') problems.push(`key.${name}.value: expected a key, got none`);
    else if (known.has(value)) problems.push(`key.${name}.value: expected a key that no other is`);
    if (!hasOwner)
      problems.push(`key.${name}.role: expected a key with the role "own" beside it, got "${role}" alone`);
    known.add(value);
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
