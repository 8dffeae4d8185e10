import { baseUrl } from '../../config/base-url.ts';
import { type Config, defaultConfig } from '../../config/config.ts';
import { messageOf } from '../../domain/furze-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import { ExitStatus, INTERRUPTED } from '../common/exit-status.ts';
import { keyOf } from '../common/find-service.ts';
import { createProgress } from '../common/progress.ts';
import { checkReason, launchService, type StopReason, stopWithin } from '../common/run-service.ts';
import { createCaller } from '../playground/caller.ts';
import { type Example, findExamples } from './example-requests.ts';
import type { SetUpOptions } from './set-up-options.ts';
import { serveCommand } from './written-config.ts';

/**
 * Trains a service on the folder that nobody else reaches, and gives users to show.
 * @throws ExitStatus when it was told to stop
 */
export async function trainAndShow(
  config: Config,
  options: SetUpOptions & { readonly log: Logger; readonly stopped: Promise<StopReason> },
): Promise<readonly Example[]> {
  const { config: file, json, lockWait, log, stopped } = options;
  const local = { host: '127.0.0.1', port: 0, ssl_cert: '', ssl_key: '' };
  const own = defaultConfig({ ...config, server: { ...config.server, ...local } });
  const service = await launchService({ config: own, log, lockWait, stopped });
  if (service === undefined) return endStopped(stopped, file);
  try {
    const progress = createProgress(json ? process.stderr : process.stdout);
    const ask = createCaller(baseUrl(service.address), keyOf(config));
    const fitted = service.fit(progress.report);
    const ended = await Promise.race([settled(fitted), stopped.then(() => 'stopped' as const)]);
    if (ended === 'stopped') {
      progress.stop();
      return await endStopped(stopped, file);
    }
    progress.end();
    // Data from which no model can be learned leaves the lists that need none.
    if (ended !== undefined) {
      process.stderr.write(
        `furze: no model could be trained (${messageOf(ended.error)}); lists are made without one until there is more feedback\n`,
      );
    }
    const found = findExamples(service.data, ask, config);
    const examples = await Promise.race([found, stopped.then(() => 'stopped' as const)]);
    if (examples !== 'stopped') return examples;
    found.catch(() => {});
    return await endStopped(stopped, file);
  } finally {
    await stopWithin(service, own.server.shutdown_timeout, log);
  }
}

/** @returns why it failed; undefined when it did not */
async function settled(work: Promise<unknown>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** @throws ExitStatus */
async function endStopped(stopped: Promise<StopReason>, file: string): Promise<never> {
  await tellStopped(stopped, file);
  throw new ExitStatus(INTERRUPTED);
}

/** Says how it goes on after an interruption. @throws OperatorError after a fault of the program */
export async function tellStopped(stopped: Promise<StopReason>, file: string): Promise<void> {
  checkReason(await stopped);
  process.stderr.write(
    `Stopped. Everything is imported: ${serveCommand(file)} starts the service, which trains by itself.\n`,
  );
}
