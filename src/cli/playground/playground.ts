import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { baseUrl } from '../../config/base-url.ts';
import { type Config, type Environment, parseConfig } from '../../config/config.ts';
import { PLACEMENT_KINDS } from '../../config/schema-placements.ts';
import type { Summary } from '../../domain/admin-schemas.ts';
import type { Feedback, ScoredEntry } from '../../domain/entities.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import { makeFolder } from '../../platform/files/make-folder.ts';
import { serviceLogger } from '../../platform/log/log.ts';
import type { Service } from '../../service/service.ts';
import type { Batch, DataStore, WriteCommand } from '../../store/data-store.ts';
import { parseDsn } from '../../store/dsn.ts';
import { keyOf } from '../common/find-service.ts';
import { lockWaitOption, parseFolder, parsePort } from '../common/options.ts';
import { createProgress } from '../common/progress.ts';
import { checkReason, launchService, stopSignal, stopWithin } from '../common/run-service.ts';
import { type Caller, createCaller, neighborsPath, recommendPath } from './caller.ts';
import { askItem, askRecommended, itemLine, reasonText } from './recommended-items.ts';
import { readSample, type Sample } from './sample.ts';
import { type Film, pickTastes, type Taste } from './tour-user.ts';

/** `furze playground`: the service with a real sample set, trained, and requests to try. */
export function playgroundCommand(env: Environment): Command {
  return new Command('playground')
    .description('run the service on a sample of 100,000 film ratings')
    .option('-d, --data <folder>', 'where the playground keeps its data', parseFolder, './playground-data')
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
    let tastes = readLoaded(folder);
    if (tastes === undefined) {
      // The load takes a while; a signal does not wait for its end.
      const prepared = prepare(service, ask, folder, config);
      tastes = await Promise.race([prepared, stopped.then(() => undefined)]);
      if (tastes === undefined) {
        prepared.catch(() => {});
        return checkReason(await stopped);
      }
    } else {
      process.stdout.write(`Using the sample in ${folder}.\n`);
      // Another hour is another window of popularity.
      await service.settled;
    }
    process.stdout.write(await describeTour(ask, url, config, tastes));
    await stopped;
  } finally {
    process.stdout.write('Stopping.\n');
    await stopWithin(service, config.server.shutdown_timeout, log);
  }
  checkReason(await stopped);
}

/** Loads the sample and trains on it. What says so comes last, so an interrupted load is done again at the next start. */
async function prepare(service: Service, ask: Caller, folder: string, config: Config): Promise<Taste[]> {
  const progress = createProgress(process.stdout);
  const sample = readSample();
  await loadSample(service.data, sample, progress.report);
  // Of nodes that share the data, any may be the one that learns.
  if (parseDsn(config.database.data_store).engine === 'postgres')
    await awaitLearned(ask, sample, progress.report);
  else await service.fit(progress.report);
  progress.end();
  const tastes = await pickTastes(sample, {
    recommended: (userId) => ask<string[]>(recommendPath(userId, COMPARED_ENTRIES)),
    ofGenre: (userId, genre) => ask<string[]>(recommendPath(userId, TOUR_ENTRIES, genre)),
    likeness: async (itemId) => {
      const neighbors = await ask<ScoredEntry[]>(neighborsPath(itemId, TOUR_ENTRIES));
      return neighbors.map(({ Score }) => Score);
    },
  });
  const records = tastes.flatMap(madeUp);
  await service.data.write({ kind: 'putFeedback', overwrite: false, batch: { records } });
  makeFolder(folder);
  writeLoaded(folder, tastes);
  return tastes;
}

/** Feedback that the sample lacks and placements need: films that were begun, and one that is seen every few weeks. */
function madeUp({ userId: UserId, liked }: Taste): Feedback[] {
  const event = (FeedbackType: string, { itemId: ItemId }: Film, days: number): Feedback => {
    const Timestamp = formatTimestamp(Date.now() - days * DAY_MS);
    return { FeedbackType, UserId, ItemId, Timestamp, Comment: '' };
  };
  const seen = [70, 50, 30].flatMap((days) => liked.slice(-1).map((film) => event('watch', film, days)));
  return [...liked.slice(0, 2).map((film) => event('begin', film, 1)), ...seen];
}

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
positive_feedback_types = ["like", "watch"]
read_feedback_types = ["read"]
repeated = { watch = "count" }

[recommend]
# Lists that are each person's own more than the week's hits, which they would share.
discovery = 0.5

[recommend.popular]
# The week before the last of the ratings, which are from 2013: as furze init would, short, for hits change within a month.
popular_window = "${Math.ceil((Date.now() - SAMPLE_END_MS) / HOUR_MS) + HOURS_A_WEEK}h"

[recommend.online]
fallback_recommend = ["item_based", "popular", "latest"]

[placement]
${PLACEMENT_KINDS.map((kind) => `${kind} = { kind = "${kind}"${MORE_OF_KIND[kind] ?? ''} }`).join('\n')}

