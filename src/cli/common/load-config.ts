import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, ConfigError, type Environment, parseConfig } from '../../config/config.ts';
import type { ConfigOrigin } from '../../config/value-origins.ts';
import { refuseDevice } from '../../platform/files/refuse-device.ts';
import { systemFault } from './system-fault.ts';

/** The file of the working directory that is read where none is named. */
export const CONFIG_FILE = 'furze.toml';

export interface ConfigSource {
  /** A TOML file, relative to the working directory; CONFIG_FILE, or defaults alone, when undefined. */
  readonly path?: string | undefined;
  readonly env: Environment;
  /** Settings of the command line, by environment variable; they go before the environment. */
  readonly flags?: Environment;
}

/** Reads, checks and freezes the configuration. @throws ConfigError when the file cannot be read or is not valid */
export function loadConfig(source: ConfigSource): Config {
  return loadConfigWithOrigin(source).config;
}

/** As `loadConfig`, with where each key was taken from. @throws ConfigError */
export function loadConfigWithOrigin({ path: given, env, flags = {} }: ConfigSource): {
  readonly config: Config;
  readonly origin: ConfigOrigin;
} {
  const path = given ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
  const text = path === undefined ? '' : readText(path);
  const said = Object.entries(flags).filter(([, value]) => value !== undefined);
  const all = { ...env, ...Object.fromEntries(said) };
  const file = path === undefined ? '' : resolve(path);
  const origin = { file, text, env: all, flags: said.map(([name]) => name) };
  try {
    return { config: parseConfig(text, all, warnOnStderr), origin };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((problem) => {
      if (problem.startsWith('not TOML')) return `${path} is ${problem}`;
      const [variable = ''] = problem.split(' ');
      return origin.flags.includes(variable) && variable in OPTIONS
        ? problem.replace(variable, OPTIONS[variable]!)
        : problem;
    });
    throw new ConfigError(isOfGorse(text) ? [...problems, GORSE_HINT] : problems);
  }
}

/** The options that stand for variables. */
const OPTIONS: Environment = { FURZE_SERVER_HOST: '--host', FURZE_DATABASE_DATA_STORE: '--data' };

const GORSE_HINT =
  'this is a configuration of Gorse: furze has no [master], and its stores are [database] data_store and cache_store ' +
  'as lmdb://PATH. Keep [recommend] and what `furze config --template` has of [server]; docs/migration.md goes key by key';

function isOfGorse(text: string): boolean {
  return (
    /^\s*\[master\]/m.test(text) ||
    /^\s*(data|cache)_store\s*=\s*"(mysql|postgres|mongodb|redis|sqlite|clickhouse)/m.test(text)
  );
}

function warnOnStderr(message: string): void {
  process.stderr.write(`furze: warning: ${message}\n`);
}

function readText(path: string): string {
  try {
    refuseDevice(path);
    return readFileSync(path, 'utf8');
  } catch (error) {
    const fault = systemFault(error, path);
    if (fault === undefined) throw error;
    throw new ConfigError([`the configuration ${fault}`]);
  }
}
