import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Environment } from '../../config/config.ts';
import { hasSignsInPassword } from '../../config/without-user-info.ts';
import { folderOf } from '../../store/dsn.ts';
import { UsageError } from './exit-status.ts';
import { CONFIG_FILE, loadConfig } from './load-config.ts';

/** Makes what reads a number of an option. @throws InvalidArgumentError for a text that is none or does not fit */
export function numberOption(expected: string, fits: (value: number) => boolean = Number.isFinite) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !fits(value)) throw new InvalidArgumentError(`expected ${expected}`);
    return value;
  };
}

export const parseNumber = numberOption('a number');
export const parsePort = numberOption(
  'an integer from 0 to 65535',
  (port) => Number.isInteger(port) && port >= 0 && port <= 65535,
);
/** Of a service whose address is told before it listens. */
export const parseKnownPort = numberOption(
  'an integer from 1 to 65535',
  (port) => Number.isInteger(port) && port >= 1 && port <= 65535,
);

/** Reads the address of a service, without a slash at its end. @throws InvalidArgumentError */
function parseUrl(text: string): string {
  let protocol = '';
  try {
    ({ protocol } = new URL(text));
  } catch {
    // Told below.
  }
  if ((protocol !== 'http:' && protocol !== 'https:') || hasSignsInPassword(text))
    throw new InvalidArgumentError('expected an address such as http://127.0.0.1:8087');
  return text.replace(/\/+$/, '');
}

/** Longest wait of a command for another process that has its folders. */
const LOCK_WAIT_SECONDS = 10;

/** `--lock-wait`, of every command that writes; its value is `lockWait`, in seconds. */
export function lockWaitOption(): Option {
  return new Option(
    '--lock-wait <seconds>',
    'how long to wait for another process that is about to let go of the folders',
  )
    .argParser(
      numberOption('a number of seconds from 0 to 86400', (seconds) => seconds >= 0 && seconds <= 86_400),
    )
    .default(LOCK_WAIT_SECONDS);
}

/** Which folder or which service a command is for. */
export interface PlaceOptions {
  readonly data?: string;
  readonly url?: string;
  readonly config?: string;
}

const DATA_HELP = 'the data folder; that of the configuration when absent';

/** `--config` and `--data`, of every command for a folder; with `hasUrl` also `--url`, for the service in its place. */
export function addPlaceOptions(
  command: Command,
  { data = DATA_HELP, hasUrl = false }: { readonly data?: string; readonly hasUrl?: boolean } = {},
): Command {
  command.addOption(configOption()).option('-d, --data <folder>', data, parseFolder);
  if (!hasUrl) return command;
  return command.option(
    '-u, --url <url>',
    'ask a running service instead; its key is [server] api_key or FURZE_SERVER_API_KEY',
    parseUrl,
  );
}

/** The name of a folder. @throws InvalidArgumentError for none */
export function parseFolder(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('expected a folder');
}

/** `--config`, of every command that reads the configuration. */
export function configOption(): Option {
  return new Option(
    '-c, --config <file>',
    `configuration file (TOML); ${CONFIG_FILE} of the current folder when absent`,
  );
}

/** The data folder that a command is for: named itself, or by the configuration. @throws ConfigError */
export async function dataFolder({ data, config }: PlaceOptions, env: Environment): Promise<string> {
  if (data !== undefined) return data;
  return folderOf(loadConfig({ path: config, env }).database.data_store);
}

/** The folder that an argument or `--data` names. @throws UsageError when they name two */
export function oneFolder(folder: string | undefined, { data }: PlaceOptions): { readonly data?: string } {
  if (folder === undefined) return {};
  if (data !== undefined && data !== folder)
    throw new UsageError(`one folder at a time: the argument names ${folder}, --data ${data}`);
  return { data: folder };
}

/** Settings that several commands take from the command line instead of the configuration file. */
export interface ConfigFlags {
  readonly data?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly role?: string | undefined;
}

/** The command line as the variables that it stands for; the cache is in a folder below the data's. */
export function configFlags({ data, host, port, role }: ConfigFlags): Environment {
  return {
    ...(data !== undefined && {
      FURZE_DATABASE_DATA_STORE: `lmdb://${data}`,
      FURZE_DATABASE_CACHE_STORE: `lmdb://${join(data, 'cache')}`,
    }),
    ...(host !== undefined && { FURZE_SERVER_HOST: host }),
    ...(port !== undefined && { FURZE_SERVER_PORT: String(port) }),
    ...(role !== undefined && { FURZE_NODE_ROLE: role }),
  };
}
