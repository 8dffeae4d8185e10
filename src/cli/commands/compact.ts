import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { Environment } from '../../config/config.ts';
import type { Task, Tasks } from '../../domain/admin-schemas.ts';
import { counted } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { ServiceClient } from '../../exchange/service-client.ts';
import type { Compacted } from '../../store/data-store.ts';
import { UsageError } from '../common/exit-status.ts';
import { serviceAt } from '../common/find-service.ts';
import {
  addPlaceOptions,
  dataFolder,
  lockWaitOption,
  oneFolder,
  type PlaceOptions,
} from '../common/options.ts';

/** Pause between two questions about a compaction that runs, milliseconds. */
const ASK_EVERY_MS = 500;

interface CompactOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly lockWait: number;
}

/** `furze compact`: rewrites the data store without its free space. */
export function compactCommand(env: Environment): Command {
  const command = new Command('compact').description(
    'rewrite the data store without its free space; nothing is left of what was deleted',
  );
  return addPlaceOptions(command, { hasUrl: true })
    .argument('[folder]', 'the data folder of a stopped service, as --data names it')
    .option('--json', 'print the sizes as JSON')
    .addOption(lockWaitOption())
    .addHelpText('after', '\nExamples:\n  furze compact --url http://127.0.0.1:8087\n  furze compact ./data')
    .action(async (folder: string | undefined, flags: CompactOptions) => {
      const options = { ...flags, ...oneFolder(folder, flags) };
      const { url, config, json } = options;
      if (folder !== undefined && url !== undefined)
        throw new UsageError(`one place at a time: the argument names ${folder}, --url ${url}`);
      const service = url === undefined ? undefined : serviceAt(url, config, env);
      const [place, sizes] =
        service === undefined ? await compactFolder(options, env) : [service.url, await compactLive(service)];
      process.stdout.write(describe(place, sizes, json));
    });
}

async function compactFolder(options: CompactOptions, env: Environment): Promise<[string, Compacted]> {
  const { compactStore, FolderLockedError } = await import('../../store/open/open-store.ts');
  const path = await dataFolder(options, env);
  try {
    return [path, await compactStore(path, options.lockWait * 1000)];
  } catch (error) {
    if (!(error instanceof FolderLockedError)) throw error;
    throw new OperatorError(`${error.message} Or compact it while it serves, with --url.`);
  }
}

/** Has a running service do it, and waits for the end. */
async function compactLive(service: ServiceClient): Promise<Compacted> {
  let tasks = (await (await service.ask('POST', '/api/admin/compact')).json()) as Tasks;
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
    await sleep(ASK_EVERY_MS);
    tasks = (await (await service.ask('GET', '/api/admin/tasks')).json()) as Tasks;
  }
}

function describe(
  place: string,
  { bytesBefore, bytesAfter }: Compacted,
  asJson: boolean | undefined,
): string {
  if (asJson) return `${JSON.stringify({ bytesBefore, bytesAfter })}\n`;
  return `${place}: ${counted(bytesBefore, 'bytes')} before, ${counted(bytesAfter, 'bytes')} after\n`;
}
