import { Command } from 'commander';
import type { Task, Tasks } from '../domain/admin-schemas.ts';
import type { Environment } from '../domain/config/config.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { Compacted } from '../store/data-store.ts';
import { dataFolder, type FolderOptions, lockWaitOption, parseUrl } from './options.ts';
import { RunningService, URL_HELP } from './running-service.ts';

/** Pause between two questions about a compaction that runs, milliseconds. */
const ASK_EVERY_MS = 500;

interface CompactOptions extends FolderOptions {
  readonly url?: string;
  readonly json?: boolean;
  readonly lockWait: number;
}

/** `furze compact`: rewrites the data store without its free space. */
export function compactCommand(env: Environment): Command {
  return new Command('compact')
    .description('rewrite the data store without its free space; nothing is left of what was deleted')
    .option('--data <folder>', 'the data folder of a stopped service; that of the configuration when absent')
    .option('-u, --url <url>', URL_HELP, parseUrl)
    .option('-c, --config <file>', 'configuration file (TOML)')
    .option('--json', 'print the sizes as JSON')
    .addOption(lockWaitOption())
    .addHelpText('after', '\nExample: furze compact --url http://127.0.0.1:8087')
    .action(async (options: CompactOptions) => {
      const { url, config, json } = options;
      const [place, sizes] =
        url === undefined
          ? await compactFolder(options, env)
          : [url, await compactLive(new RunningService(url, config, env))];
      process.stdout.write(describe(place, sizes, json));
    });
}

async function compactFolder(options: CompactOptions, env: Environment): Promise<[string, Compacted]> {
  const { compactStore, FolderLockedError } = await import('../store/open/open-store.ts');
  const path = await dataFolder(options, env);
  try {
    return [path, await compactStore(path, options.lockWait * 1000)];
  } catch (error) {
    if (!(error instanceof FolderLockedError)) throw error;
    throw new OperatorError(`${error.message} Or compact it while it serves, with --url.`);
  }
}

/** Has a running service do it, and waits for the end. */
async function compactLive(service: RunningService): Promise<Compacted> {
  let tasks = (await (await service.call('POST', '/api/admin/compact')).json()) as Tasks;
  const isIt = ({ Kind }: Task) => Kind === 'compaction';
  const id = tasks.Running.find(isIt)?.Id ?? tasks.Past.find(isIt)?.Id;
  for (;;) {
    const ended = tasks.Past.find(({ Id }) => Id === id);
    if (ended?.State === 'done')
      return {
        bytesBefore: Number(ended.Result?.bytesBefore),
        bytesAfter: Number(ended.Result?.bytesAfter),
      };
    if (ended !== undefined)
      throw new OperatorError(ended.Error ?? 'The service was stopped before the end.');
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    tasks = (await (await service.call('GET', '/api/admin/tasks')).json()) as Tasks;
  }
}

function describe(place: string, { bytesBefore, bytesAfter }: Compacted, asJson = false): string {
  if (asJson) return `${JSON.stringify({ bytesBefore, bytesAfter })}\n`;
  const show = (bytes: number) => `${bytes.toLocaleString('en-US')} bytes`;
  return `${place}: ${show(bytesBefore)} before, ${show(bytesAfter)} after\n`;
}
