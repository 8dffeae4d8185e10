import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { limitsOf } from '../../config/schema-server.ts';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { parseDuration } from '../../domain/duration.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import { folderOf, parseDsn } from '../dsn.ts';
import type { StoreOptions, StorePaths } from './open-store.ts';

/**
 * The folders that the configuration names: with the data in PostgreSQL, that of this node's replica; where nodes share their
 * lists, what this node keeps for itself lies below its data.
 * @throws FurzeError when a store is named in another form
 */
export function storePaths({ database }: Config): StorePaths {
  const data = parseDsn(database.data_store);
  const cache = parseDsn(database.cache_store);
  if (data.engine === 'redis')
    throw new FurzeError('INVALID_PARAMETER', 'Redis is no data_store: it may lose what it holds.');
  const dataPath = data.engine === 'lmdb' ? data.path : folderOf(database.replica);
  return { dataPath, cachePath: cache.engine === 'lmdb' ? cache.path : join(dataPath, 'cache') };
}

/** Options of the stores by the configuration. @param log told of failures that no answer shows in full */
export function storeOptions(config: Config, clock: Clock = systemClock, log?: Logger): StoreOptions {
  const { database, server, recommend } = config;
  const data = parseDsn(database.data_store);
  const cache = parseDsn(database.cache_store);
  const ttlMs = recommend.cache_expire;
  const { positive_feedback_types, read_feedback_types, repeated } = recommend.data_source;
  return {
    ...storePaths(config),
    sharedDatabase: data.engine === 'postgres' ? data : undefined,
    sharing: cache.engine === 'lmdb' ? undefined : { dsn: cache, ttlMs },
    behindMsMax: server.freshness === 'strict' ? 0 : parseDuration(server.freshness),
    sync: database.sync,
    limits: limitsOf(config),
    autoInsertUser: server.auto_insert_user,
    autoInsertItem: server.auto_insert_item,
    positiveFeedbackTypes: positive_feedback_types,
    readFeedbackTypes: read_feedback_types,
    repeatedTypes: Object.keys(repeated),
    vectorSpaces: config.vectors,
    clock,
    onTrouble: (message, error) =>
      error === undefined ? log?.warn(message) : log?.error({ err: error }, message),
  };
}

/**
 * True for a server over PostgreSQL, which needs no copy of what users do: it never learns, and asks for the users that it answers.
 * One that recommends what similar users like reads those users' feedback, too, and has a copy of everything.
 */
export function holdsAskedUsers({ node, database, recommend, placement }: Config): boolean {
  const fallbacks = [
    recommend.online.fallback_recommend,
    ...Object.values(placement).map((each) => each.fallback),
  ];
  const isUserBased =
    recommend.offline.enable_user_based_recommend || fallbacks.some((names) => names.includes('user_based'));
  return node.role === 'server' && parseDsn(database.data_store).engine === 'postgres' && !isUserBased;
}
