import { readFileSync } from 'node:fs';
import { type Config, ConfigError, type Environment, parseConfig, type Warn } from '../domain/config.ts';

/** Where the configuration comes from. */
export interface ConfigSource {
  /** A TOML file, relative to the working directory; defaults alone when undefined. */
  readonly path?: string | undefined;
  readonly env: Environment;
  /** Told of what is odd and stops nothing; standard error when absent. */
  readonly warn?: Warn;
}

/** Reads, checks and freezes the configuration. @throws ConfigError when the file cannot be read or is not valid */
export function loadConfig({ path, env, warn = warnOnStderr }: ConfigSource): Config {
  return parseConfig(path === undefined ? '' : readText(path), env, warn);
}

function warnOnStderr(message: string): void {
  process.stderr.write(`furze: warning: ${message}\n`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}
