import { Command } from 'commander';
import type { Environment } from '../domain/config.ts';
import { loadConfig } from './load-config.ts';
import { lockWaitOption } from './options.ts';

/** `furze compact`: rewrites the data store without its free space, while no service runs on it. */
export function compactCommand(env: Environment): Command {
  return new Command('compact')
    .description('rewrite the data store without its free space; stop the service first')
    .option('-c, --config <file>', 'configuration file (TOML)')
    .addOption(lockWaitOption())
    .action(async (options: { config?: string; lockWait: number }) => {
      const config = loadConfig({ path: options.config, env });
      // Loaded here, so that other commands load no engine.
      const { compactStore } = await import('../store/open-store.ts');
      const { parseDsn } = await import('../store/open-store.ts');
      const { path } = parseDsn(config.database.data_store);
      const { bytesBefore, bytesAfter } = await compactStore(path, options.lockWait * 1000);
      process.stdout.write(`${path}: ${showBytes(bytesBefore)} before, ${showBytes(bytesAfter)} after\n`);
    });
}

function showBytes(bytes: number): string {
  return `${bytes.toLocaleString('en-US')} bytes`;
}
