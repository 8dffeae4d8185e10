import { existsSync } from 'node:fs';
import { Argument, Command, Option } from 'commander';
import { isLoopback } from '../../config/base-url.ts';
import type { Config, Environment } from '../../config/config.ts';
import { counted } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { Kind } from '../../exchange/guess-columns.ts';
import type { BeginBulk, Target } from '../../exchange/import-targets.ts';
import type { WriteVectors } from '../../exchange/import-vectors.ts';
import { PRESETS, type Preset } from '../../exchange/known-data-sets.ts';
import { STDIN } from '../../exchange/open-text-file.ts';
import { ServiceClient } from '../../exchange/service-client.ts';
import { stateFolder } from '../../platform/files/state-folder.ts';
import { parseDsn } from '../../store/dsn.ts';
import { addColumnOptions, type ColumnFlags, wishesOf } from '../common/column-options.ts';
import { ExitStatus, UsageError } from '../common/exit-status.ts';
import { keyOf } from '../common/find-service.ts';
import { loadConfig } from '../common/load-config.ts';
import { addPlaceOptions, configFlags, lockWaitOption } from '../common/options.ts';
import { readSummary, type SetUpSummary } from '../common/set-up-summary.ts';
import { type ImportRun, type Repeats, runImport } from './run-import.ts';

const KINDS: readonly Kind[] = ['users', 'items', 'feedback'];

interface ImportFlags extends ColumnFlags {
  readonly config?: string;
  readonly data?: string;
  readonly url?: string;
  readonly from: Preset;
  readonly fromGorse?: string;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
  readonly space?: string;
  readonly ids?: string;
  readonly skipBad?: boolean;
  readonly json?: boolean;
  readonly lockWait: number;
}

const HELP = `
Names of columns are guessed from the first row and shown; --map names those that were not guessed. Feedback without a
type column is of type "like", or with --positive 4 "like" from a rating of 4 on and "read" below.
Without --skip-bad nothing of a file is stored when a row would be refused. An import that was cut off goes on where it was
when the same command is run again; the first feedback of a folder is sorted and stored in the end, all of it or nothing.

Examples:
  furze import feedback clicks.csv.gz
  furze import vectors embeddings.ndjson --space text
  furze import vectors embeddings.npy --ids ids.txt --space text
  furze import items products.ndjson --map item=sku,title=name
  furze import --from movielens ml-1m/ --data ./data
  furze import --from gorse dump/ --url http://127.0.0.1:8087
  furze import --from-gorse postgres://gorse@db.example/gorse --data ./data
  zcat log.tsv.gz | furze import feedback - --map user=uid,item=sku,time=ts`;

/** `furze import`: users, items and feedback out of files. */
export function importCommand(env: Environment): Command {
  const command = new Command('import')
    .description(
      'store users, items or feedback from CSV, TSV, NDJSON or Parquet files, gzip or zstd packed or not',
    )
    .addArgument(
      new Argument(
        '[inputs...]',
        'users, items, feedback (else guessed) or vectors, then files; - is standard input',
      ),
    )
    .option(
      '--from-gorse <database>',
      'instead of files: the tables of Gorse 0.4 at postgres://USER:PASSWORD@HOST/DATABASE?schema=public&table_prefix=',
    )
    .addOption(new Option('--from <set>', 'what the files come from').choices(PRESETS).default('csv'));
  addPlaceOptions(command, { data: 'the data folder of a service that is stopped', hasUrl: true });
  return addColumnOptions(command)
    .option('--overwrite', 'replace feedback that is there already; it is left alone otherwise')
    .option('--space <name>', 'of vectors: the space; each line has an ItemId and a Vector')
    .option('--ids <file>', 'of vectors in .npy: their ids, one a line in the order of the rows, or .npy')
    .option('--dry-run', 'check the files and store nothing')
    .option('--skip-bad', 'store the good rows of a file that has bad ones')
    .option('--json', 'print the result as JSON')
    .addOption(lockWaitOption())
    .addHelpText('after', HELP)
    .action(async (inputs: string[], flags: ImportFlags) => {
      const config = loadConfig({ path: flags.config, env, flags: configFlags(flags) });
      const exitCode = await run(inputs, flags, config);
      if (exitCode !== 0) throw new ExitStatus(exitCode);
    });
}

