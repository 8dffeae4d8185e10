import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const OWNER_ONLY = 0o700;

/**
 * The folder for what a command remembers until it is run again, which belongs to this user alone; made where it is absent.
 * `$XDG_STATE_HOME/furze`, by default `~/.local/state/furze` (XDG Base Directory Specification 0.8).
 * @returns undefined where there can be none, as for users without a home
 */
export function stateFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { XDG_STATE_HOME: named = '' } = env;
  // The specification has paths ignored that are not absolute.
  const path = join(isAbsolute(named) ? named : join(homedir(), '.local', 'state'), 'furze');
  try {
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY });
    accessSync(path, constants.W_OK);
    return path;
  } catch {
    return undefined;
  }
}
