import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Command } from 'commander';
import type { Environment } from '../../config/config.ts';
import { counted, countedRecords } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { StoreStats } from '../../store/data-store.ts';
import { serviceAt } from '../common/find-service.ts';
import { addPlaceOptions, dataFolder, type PlaceOptions } from '../common/options.ts';

interface BackupOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** `furze backup`: a consistent copy of the data store, while a service may write it. */
export function backupCommand(env: Environment): Command {
  const command = new Command('backup').description(
    'copy the data store, consistently, while a service may run on it',
  );
  return addPlaceOptions(command, { hasUrl: true })
    .argument('<target>', 'a folder without a store, or - for the bytes on standard output')
    .option('--json', 'print what was copied as JSON')
    .addHelpText(
      'after',
      '\nThe cache is not copied: all of it can be made again.\n' +
        '\nExamples:\n  furze backup /backups/monday\n  furze backup - | zstd > monday.mdb.zst\n' +
        '  furze backup /backups/monday --url https://furze.example.com',
    )
    .action(async (target: string, options: BackupOptions) => {
      if (options.url !== undefined) return backupOver(options.url, target, options, env);
      const { backupStore, streamStore } = await import('../../store/open/open-store.ts');
      const dataPath = await dataFolder(options, env);
      if (target === '-') {
        const { stream, ...copied } = await streamStore(dataPath);
        await pipeline(stream, process.stdout, { end: false });
        process.stderr.write(describe(dataPath, copied, options.json));
        return;
      }
      const copied = await backupStore(dataPath, target);
      process.stdout.write(describe(dataPath, copied, options.json));
    });
}

/** Has a running service make the copy. */
async function backupOver(
  url: string,
  target: string,
  { config, json }: BackupOptions,
  env: Environment,
): Promise<void> {
  const service = serviceAt(url, config, env);
  const { body } = await service.ask('POST', '/api/admin/backup');
  const source = Readable.fromWeb(body as ReadableStream<Uint8Array>);
  try {
    if (target === '-') {
      await pipeline(source, process.stdout, { end: false });
      return;
    }
    const { receiveBackup } = await import('../../store/open/open-store.ts');
    process.stdout.write(describe(service.url, await receiveBackup(source, target), json));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The copy broke off: ${(error as Error).message}. Nothing of it is kept.`);
  } finally {
    source.destroy();
  }
}

/** The counts of a copy, for people or as JSON. */
export function describe(from: string, copied: StoreStats, asJson: boolean | undefined): string {
  if (asJson) return `${JSON.stringify(copied)}\n`;
  return `${from}: ${countedRecords(copied)}; ${counted(copied.bytes, 'bytes')}\n`;
}