async function run(inputs: readonly string[], flags: ImportFlags, config: Config): Promise<number> {
  if (flags.fromGorse !== undefined) {
    const { fromGorse, dryRun } = flags;
    if (dryRun || inputs.length > 0)
      throw new UsageError(
        `--from-gorse stores whole tables; leave out ${dryRun ? '--dry-run' : inputs.join(' ')}`,
      );
    const { importGorse } = await import('./from-gorse.ts');
    return withTarget(flags, config, (target, folder) => importGorse(fromGorse, target, folder));
  }
  const [first, ...others] = inputs;
  if (first === 'vectors') return runVectors(others, flags, config);
  const kind = KINDS.find((name) => name === first);
  const paths = kind === undefined ? inputs : inputs.slice(1);
  if (paths.length === 0) {
    process.stderr.write(
      `furze: name the files${kind === undefined ? '' : ` with ${kind}`} to import (see furze import --help)\n`,
    );
    return 2;
  }
  // Before anything is opened, which would leave an empty data folder behind.
  const missing = paths.find((path) => path !== STDIN && !existsSync(path));
  if (missing !== undefined) throw new OperatorError(`there is no file ${missing}`);
  const isOwn = flags.url === undefined || isServiceOf(config, new URL(flags.url));
  const before = isOwn ? summaryOf(config) : undefined;
  const said = wishesOf(flags);
  const wishes = {
    ...said,
    type: said.type ?? before?.type,
    ratingMin: said.ratingMin ?? before?.ratingMin,
    lowType: said.lowType ?? before?.lowType,
    leftOut: said.leftOut ?? before?.leftOutStates,
    guests: said.guests ?? before?.guests,
    zeroRating: said.zeroRating ?? before?.zeroRating,
  };
  const common = {
    paths,
    preset: flags.from,
    wishes: { ...wishes, kind },
    skipsBad: flags.skipBad === true,
    json: flags.json === true,
    repeats: repeatsOf(flags),
    positiveTypes: isOwn ? config.recommend.data_source.positive_feedback_types : undefined,
    ratingMinBefore: before?.ratingMin,
    repeatedTypes: Object.keys(config.recommend.data_source.repeated),
  };
  if (flags.dryRun) return runImport({ ...common, target: undefined, folder: undefined });
  return withTarget(flags, config, (target, folder, bulk) => runImport({ ...common, target, folder, bulk }));
}

/** Stores the vectors of files. */
async function runVectors(paths: readonly string[], flags: ImportFlags, config: Config): Promise<number> {
  const { space, url, ids } = flags;
  if (space === undefined || paths.length === 0)
    throw new UsageError('vectors need files and --space, the name of one of [vectors] in the configuration');
  const missing = paths.find((path) => path !== STDIN && !existsSync(path));
  if (missing !== undefined) throw new OperatorError(`there is no file ${missing}`);
  const { importVectors } = await import('../../exchange/import-vectors.ts');
  const storeFrom = async (write: WriteVectors) => {
    for (const path of paths) {
      const count = await importVectors(path, write, ids);
      process.stdout.write(
        flags.json
          ? `${JSON.stringify({ path, vectors: count })}\n`
          : `${path}: ${counted(count, 'vectors')}\n`,
      );
    }
  };
  if (url !== undefined) {
    const client = new ServiceClient(url, keyOf(config));
    const { writeVectorsTo } = await import('../../exchange/import-targets.ts');
    await storeFrom(writeVectorsTo(client, space));
    return 0;
  }
  const { data, release } = await openFolders(config, flags.lockWait).catch(tellOfUrl);
  try {
    await storeFrom((json) => data.write({ kind: 'putVectors', space, batch: { json, single: false } }));
  } finally {
    await release();
  }
  return 0;
}

/** True for the address of a service on this host with the port of the configuration. */
function isServiceOf({ server }: Config, { hostname, port }: URL): boolean {
  return isLoopback(hostname) && port === String(server.port);
}

/** How the service was set up, if `furze init` did. */
function summaryOf({ database }: Config): SetUpSummary | undefined {
  const dsn = parseDsn(database.data_store);
  return dsn.engine === 'lmdb' ? readSummary(dsn.path) : undefined;
}

/** @throws UsageError */
function repeatsOf({ sumValues, overwrite, url }: ImportFlags): Repeats {
  if (!sumValues) return overwrite ? 'last' : 'first';
  if (!overwrite && url === undefined) return 'sum';
  throw new UsageError(
    `--sum-values is for the first feedback of a stopped folder; leave out ${overwrite ? '--overwrite' : '--url'}`,
  );
}

