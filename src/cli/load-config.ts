import { readFileSync } from 'node:fs';
import { type Config, ConfigError, type Environment, parseConfig } from '../domain/config.ts';

/** Where the configuration comes from. */
export interface ConfigSource {
  /** A TOML file, relative to the working directory; defaults alone when undefined. */
  readonly path?: string | undefined;
  readonly env: Environment;
}

/** Reads, checks and freezes the configuration. @throws ConfigError when the file cannot be read or is not valid */
export function loadConfig({ path, env }: ConfigSource): Config {
  return parseConfig(path === undefined ? '' : readText(path), env);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}
