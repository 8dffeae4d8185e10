import { apiKeys } from '../../config/api-keys.ts';
import { baseUrl } from '../../config/base-url.ts';
import type { Config, Environment } from '../../config/config.ts';
import { ServiceClient } from '../../exchange/service-client.ts';
import { loadConfig } from './load-config.ts';
import { configFlags, type PlaceOptions } from './options.ts';

/** The key of a configuration that may do everything; empty where none is asked for. */
export function keyOf(config: Config): string {
  return apiKeys(config)[0] ?? '';
}

/** The service at an address, with the key of the configuration. @throws ConfigError when that is not valid */
export function serviceAt(url: string, config: string | undefined, env: Environment): ServiceClient {
  return new ServiceClient(url, keyOf(loadConfig({ path: config, env })));
}

/**
 * The service that is meant: the one at `--url`, the one that runs on the data folder and says there where it listens, or
 * the one that the configuration describes.
 * @throws ConfigError
 */
export async function findService(options: PlaceOptions, env: Environment): Promise<ServiceClient> {
  const config = loadConfig({ path: options.config, env, flags: configFlags({ data: options.data }) });
  const url = options.url ?? (await addressIn(config)) ?? addressOf(config);
  return new ServiceClient(url, keyOf(config));
}

async function addressIn(config: Config): Promise<string | undefined> {
  const { storePaths } = await import('../../store/open/store-options.ts');
  const { readAddress } = await import('../../store/lock/folder-lock.ts');
  return readAddress(storePaths(config).dataPath);
}

function addressOf({ server }: Config): string {
  return baseUrl({ protocol: server.ssl_cert === '' ? 'http' : 'https', ...server });
}
