import { resolve } from 'node:path';
import { Command } from 'commander';
import { baseUrl } from '../../config/base-url.ts';
import type { Config, Environment } from '../../config/config.ts';
import type { ScoredEntry } from '../../domain/entities.ts';
import { makeFolder } from '../../platform/files/make-folder.ts';
import { serviceLogger } from '../../platform/log/log.ts';
import type { Service } from '../../service/service.ts';
import { parseDsn } from '../../store/dsn.ts';
import { keyOf } from '../common/find-service.ts';
import { lockWaitOption, parsePort } from '../common/options.ts';
import { createProgress } from '../common/progress.ts';
import { checkReason, launchService, stopSignal, stopWithin } from '../common/run-service.ts';
import { awaitLearned } from './await-learned.ts';
import { type Caller, createCaller, neighborsPath, recommendPath } from './caller.ts';
import { loadSample } from './load-sample.ts';
import { readLoaded, writeLoaded } from './loaded-marker.ts';
import { readSample } from './sample.ts';
import { playgroundConfig } from './settings.ts';
import { describeTour, TOUR_ENTRIES } from './tour.ts';
import { pickTaste, type Taste } from './tour-user.ts';

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
