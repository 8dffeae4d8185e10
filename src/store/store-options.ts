import { type Clock, systemClock } from '../domain/clock.ts';
import type { Config } from '../domain/config.ts';
import { limitsOf } from '../domain/config-limits.ts';
import type { Logger } from '../domain/log.ts';
import { folderOf } from './dsn.ts';
import type { StoreOptions, StorePaths } from './open-store.ts';

/** The folders that the configuration names. @throws FurzeError when a store is named in another form */
export function storePaths({ database }: Config): StorePaths {
  return { dataPath: folderOf(database.data_store), cachePath: folderOf(database.cache_store) };
}

/** How the configuration wants the stores opened. @param log told of failures that no answer shows in full */
export function storeOptions(config: Config, clock: Clock = systemClock, log?: Logger): StoreOptions {
  const { database, server, recommend } = config;
  const { positive_feedback_types, read_feedback_types } = recommend.data_source;
  return {
    ...storePaths(config),
    sync: database.sync,
    limits: limitsOf(config),
    autoInsertUser: server.auto_insert_user,
    autoInsertItem: server.auto_insert_item,
    positiveFeedbackTypes: positive_feedback_types,
    readFeedbackTypes: read_feedback_types,
    clock,
    onTrouble: (message, error) =>
      error === undefined ? log?.warn(message) : log?.error({ err: error }, message),
  };
}
