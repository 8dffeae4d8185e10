import type { Config } from '../domain/config.ts';
import type { Logger } from '../domain/log.ts';
import type { Service } from '../service.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Starts the service. The import waits until here, so that other commands load no engine.
 * @param lockWait how long to wait for another process that has the folders, seconds
 */
export async function launchService(config: Config, log: Logger, lockWait: number): Promise<Service> {
  const { startService } = await import('../service.ts');
  return startService({ config, log, lockWaitMs: lockWait * 1000 });
}

/** Resolves when the process is told to stop; a second signal ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) process.exit(1);
      asked = true;
      resolve(signal);
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
  });
}

/** The service's address as a URL without a path; an address for every interface is reached by the loopback one. */
export function baseUrl({ host, port }: Service['address']): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