/** Opens what is written to, and closes it again. */
async function withTarget(flags: ImportFlags, config: Config, use: Use): Promise<number> {
  const repeats = repeatsOf(flags);
  if (flags.url === undefined) {
    return withStore(config, flags.lockWait, repeats, use).catch(tellOfUrl);
  }
  const { httpTarget } = await import('../../exchange/import-targets.ts');
  return use(httpTarget(new ServiceClient(flags.url, keyOf(config)), repeats === 'last'), stateFolder());
}

/** Adds the way to import into the folder of a running service. @throws the error, or another in its place */
async function tellOfUrl(error: Error): Promise<never> {
  const { FolderLockedError } = await import('../../store/open/open-store.ts');
  if (!(error instanceof FolderLockedError)) throw error;
  throw new OperatorError(`${error.message} Or import while it serves, with --url.`);
}

const NOT_SUMMED = 'values are not added up, and what is there of a user, an item and a type stays.';

type Use = (target: Target, folder: string | undefined, bulk?: BeginBulk) => Promise<number>;

async function withStore(config: Config, lockWait: number, repeats: Repeats, use: Use): Promise<number> {
  const [overwrites, sumsValues] = [repeats === 'last', repeats === 'sum'];
  const { data, cache, options, isReplica, close, release } = await openFolders(config, lockWait);
  // Loaded here, so that other commands load no engine.
  const { BulkImport } = await import('../../store/open/open-store.ts');
  const { bulkTarget, storeTarget } = await import('../../exchange/import-targets.ts');
  const { forgetStaleLists } = await import('../../recommend/lists/freshness.ts');
  const { dataPath } = options;
  const bulk = async () => {
    const isEmpty = (await data.getStats()).feedback === 0 && data.local.feedbackPosition !== undefined;
    if (isReplica || !isEmpty) {
      const place = isReplica ? 'The data is in a database' : 'The folder has feedback already';
      if (sumsValues) process.stderr.write(`${place}: ${NOT_SUMMED}\n`);
      return undefined;
    }
    await close();
    return bulkTarget(await BulkImport.begin(dataPath, options, { sumsValues }), dataPath, overwrites);
  };
  try {
    await forgetStaleLists(cache);
    return await use(storeTarget(data, dataPath, overwrites), dataPath, bulk);
  } finally {
    await release();
  }
}

/** Opens the folders of a configuration; `release` closes what is open, and lets another process have them. */
async function openFolders(config: Config, lockWait: number) {
  const { guardFiles, lockStores, openReadyStore } = await import('../../store/open/open-store.ts');
  const { storeOptions } = await import('../../store/open/store-options.ts');
  const options = storeOptions(config);
  const locks = await lockStores(options, lockWait * 1000);
  const isReplica = options.sharedDatabase !== undefined;
  await guardFiles({ ...options, toRead: [], isReplica }, (message) => process.stderr.write(`${message}\n`));
  // The folder stays this process's until the end, also while the store in it is closed.
  const kept = { ...locks, data: { ...locks.data, release() {} } };
  const { data, cache } = await openReadyStore(options, kept).catch((error: unknown) => {
    locks.data.release();
    throw error;
  });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= data.close());
  const release = async () => {
    await close();
    await cache.close();
    locks.data.release();
  };
  return { data, cache, options, isReplica, close, release };
}

/** True when there is a user, an item or feedback in the folders of a configuration. @param lockWait as for `importInto` */
export async function holdRecords(config: Config, lockWait: number): Promise<boolean> {
  const { data, release } = await openFolders(config, lockWait);
  try {
    const { users, items, feedback } = await data.getStats();
    return users + items + feedback > 0;
  } finally {
    await release();
  }
}

/**
 * Imports files into the folders of a configuration, as the command does without further options.
 * @param lockWait how long to wait for another process that has the folders, seconds
 * @returns the exit code
 */
export function importInto(
  config: Config,
  run: Pick<ImportRun, 'paths' | 'preset' | 'wishes'> &
    Partial<Pick<ImportRun, 'inputs' | 'skipsBad' | 'isQuiet' | 'isShown' | 'repeats'>>,
  lockWait = 0,
): Promise<number> {
  const positiveTypes = config.recommend.data_source.positive_feedback_types;
  const { repeats = 'first' } = run;
  return withStore(config, lockWait, repeats, (target, folder, bulk) =>
    runImport({
      skipsBad: false,
      isQuiet: true,
      ...run,
      repeats,
      target,
      folder,
      bulk,
      json: false,
      positiveTypes,
      repeatedTypes: Object.keys(config.recommend.data_source.repeated),
    }),
  );
}
