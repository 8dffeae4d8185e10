import { createHash } from 'node:crypto';
import { CONFIG_KEYS, decodeValue, isTable, lookUp, namedTable } from './keys.ts';
import type { Config } from './schema.ts';

/** Sections that lists go by, so that they are the same on all nodes that share the data. None holds secrets. */
const SHARED: readonly string[] = ['recommend', 'placement', 'vectors', 'experiment'];

/** The keys that all nodes are to agree about, where they are not at their defaults, each with a digest of its value. */
export function sharedSettings(config: Config): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { path, schema } of CONFIG_KEYS) {
    const name = path.join('.');
    // How often something is done does not change what comes of it.
    if (!SHARED.includes(path[0]!) || name.endsWith('_period')) continue;
    const value = lookUp(config, path);
    if (namedTable(schema) !== undefined)
      for (const [each, table] of Object.entries(value as object)) found[`${name}.${each}`] = digest(table);
    else if (textOf(value) !== textOf(decodeValue(schema, schema.default))) found[name] = digest(value);
  }
  return found;
}

function digest(value: unknown): string {
  return createHash('sha256').update(textOf(value)).digest('hex').slice(0, 16);
}

/** JSON in which tables have their keys in order. */
function textOf(value: unknown): string {
  const inOrder = (_: string, each: unknown) =>
    isTable(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each;
  return JSON.stringify(value, inOrder);
}
