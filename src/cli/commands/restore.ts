import { Command } from 'commander';
import type { Environment } from '../../config/config.ts';
import { addPlaceOptions, dataFolder, lockWaitOption, type PlaceOptions } from '../common/options.ts';
import { describe } from './backup.ts';

/** `furze restore`: puts a backup where there is no store. */
export function restoreCommand(env: Environment): Command {
  const command = new Command('restore').description('put a backup in place; nothing is ever written over');
  return addPlaceOptions(command, {
    data: 'the folder to restore into; that of the configuration when absent',
  })
    .argument('<source>', 'the folder or file of a backup, or - for standard input')
    .option('--json', 'print what was restored as JSON')
    .addOption(lockWaitOption())
    .addHelpText(
      'after',
      '\nThe backup is checked as a whole first.\n' +
        '\nExamples:\n  furze restore /backups/monday --data ./data\n  zstd -d < monday.mdb.zst | furze restore -',
    )
    .action(async (source: string, options: PlaceOptions & { lockWait: number; json?: boolean }) => {
      const { restoreStore } = await import('../../store/open/open-store.ts');
      const dataPath = await dataFolder(options, env);
      const restored = await restoreStore({
        source: source === '-' ? process.stdin : source,
        dataPath,
        lockWaitMs: options.lockWait * 1000,
      });
      process.stdout.write(describe(dataPath, restored, options.json));
    });
}
