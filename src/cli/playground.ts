import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { Config, Environment } from '../domain/config.ts';
import { createLogger } from '../domain/log.ts';
import type { Service } from '../service.ts';
import { parsePort } from './options.ts';
import { loadSample } from './playground/load-sample.ts';
import { readMark, writeMark } from './playground/mark.ts';
import { createProgress } from './playground/progress.ts';
import { readSample } from './playground/sample.ts';
import { playgroundConfig } from './playground/settings.ts';
import { pickTaste, type Taste } from './playground/taste.ts';
import { describeTour } from './playground/tour.ts';
import { baseUrl, launchService, stopSignal } from './run-service.ts';

/** `furze playground`: the service with a real sample set, trained, and requests to try. */
export function playgroundCommand(env: Environment): Command {
  return new Command('playground')
    .description('run the service on a sample of 100,000 film ratings')
    .option('-d, --data <folder>', 'where the playground keeps its data', './playground-data')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('-p, --port <port>', 'port to listen on; 0 takes a free one', parsePort, 8087)
    .action(async (options: { data: string; host: string; port: number }) => {
      const folder = resolve(options.data);
      const config = playgroundConfig({ folder, host: options.host, port: options.port }, env);
      await runPlayground(folder, config);
    });
}

async function runPlayground(folder: string, config: Config): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const stopped = stopSignal();
  const service = await launchService(config, createLogger(config.log.level));
  try {
    const mark = readMark(folder);
    if (mark !== undefined) {
      process.stdout.write(`Using the sample in ${folder}.\n`);
      await showTour(service, config, mark);
      await stopped;
      return;
    }
    // The sample takes a while; a signal must not have to wait for its end.
    const prepared = prepare(service, folder);
    const taste = await Promise.race([prepared, stopped.then(() => undefined)]);
    if (taste === undefined) {
      prepared.catch(() => {});
      return;
    }
    await showTour(service, config, taste);
    await stopped;
  } finally {
    process.stdout.write('Stopping.\n');
    await service.stop();
  }
}

/** Loads the sample and trains on it. The mark comes last, so an interrupted load is done again at the next start. */
async function prepare(service: Service, folder: string): Promise<Taste> {
  const progress = createProgress(process.stdout);
  const sample = readSample();
  await loadSample(service.data, sample, (stage, done, total) => progress.report(stage, done, total));
  await service.fit((stage, done, total) => progress.report(stage, done, total));
  progress.end();
  const taste = pickTaste(sample);
  writeMark(folder, taste);
  return taste;
}

async function showTour(service: Service, config: Config, taste: Taste): Promise<void> {
  process.stdout.write(await describeTour(baseUrl(service.address), config.server.api_key, taste));
}
