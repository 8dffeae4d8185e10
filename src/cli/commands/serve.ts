import { Command, Option } from 'commander';
import { baseUrl } from '../../config/base-url.ts';
import type { Environment } from '../../config/config.ts';
import { serviceLogger } from '../../platform/log/log.ts';
import { loadConfigWithOrigin } from '../common/load-config.ts';
import { addPlaceOptions, configFlags, lockWaitOption, parsePort } from '../common/options.ts';
import { checkReason, launchService, stopSignal, stopWithin } from '../common/run-service.ts';

interface ServeOptions {
  readonly config?: string;
  readonly data?: string;
  readonly host?: string;
  readonly port?: number;
  readonly role?: string;
  readonly lockWait: number;
}

/** `furze serve`: the service until it is told to stop. */
export function serveCommand(env: Environment): Command {
  const command = new Command('serve').description('run the service (what furze does without a command)');
  return addPlaceOptions(command, { data: 'where the data is kept, the cache in a folder below' })
    .option('--host <address>', 'address to listen on')
    .option('-p, --port <port>', 'port to listen on; 0 takes a free one', parsePort)
    .addOption(
      new Option('--role <role>', 'what this node is for, of several over one PostgreSQL').choices([
        'all',
        'server',
        'worker',
      ]),
    )
    .addOption(lockWaitOption())
    .addHelpText('after', '\nExample:\n  furze serve --config furze.toml --port 8087 --data ./data')
    .action(async (options: ServeOptions) => {
      const { config, origin } = loadConfigWithOrigin({
        path: options.config,
        env,
        flags: configFlags(options),
      });
      const log = serviceLogger(config.log);
      const stopped = stopSignal(log);
      const service = await launchService({ config, log, lockWait: options.lockWait, stopped, origin });
      if (service === undefined) return checkReason(await stopped);
      const url = baseUrl(service.address);
      log.info({ url, dashboard: `${url}/`, docs: `${url}/apidocs` }, 'listening');
      const reason = await stopped;
      log.info({ reason }, 'stopping');
      await stopWithin(service, config.server.shutdown_timeout, log);
      log.info('stopped');
      checkReason(reason);
    });
}