[log]
# What the playground prints is for a person; only trouble is logged.
level = "warn"
`,
    env,
  );
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const HOURS_A_WEEK = 168;
/** The day after the last rating of the sample. */
const SAMPLE_END_MS = Date.UTC(2013, 8, 2);
/** Keys of placements beside their kind; new is what is of the sample's last year. */
const MORE_OF_KIND: Readonly<Record<string, string>> = {
  new: `, new_days = ${Math.ceil((Date.now() - Date.UTC(2013, 0, 1)) / DAY_MS)}`,
  continue: ', begun = ["begin"], finished = ["like"]',
};

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
function readLoaded(folder: string): Taste[] | undefined {
  try {
    const loaded = JSON.parse(readFileSync(join(folder, FILE), 'utf8'));
    return Array.isArray(loaded) ? loaded : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Notes it, whole or not at all. */
function writeLoaded(folder: string, tastes: readonly Taste[]): void {
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(tastes, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}

const TOUR_ENTRIES = 5;
/** Entries of which it is told how many two users share. */
const COMPARED_ENTRIES = 10;

/**
 * Two people and what each of them gets, then three requests to paste.
 * @param url the service's address without a path
 */
async function describeTour(
  ask: Caller,
  url: string,
  config: Config,
  tastes: readonly Taste[],
): Promise<string> {
  const { userId, genre, likedItemId } = tastes[0]!;
  const people = await Promise.all(tastes.map((taste) => describeTaste(ask, taste)));
  const popular = await ask<ScoredEntry[]>(`/api/popular?n=${TOUR_ENTRIES}`);
  const hits = await Promise.all(popular.map(async ({ Id }) => itemLine(await askItem(ask, Id))));
  const key = keyOf(config) !== '' ? ' -H "X-API-Key: $FURZE_SERVER_API_KEY"' : '';
  const popularOfIt = `/api/popular/${encodeURIComponent(genre)}?n=${TOUR_ENTRIES}`;
  const paths = [
    recommendPath(userId, TOUR_ENTRIES, genre),
    neighborsPath(likedItemId, TOUR_ENTRIES),
    popularOfIt,
  ];
  return `
${people.join('\n')}
${await describeShared(ask, config, tastes)}What is popular with everybody:
${hits.join('')}
Try it:
${paths.map((path) => `  curl '${url}${path}'${key}`).join('\n')}

Dashboard: ${url}/#/try/${encodeURIComponent(userId)}, with a list of each kind of placement; what the two have
begun and see again is made up.
API page: ${url}/apidocs
Stop with Ctrl-C.
`;
}

/** Some likes of a user, and the beginning of the list. */
async function describeTaste(ask: Caller, { userId, genre, liked }: Taste): Promise<string> {
  const had = liked.map(({ itemId, title, genres }) =>
    itemLine({ itemId, title }, ` - ${genres.join(', ')}`),
  );
  const recommended = await askRecommended(ask, userId, TOUR_ENTRIES);
  const gets = recommended.map((item) => itemLine(item, reasonText(item)));
  return `User ${userId} likes ${genre}. Some of the films the user liked:
${had.join('')}and is recommended (behind <- what speaks most for it):
${gets.join('')}`;
}

/** Counts what the lists of the first two users share; says nothing where there is but one user. */
async function describeShared(
  ask: Caller,
  { recommend }: Config,
  [one, other]: readonly Taste[],
): Promise<string> {
  if (one === undefined || other === undefined) return '';
  const [its, others] = await Promise.all(
    [one, other].map(({ userId }) => ask<string[]>(recommendPath(userId, COMPARED_ENTRIES))),
  );
  const shared = its!.filter((itemId) => others!.includes(itemId)).length;
  return `Of ${COMPARED_ENTRIES} entries the lists of the two share ${shared}. By discovery = ${recommend.discovery} lists are turned towards what is each one's
own; ?discovery=0 in a request asks for what is most likely liked next, much the same for everybody.

`;
}

/** Told how far a stage is, in records. */
export type OnProgress = (stage: string, done: number, total: number) => void;

/** Records in one transaction: small enough for a bar that moves. */
const BATCH_RECORDS = 2000;

/** Writes the sample. Writing it again changes nothing, so a load that was cut off is simply done again. */
async function loadSample(data: DataStore, sample: Sample, onProgress: OnProgress): Promise<void> {
  const writeAll = async <T>(
    stage: string,
    records: readonly T[],
    command: (batch: Batch<T>) => WriteCommand,
  ): Promise<void> => {
    for (let done = 0; done < records.length; done += BATCH_RECORDS) {
      onProgress(stage, done, records.length);
      await data.write(command({ records: records.slice(done, done + BATCH_RECORDS) }));
    }
    onProgress(stage, records.length, records.length);
  };
  await writeAll('users', sample.users, (batch) => ({ kind: 'putUsers', batch }));
  await writeAll('films', sample.items, (batch) => ({ kind: 'putItems', batch }));
  await writeAll('ratings', sample.feedback, (batch) => ({ kind: 'putFeedback', overwrite: false, batch }));
}
