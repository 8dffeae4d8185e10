/** Environment variables that override keys of the configuration file, and the warning about those that name no key. */

import { CONFIG_KEYS, type ConfigKey, type KeySchema, lookUp, namedTable } from './keys.ts';
import { type Environment, VARIABLE_PREFIX } from './variable-names.ts';

const KNOWN: ReadonlySet<string> = new Set(CONFIG_KEYS.map((key) => key.variable));

/** A warning for each variable that looks like ours and is none, such as one whose name is misspelled. */
export function unknownVariableWarnings(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && !KNOWN.has(name))
    .map(
      (name) =>
        `${name}: unknown environment variable, not used; expected ${VARIABLE_PREFIX} with a section and a key, such as FURZE_SERVER_PORT`,
    );
}

/** A key's value in the file's form, and where it was found. */
export interface EffectiveValue {
  readonly value: unknown;
  readonly source: 'environment' | 'file' | 'default';
}

/** Applies the overrides: a variable goes before the file, and the file before the default. */
export function effectiveValue(
  { path, variable, schema }: ConfigKey,
  file: unknown,
  env: Environment,
): EffectiveValue {
  const text = env[variable];
  if (text !== undefined) return { value: readVariable(schema, text), source: 'environment' };
  const value = lookUp(file, path);
  return value === undefined ? { value: schema.default, source: 'default' } : { value, source: 'file' };
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** `purchase=count` as name and word. */
function pairOf(entry: string): [name: string, word: string] {
  const at = entry.lastIndexOf('=');
  return at < 0 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)];
}

/** The value that the JSON stands for; other text comes back as it is. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Reads an environment variable's text in the key's type; text that has another form comes back as it is, to be refused. */
function readVariable(schema: KeySchema, text: string): unknown {
  switch (schema.type) {
    case 'array':
      return listOf(text);
    case 'object':
      if (namedTable(schema) !== undefined) return jsonOf(text);
      return Object.fromEntries(listOf(text).map((entry) => pairOf(entry)));
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case undefined:
    case 'integer':
    case 'number':
      return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
    default:
      return text;
  }
}
