import type { Config } from '../../config/config.ts';
import type { ConfigOrigin } from '../../config/value-origins.ts';
import { isEngineError, messageOf } from '../../domain/furze-error.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import { endProcess } from '../../platform/process/end-process.ts';
import type { Service } from '../../service/service.ts';

/** The last one comes from a terminal that closes, or from who hopes that the configuration is read again. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Launch {
  readonly config: Config;
  readonly log: Logger;
  /** Longest wait for another process that has the folders, seconds. */
  readonly lockWait: number;
  /** Resolves when the service is to stop, also before it has started. */
  readonly stopped: Promise<StopReason>;
  readonly origin?: ConfigOrigin;
}

/**
 * Starts the service; undefined where it was to stop before it had. The import waits until here, so that other commands
 * load no engine.
 */
export async function launchService(launch: Launch): Promise<Service | undefined> {
  const { config, log, lockWait, stopped, origin } = launch;
  const { startService } = await import('../../service/service.ts');
  const ending = new AbortController();
  const started = startService({
    ...{ config, log, lockWaitMs: lockWait * 1000, signal: ending.signal },
    ...(origin !== undefined && { origin }),
  });
  if (await Promise.race([started.then(() => true), stopped.then(() => false)])) return started;
  log.info({ reason: await stopped }, 'stopping while it starts');
  ending.abort();
  // What could not be ended any more is stopped.
  const stop = () => started.then((service) => service.stop()).catch(() => {});
  await stopWithin({ stop }, config.server.shutdown_timeout, log);
  log.info('stopped');
  return undefined;
}

export type StopReason = NodeJS.Signals | 'fault';

/** The fault that nothing caught, in a line. */
let fault = '';

/** Longest orderly stop after a fault, milliseconds. */
const FAULT_STOP_MS = 10_000;

/**
 * Resolves when the process is told to stop, or when a fault of its own that nothing caught leaves it in a state that
 * nobody knows: it is logged, and the service is to stop in order, so that what was taken is stored. A second signal ends
 * the process at once.
 */
export function stopSignal(log: Logger): Promise<StopReason> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) endProcess(1);
      asked = true;
      resolve(signal);
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
    const onFault = (error: unknown) => {
      const [line = ''] = messageOf(error).split('\n');
      fault ||= line;
      // Where a store cannot be read, the place in the program tells nothing.
      if (isEngineError(error)) log.fatal({ reason: line }, 'a store cannot be read or written; stopping');
      else log.fatal({ err: error }, 'a fault of the program that nothing caught; stopping');
      setTimeout(() => endProcess(1), FAULT_STOP_MS).unref();
      resolve('fault');
    };
    process.on('uncaughtException', onFault);
    process.on('unhandledRejection', onFault);
  });
}

/** @throws OperatorError when the process stopped for a fault: its exit code is 1 then */
export function checkReason(reason: StopReason): void {
  if (reason === 'fault') throw new OperatorError(`stopped after a fault (${fault}); the log has it`);
}

/**
 * The shutdown timeout: stops the service, and ends the process when that takes longer than it may. What was
 * acknowledged is stored by then, and what was not is made again as after a crash.
 * @param timeoutMs `[server] shutdown_timeout`
 */
export async function stopWithin(
  service: Pick<Service, 'stop'>,
  timeoutMs: number,
  log: Logger,
  exit: (code: number) => void = endProcess,
): Promise<void> {
  const timer = setTimeout(() => {
    log.warn({ timeoutMs }, 'stopping took longer than [server] shutdown_timeout; what is left is cut off');
    exit(1);
  }, timeoutMs);
  try {
    await service.stop();
  } finally {
    clearTimeout(timer);
  }
}
