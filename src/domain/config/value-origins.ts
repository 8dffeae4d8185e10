import { parse } from 'smol-toml';
import type { ConfigEntry } from '../admin-schemas.ts';
import { MASK } from '../mask-dsn.ts';
import type { Config, Environment } from './config.ts';
import { CONFIG_KEYS, encodeValue, shownValue } from './keys.ts';

/** Where a configuration was taken from. */
export interface ConfigOrigin {
  /** Path of the file, `""` when there is none. */
  readonly file: string;
  /** The file's text. */
  readonly text: string;
  readonly env: Environment;
  /** Variables that the command line has set, and which are in `env`, too. */
  readonly flags: readonly string[];
}

export const NO_ORIGIN: ConfigOrigin = { file: '', text: '', env: {}, flags: [] };

/** Whether requests must carry a key. */
export function asksForKey({ api_key, api_keys }: Config['server']): boolean {
  return [api_key, ...api_keys].some((key) => key !== '');
}

/** Every key with its value, its default and where the value comes from; secrets are masked. */
export function describeConfig(config: Config, { text, env, flags }: ConfigOrigin): ConfigEntry[] {
  const file: unknown = parse(text);
  return CONFIG_KEYS.map(({ path, variable, schema }) => {
    const value = encodeValue(schema, lookUp(config, path));
    const Source = flags.includes(variable)
      ? 'command line'
      : env[variable] !== undefined
        ? 'environment'
        : lookUp(file, path) !== undefined
          ? 'file'
          : 'default';
    return {
      Key: path.join('.'),
      Value: schema.secret && String(value) !== '' ? MASK : JSON.stringify(shownValue(schema, value)),
      Default: JSON.stringify(schema.default),
      Source,
      Variable: variable,
      Description: schema.description ?? '',
    };
  });
}

function lookUp(table: unknown, path: readonly string[]): unknown {
  let value = table;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
