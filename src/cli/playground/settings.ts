import { join } from 'node:path';
import { type Config, type Environment, parseConfig } from '../../config/config.ts';

/** Where a playground runs. */
export interface PlaygroundPlace {
  /** Absolute path of its data folder. */
  readonly folder: string;
  readonly host: string;
  readonly port: number;
}

/**
 * The playground's configuration: the defaults, fitted to the sample; the environment goes before it.
 * @throws ConfigError
 */
export function playgroundConfig({ folder, host, port }: PlaygroundPlace, env: Environment): Config {
  const quote = (text: string) => JSON.stringify(text);
  return parseConfig(
    `
[database]
data_store = ${quote(`lmdb://${folder}`)}
cache_store = ${quote(`lmdb://${join(folder, 'cache')}`)}
# The sample can be loaded again, so its load need not wait for the disk at each batch.
sync = "commit"

[server]
host = ${quote(host)}
port = ${port}

[recommend.data_source]
positive_feedback_types = ["like"]
read_feedback_types = ["read"]

[recommend.popular]
# The ratings are from 2013; a window of a hundred years takes them all.
popular_window = "876000h"

[recommend.online]
fallback_recommend = ["item_based", "popular", "latest"]

[log]
# What the playground prints is for a person; only trouble is logged.
level = "warn"
`,
    env,
  );
}
