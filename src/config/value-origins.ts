import { parse } from 'smol-toml';
import type { ConfigEntry } from '../domain/admin-schemas.ts';
import { defaultConfig } from './config.ts';
import { effectiveValue } from './environment-overrides.ts';
import { CONFIG_KEYS, encodeValue, lookUp, shownValue } from './keys.ts';
import type { Config } from './schema.ts';
import { type Environment, withoutInjected } from './variable-names.ts';
import { MASK } from './without-user-info.ts';

export interface ConfigOrigin {
  /** Path of the file, `""` when there is none. */
  readonly file: string;
  readonly text: string;
  readonly env: Environment;
  /** Variables that the command line has set, and which are in `env`, too. */
  readonly flags: readonly string[];
}

export const NO_ORIGIN: ConfigOrigin = { file: '', text: '', env: {}, flags: [] };

/** Every key with its value, its default and where the value comes from; secrets are masked. */
export function describeConfig(config: Config, { text, env, flags }: ConfigOrigin): ConfigEntry[] {
  const file: unknown = parse(text);
  const variables = withoutInjected(env);
  const usual = defaultConfig();
  return CONFIG_KEYS.map((key) => {
    const { path, variable, schema } = key;
    const value = encodeValue(schema, lookUp(config, path));
    const shown = JSON.stringify(shownValue(schema, value));
    // Written as values are: a duration has one form.
    const Default = JSON.stringify(shownValue(schema, encodeValue(schema, lookUp(usual, path))));
    const { source } = effectiveValue(key, file, variables);
    // A command such as `playground` sets some by itself.
    const isOfCommand = flags.includes(variable) || (source === 'default' && shown !== Default);
    return {
      Key: path.join('.'),
      Value: schema.secret && String(value) !== '' ? MASK : shown,
      Default,
      Source: isOfCommand ? 'command line' : source,
      Variable: variable,
      Description: schema.description ?? '',
    };
  });
}
