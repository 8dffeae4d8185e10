import { existsSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { Environment } from '../../config/config.ts';
import type { GivenModels, Summary, Tasks } from '../../domain/admin-schemas.ts';
import { groupDigits } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { putModel, readModel } from '../../exchange/put-model.ts';
import type { ServiceClient } from '../../exchange/service-client.ts';
import { FOLDS } from '../../model/part/given-model.ts';
import { findService } from '../common/find-service.ts';
import { addPlaceOptions, type PlaceOptions, parseNumber } from '../common/options.ts';

/** Time between two looks at a fit. */
const LOOK_MS = 500;

interface ModelFlags extends PlaceOptions {
  readonly json?: boolean;
  readonly wait?: boolean;
}

interface PutFlags extends ModelFlags {
  readonly name?: string;
  readonly ids?: string;
  readonly users?: string;
  readonly userIds?: string;
  readonly fold?: string;
  readonly regularization?: number;
  readonly unobservedWeight?: number;
  readonly judgedBy?: string;
  readonly use: boolean;
}

const HELP = `
A model is items' factors: Parquet (a file, or a folder as Spark writes it) with a column of ids and one of vectors, .npy with
--ids, or what "model.save" of implicit wrote (.npz) with --ids. Users' factors are given the same way; other users are folded
in by what they like. It is checked, judged on held-out feedback beside the service's own models, and part of the next
generation, which is fitted at once. One that has learned from what is held out does too well there: --judged-by names one,
put with --no-use, that was trained without the latest fifth of the feedback.

Examples:
  furze model put factors.parquet --name spark-als --wait
  furze model put items.npy --ids items.txt --fold mean
  furze model put als.npz --ids items.txt --judged-by als-early
  furze model use als-of-before
  furze model list`;

/** `furze model`: models that other tools have trained. */
export function modelCommand(env: Environment): Command {
  const command = new Command('model').description(
    'put models of other tools in place, list, switch and remove them',
  );
  const add = (name: string, description: string) => {
    const added = addPlaceOptions(command.command(name).description(description), { hasUrl: true });
    return added.option('--json', 'print the result as JSON');
  };
  addPutOptions(add('put <file>', 'put a model in place')).action(async (file: string, flags: PutFlags) => {
    const client = await findService(flags, env);
    for (const path of [file, flags.ids, flags.users, flags.userIds])
      if (path !== undefined && !existsSync(path)) throw new OperatorError(`there is no file ${path}`);
    const { ids, users, userIds } = flags;
    const { batches, query } = readModel({ path: file, ids, users, userIds });
    const name = flags.name ?? basename(file, extname(file));
    show(await putModel(client, name, batches, { ...query, ...queryOf(flags) }), flags);
    if (flags.wait) await waitForFit(client, flags);
  });
  add('list', 'list the models').action(async (flags: ModelFlags) => {
    const client = await findService(flags, env);
    show((await (await client.ask('GET', '/api/admin/models')).json()) as GivenModels, flags);
  });
  const change =
    (method: string, path: (name: string) => string) => async (name: string, flags: ModelFlags) => {
      const client = await findService(flags, env);
      const answer = await client.ask(method, path(`/api/admin/model/${encodeURIComponent(name)}`));
      show((await answer.json()) as GivenModels, flags);
      if (flags.wait) await waitForFit(client, flags);
    };
  waiting(add('use <name>', 'put a model that is kept in place')).action(
    change('POST', (path) => `${path}/use`),
  );
  waiting(add('unuse <name>', 'use a model no more, and keep it')).action(
    change('DELETE', (path) => `${path}/use`),
  );
  waiting(add('remove <name>', 'remove a model')).action(change('DELETE', (path) => path));
  return command.addHelpText('after', HELP);
}

function waiting(command: Command): Command {
  return command.option('--wait', 'wait until it serves, and tell what it came to on held-out feedback');
}

function addPutOptions(command: Command): Command {
  return waiting(command)
    .option('--name <name>', 'by default the name of the file')
    .option('--ids <file>', "of .npy and .npz: the items' ids, one a line in the order of the rows, or .npy")
    .option('--users <file>', "users' factors, which are taken as they are")
    .option('--user-ids <file>', 'their ids, as --ids')
    .addOption(new Option('--fold <way>', 'how other users are made of what they like').choices(FOLDS))
    .option('--regularization <number>', "penalty of least squares, in the file's units", parseNumber)
    .option('--unobserved-weight <number>', 'weight of pairs without feedback in it', parseNumber)
    .option('--judged-by <name>', 'the model that is judged in its place')
    .option('--no-use', 'keep it without putting it in place');
}

function queryOf({
  fold,
  regularization,
  unobservedWeight,
  judgedBy,
  use,
}: PutFlags): Record<string, string> {
  const given = {
    fold,
    regularization,
    'unobserved-weight': unobservedWeight,
    'judged-by': judgedBy,
    use: use ? undefined : false,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

function show(models: GivenModels, { json }: ModelFlags): void {
  const lines = models.Models.map((one) => {
    const { Name, Items, UnknownItems, Users, Dimensions, Fold, PutAt } = one;
    const unknown = UnknownItems > 0 ? `, ${groupDigits(UnknownItems)} of them unknown` : '';
    const users = Users > 0 ? `, ${groupDigits(Users)} users` : '';
    return `${models.Used === Name ? '*' : ' '} ${Name}  ${groupDigits(Items)} items x ${Dimensions}${unknown}${users}, ${Fold}, put ${PutAt}`;
  });
  process.stdout.write(
    json
      ? `${JSON.stringify(models)}\n`
      : `${lines.length > 0 ? lines.join('\n') : 'There are no models.'}\n`,
  );
}

/** Waits for the fits that run, and tells how lists are ranked then. @throws OperatorError when the last one failed */
async function waitForFit(client: ServiceClient, { json }: ModelFlags): Promise<void> {
  const ask = async <T>(path: string) => (await (await client.ask('GET', path)).json()) as T;
  for (;;) {
    const { Running, Past } = await ask<Tasks>('/api/admin/tasks');
    if (!Running.some(({ Kind }) => Kind === 'fit')) {
      const last = Past.find(({ Kind }) => Kind === 'fit');
      if (last?.State === 'done') break;
      throw new OperatorError(`the fit did not end well: ${last?.Error ?? last?.State ?? 'there was none'}`);
    }
    await delay(LOOK_MS);
  }
  const { Model } = await ask<Summary>('/api/admin/summary');
  const ways = Model?.Choice?.Ways ?? [];
  if (json) {
    process.stdout.write(`${JSON.stringify(ways)}\n`);
    return;
  }
  for (const { Name, Quality } of ways)
    process.stdout.write(
      `${Name.padEnd(34)} NDCG@10 ${Quality.Mean.toFixed(4)} ± ${Quality.HalfWidth.toFixed(4)}\n`,
    );
}
