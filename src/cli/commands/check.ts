import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Environment } from '../../config/config.ts';
import { counted, groupDigits } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { Report } from '../../store/open/open-store.ts';
import { loadConfig } from '../common/load-config.ts';
import { addPlaceOptions, oneFolder, type PlaceOptions } from '../common/options.ts';

interface CheckOptions extends PlaceOptions {
  readonly cache?: string;
  readonly json?: boolean;
}

/** `furze check`: reads everything in a data folder and its cache, and compares what is kept twice. */
export function checkCommand(env: Environment): Command {
  const command = new Command('check').description(
    'read and compare everything that a data folder holds; a service may run on it, and its cache is left out then',
  );
  return addPlaceOptions(command)
    .argument('[folder]', 'the data folder, as --data names it')
    .option('--cache <folder>', 'the cache; the folder "cache" in the data folder when absent')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', '\nExit code 0: sound; 1: something is wrong.\n\nExample:\n  furze check ./data')
    .action(async (folder: string | undefined, flags: CheckOptions) => {
      const options = { ...flags, ...oneFolder(folder, flags) };
      // Loaded here, so that other commands load no engine.
      const { checkStore } = await import('../../store/open/open-store.ts');
      const { readAddress } = await import('../../store/lock/folder-lock.ts');
      const { dataPath, cachePath } = await foldersOf(options, env);
      const data = await checkStore('data', dataPath);
      const isServed = readAddress(dataPath) !== undefined;
      const cache = existsSync(cachePath) && !isServed ? await checkStore('cache', cachePath) : undefined;
      if (data === undefined) throw new OperatorError(`There is no data store in ${dataPath}.`);
      const faultCount = data.faultCount + (cache?.faultCount ?? 0);
      if (options.json === true) {
        process.stdout.write(`${JSON.stringify({ sound: faultCount === 0, data, cache }, null, 2)}\n`);
      } else {
        const left = isServed ? `${cachePath}: not read while a service writes it\n` : '';
        process.stdout.write(describe(data) + (cache === undefined ? left : describe(cache)));
      }
      if (faultCount > 0) throw new OperatorError(advice(data, cache));
    });
}

async function foldersOf(options: CheckOptions, env: Environment) {
  const { data } = options;
  if (data !== undefined) return { dataPath: data, cachePath: options.cache ?? join(data, 'cache') };
  const { storePaths } = await import('../../store/open/store-options.ts');
  const { dataPath, cachePath } = storePaths(loadConfig({ path: options.config, env }));
  return { dataPath, cachePath: options.cache ?? cachePath };
}

/** Words for counts whose names would be taken for something else. */
const COUNTED: Readonly<Record<string, string>> = {
  comments: 'comments of feedback',
  values: 'values of feedback',
  marks: 'saved states of the service',
};

function describe({ path, counts, faults, faultCount }: Report): string {
  const lines = Object.entries(counts).map(([name, count]) => `  ${counted(count, COUNTED[name] ?? name)}`);
  const more = faultCount - faults.length;
  const wrong = faults.map((fault) => `  WRONG: ${fault}`);
  if (more > 0) wrong.push(`  WRONG: and ${groupDigits(more)} more`);
  return [`${path}: ${faultCount === 0 ? 'sound' : 'not sound'}`, ...lines, ...wrong, ''].join('\n');
}

function advice(data: Report, cache: Report | undefined): string {
  if (data.faultCount > 0)
    return `the data store in ${data.path} is not sound; restore a backup ("furze restore")`;
  return `the cache in ${cache!.path} is not sound; stop the service and remove that folder, a new one is made`;
}
