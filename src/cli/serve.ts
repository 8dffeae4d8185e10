import { Command } from 'commander';
import type { Environment } from '../domain/config.ts';
import { createLogger } from '../domain/log.ts';
import { loadConfig } from './load-config.ts';
import { lockWaitOption } from './options.ts';
import { baseUrl, checkReason, launchService, stopSignal } from './run-service.ts';

/** `furze serve`: the service until it is told to stop. */
export function serveCommand(env: Environment): Command {
  return new Command('serve')
    .description('run the service (what furze does without a command)')
    .option('-c, --config <file>', 'configuration file (TOML)')
    .addOption(lockWaitOption())
    .action(async (options: { config?: string; lockWait: number }) => {
      const config = loadConfig({ path: options.config, env });
      const log = createLogger(config.log.level);
      const stopped = stopSignal(log);
      const service = await launchService(config, log, options.lockWait);
      log.info({ url: baseUrl(service.address), docs: `${baseUrl(service.address)}/apidocs` }, 'listening');
      const reason = await stopped;
      log.info({ reason }, 'stopping');
      await service.stop();
      log.info('stopped');
      checkReason(reason);
    });
}
