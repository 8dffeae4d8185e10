import { hostname } from 'node:os';
import type { Config } from '../../config/config.ts';
import { sharedSettings } from '../../config/shared-settings.ts';
import { type Clock, steadyClock } from '../../domain/clock.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { Teardown } from '../../platform/process/teardown.ts';
import { VERSION } from '../../platform/program/version.ts';
import type { Cluster, NodeFacts, Questions } from '../cluster.ts';
import { type PostgresDsn, parseS3 } from '../dsn.ts';
import type { ObjectPlace } from '../model-store.ts';
import type { ShownLog } from '../shown-log.ts';
import {
  guardFiles,
  keeping,
  lockStores,
  NodeSession,
  openReadyStore,
  openShownLog,
  PostgresQuestions,
  type StorePaths,
  type Stores,
  tagOf,
} from './open-store.ts';
import { holdsAskedUsers, storeOptions, storePaths } from './store-options.ts';

export interface StartedStores extends Stores {
  readonly paths: StorePaths;
  readonly shownLog: ShownLog;
  /** The nodes that share the data, and where it is; undefined for an embedded store. */
  readonly cluster: Cluster | undefined;
  readonly questions: Questions | undefined;
  readonly sharedDatabase: PostgresDsn | undefined;
  readonly objects: ObjectPlace | undefined;
  /** Notes that all is read that is needed to serve. @param url where it is asked, without a path */
  readonly noteReady: (url: string) => void;
}

export interface StartOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** Longest wait for another process to let go of the folders, milliseconds. */
  readonly lockWaitMs: number;
  /** Ends the start when it is aborted, with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Locks the folders that the configuration names, looks over their files and opens them.
 * @throws OperatorError when another process has the folders, Error when a store cannot be opened
 */
export async function startStores(
  config: Config,
  { log, clock, lockWaitMs, signal }: StartOptions,
  teardown: Teardown,
): Promise<StartedStores> {
  const paths = storePaths(config);
  const options = { ...storeOptions(config, clock, log), isPartial: holdsAskedUsers(config) };
  const { sharedDatabase } = options;
  const lockLog = {
    weak: (reason: string) => log.warn(reason),
    waiting: (reason: string) => log.info({ reason }, 'waiting for another process to stop'),
  };
  const locks = await lockStores(paths, lockWaitMs, lockLog, signal);
  teardown.add(() => locks.cache.release());
  teardown.add(() => locks.data.release());
  const { diedStarting, died } = locks.data;
  if (diedStarting)
    log.warn('the last process died while it was starting; both stores are read as a whole first');
  else if (died !== undefined)
    log.warn(
      { holder: died },
      'the last process ended without stopping in order: it was killed, or the machine went down, or it met a damaged page ' +
        '(SIGBUS, SIGSEGV, SIGABRT), which "furze check" finds; nothing that was answered is lost',
    );
  const isAnyForeign = !diedStarting && (locks.data.isForeign || locks.cache.isForeign);
  if (isAnyForeign)
    log.info(
      'a store is not as the last process left it, as one that was copied; it is read as a whole first',
    );
  locks.data.noteStarting();
  const toRead = (['data', 'cache'] as const).filter((kind) => diedStarting || locks[kind].isForeign);
  await guardFiles({ ...paths, toRead, isReplica: sharedDatabase !== undefined, signal }, (message) =>
    log.error(message),
  );
  const stores = await openReadyStore(options, locks, tellProgress(log, signal));
  const { data, cache, sharedLists } = stores;
  teardown.add(() => cache.close());
  teardown.add(() => data.close());
  const { retention_days, max_mb } = config.attribution;
  const bounds = { retentionMs: retention_days * DAY_MS, bytesMax: max_mb * 2 ** 20 };
  const shownLog = await openShownLog(options, bounds, stores.identity);
  teardown.add(() => shownLog.close());
  const modelStore = parseS3(config.database.model_store);
  const objects = modelStore && { dsn: modelStore, tag: tagOf(stores.identity) };
  const position = () => data.barrier?.position ?? 0;
  const keepObjects = objects && keeping(objects, options.onTrouble);
  const joining = { facts: nodeFacts(config), position, keepObjects };
  const cluster = sharedDatabase && new NodeSession({ dsn: sharedDatabase, ...joining });
  if (cluster !== undefined) teardown.add(() => cluster.close());
  await cluster?.start();
  const questions = sharedDatabase && new PostgresQuestions(sharedDatabase);
  if (questions !== undefined) teardown.add(() => questions.close());
  const noteReady = (url: string) => {
    locks.data.noteReady(url);
    // From here on other nodes' writes are taken in.
    void data.barrier?.pass();
  };
  const joined = { cluster, questions, sharedDatabase, objects };
  return { ...stores, shownLog, paths: { ...paths, sharedLists }, ...joined, noteReady };
}

const DAY_MS = 86_400_000;

function nodeFacts(config: Config): NodeFacts {
  const { name, role } = config.node;
  return { name: name || hostname(), role, version: VERSION, settings: sharedSettings(config) };
}

/** Period in which a replica that is made tells its progress. */
const TELL_MS = 5000;

function tellProgress(log: Logger, signal: AbortSignal): (records: number) => void {
  let toldMs = steadyClock();
  return (records) => {
    signal.throwIfAborted();
    if (steadyClock() - toldMs < TELL_MS) return;
    toldMs = steadyClock();
    log.info({ records }, 'copying the data from PostgreSQL');
  };
}
