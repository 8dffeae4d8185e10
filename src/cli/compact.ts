import { Command } from 'commander';
import type { Environment } from '../domain/config.ts';
import { dataFolder, type FolderOptions, lockWaitOption } from './options.ts';

/** `furze compact`: rewrites the data store without its free space, while no service runs on it. */
export function compactCommand(env: Environment): Command {
  return new Command('compact')
    .description('rewrite the data store without its free space; stop the service first')
    .option('--data <folder>', 'the data folder; that of the configuration when absent')
    .option('-c, --config <file>', 'configuration file (TOML)')
    .addOption(lockWaitOption())
    .action(async (options: FolderOptions & { lockWait: number }) => {
      const { compactStore } = await import('../store/open-store.ts');
      const path = await dataFolder(options, env);
      const { bytesBefore, bytesAfter } = await compactStore(path, options.lockWait * 1000);
      process.stdout.write(`${path}: ${showBytes(bytesBefore)} before, ${showBytes(bytesAfter)} after\n`);
    });
}

function showBytes(bytes: number): string {
  return `${bytes.toLocaleString('en-US')} bytes`;
}
