import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { baseUrl } from '../../config/base-url.ts';
import { type Config, type Environment, parseConfig } from '../../config/config.ts';
import type { Summary } from '../../domain/admin-schemas.ts';
import type { Item, ScoredEntry } from '../../domain/entities.ts';
import { makeFolder } from '../../platform/files/make-folder.ts';
import { serviceLogger } from '../../platform/log/log.ts';
import type { Service } from '../../service/service.ts';
import { parseDsn } from '../../store/dsn.ts';
import { keyOf } from '../common/find-service.ts';
import { lockWaitOption, parsePort } from '../common/options.ts';
import { createProgress } from '../common/progress.ts';
import { checkReason, launchService, stopSignal, stopWithin } from '../common/run-service.ts';
import { type Caller, createCaller, neighborsPath, recommendPath } from './caller.ts';
import { loadSample, type OnProgress } from './load-sample.ts';
import { readSample, type Sample } from './sample.ts';
import { type Film, pickTaste, type Taste } from './tour-user.ts';

/** `furze playground`: the service with a real sample set, trained, and requests to try. */
export function playgroundCommand(env: Environment): Command {
  return new Command('playground')
    .description('run the service on a sample of 100,000 film ratings')
    .option('-d, --data <folder>', 'where the playground keeps its data', './playground-data')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('-p, --port <port>', 'port to listen on; 0 takes a free one', parsePort, 8087)
    .addOption(lockWaitOption())
    .addHelpText('after', '\nExample:\n  furze playground --port 8088 --data ./films')
    .action(async (options: { data: string; host: string; port: number; lockWait: number }) => {
      const folder = resolve(options.data);
      const config = playgroundConfig({ folder, host: options.host, port: options.port }, env);
      await runPlayground(folder, config, options.lockWait);
    });
}

async function runPlayground(folder: string, config: Config, lockWait: number): Promise<void> {
  const log = serviceLogger(config.log);
  const stopped = stopSignal(log);
  const service = await launchService({ config, log, lockWait, stopped });
  if (service === undefined) return checkReason(await stopped);
  const url = baseUrl(service.address);
  const key = keyOf(config);
  const ask = createCaller(url, key);
  try {
    let taste = readLoaded(folder);
    if (taste === undefined) {
      // The load takes a while; a signal does not wait for its end.
      const prepared = prepare(service, ask, folder, config);
      taste = await Promise.race([prepared, stopped.then(() => undefined)]);
      if (taste === undefined) {
        prepared.catch(() => {});
        return checkReason(await stopped);
      }
    } else {
      process.stdout.write(`Using the sample in ${folder}.\n`);
    }
    process.stdout.write(await describeTour(ask, url, key !== '', taste));
    await stopped;
  } finally {
    process.stdout.write('Stopping.\n');
    await stopWithin(service, config.server.shutdown_timeout, log);
  }
  checkReason(await stopped);
}

/** Loads the sample and trains on it. What says so comes last, so an interrupted load is done again at the next start. */
async function prepare(service: Service, ask: Caller, folder: string, config: Config): Promise<Taste> {
  const progress = createProgress(process.stdout);
  const sample = readSample();
  await loadSample(service.data, sample, progress.report);
  // Of nodes that share the data, any may be the one that learns.
  if (parseDsn(config.database.data_store).engine === 'postgres')
    await awaitLearned(ask, sample, progress.report);
  else await service.fit(progress.report);
  progress.end();
  const taste = await pickTaste(sample, {
    recommended: (userId, genre) => ask<string[]>(recommendPath(userId, TOUR_ENTRIES, genre)),
    likeness: async (itemId) => {
      const neighbors = await ask<ScoredEntry[]>(neighborsPath(itemId, TOUR_ENTRIES));
      return neighbors.map(({ Score }) => Score);
    },
  });
  makeFolder(folder);
  writeLoaded(folder, taste);
  return taste;
}

/** Where a playground runs. */
interface PlaygroundPlace {
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

const LOOK_MS = 500;
/** Looks from one asking for a fit to the next. */
const LOOKS_AN_ASKING = 10;

/**
 * Has the node that leads learn from the sample, and waits until this one serves what it has learned.
 * @throws Error when no node leads
 */
async function awaitLearned(
  ask: Caller,
  { feedback }: Pick<Sample, 'feedback'>,
  onProgress: OnProgress,
): Promise<void> {
  const likes = feedback.filter(({ FeedbackType }) => FeedbackType === 'like');
  const users = new Set(likes.map(({ UserId }) => UserId)).size;
  const items = new Set(likes.map(({ ItemId }) => ItemId)).size;
  const stage = 'learning, by the node that leads';
  onProgress(stage, 0, 1);
  for (let looks = 0; ; looks++) {
    const { Model } = await ask<Summary>('/api/admin/summary');
    if (Model !== undefined && Model.Users >= users && Model.Items >= items) break;
    // What was begun before all of the sample was there must be followed by another; to ask for one that runs changes nothing.
    if (looks % LOOKS_AN_ASKING === 0) await ask('/api/admin/fit', 'POST');
    await delay(LOOK_MS);
  }
  onProgress(stage, 1, 1);
}

/** Beside the stores: says that the sample is loaded and trained, and whom the tour is about. */
const FILE = 'playground.json';

/** The mark of the last finished load, or undefined when there is none. */
function readLoaded(folder: string): Taste | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Taste;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Notes it, whole or not at all. */
function writeLoaded(folder: string, taste: Taste): void {
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(taste, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/** Entries in each list of the tour. */
const TOUR_ENTRIES = 5;

/**
 * Things to try: three requests to paste, and the present answer of the first.
 * @param url the service's address without a path
 * @param withKey true when the requests must send the key
 */
async function describeTour(ask: Caller, url: string, withKey: boolean, taste: Taste): Promise<string> {
  const { userId, genre, likedItemId } = taste;
  const recommend = recommendPath(userId, TOUR_ENTRIES, genre);
  const popularOfIt = `/api/popular/${encodeURIComponent(genre)}?n=${TOUR_ENTRIES}`;
  const filmsOf = (itemIds: readonly string[]) => Promise.all(itemIds.map((itemId) => askFilm(ask, itemId)));
  const recommended = await filmsOf(await ask<string[]>(recommend));
  const popular = await ask<ScoredEntry[]>(popularOfIt);
  const key = withKey ? ' -H "X-API-Key: $FURZE_SERVER_API_KEY"' : '';
  const paths = [recommend, neighborsPath(likedItemId, TOUR_ENTRIES), popularOfIt];
  return `
User ${userId} likes ${genre}. Some of the films the user liked:
${filmLines(taste.liked)}
What the service recommends to the user in that genre:
${filmLines(recommended)}
What is popular in it with everybody:
${filmLines(await filmsOf(popular.map(({ Id }) => Id)))}
Try it:
${paths.map((path) => `  curl '${url}${path}'${key}`).join('\n')}

Dashboard: ${url}/#/try/${encodeURIComponent(userId)}
API page: ${url}/apidocs
Stop with Ctrl-C.
`;
}

async function askFilm(ask: Caller, itemId: string): Promise<Film> {
  const { Comment, Labels } = await ask<Item>(`/api/item/${encodeURIComponent(itemId)}`);
  return { itemId, title: Comment, genres: Labels };
}

function filmLines(films: readonly Film[]): string {
  return films
    .map(({ itemId = '', title, genres }) => `  ${itemId.padEnd(8)} ${title} - ${genres.join(', ')}\n`)
    .join('');
}
