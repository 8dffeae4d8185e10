import { ConfigError, parseConfig } from '../../src/config/config.ts';

/** What is wrong with a configuration; nothing where it can be read. */
export function problemsOf(toml: string, env: Record<string, string> = {}): readonly string[] {
  try {
    parseConfig(toml, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
