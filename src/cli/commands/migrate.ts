import { join } from 'node:path';
import { Command } from 'commander';
import type { Config, Environment } from '../../config/config.ts';
import { withoutUserInfo } from '../../config/without-user-info.ts';
import { counted, countedRecords } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import {
  BEGUN,
  type CopyState,
  compareRecords,
  copyRecords,
  type KINDS,
} from '../../exchange/copy-records.ts';
import { storeSource } from '../../exchange/copy-sources.ts';
import { copyVectors, tellLeft } from '../../exchange/copy-vectors.ts';
import { storeTarget, type Target } from '../../exchange/import-targets.ts';
import { ResumePoint } from '../../exchange/resume-point.ts';
import { temporaryFolder } from '../../platform/files/temporary-folder.ts';
import { openedFolders } from '../../platform/process/supervisor-notes.ts';
import type { DataStore } from '../../store/data-store.ts';
import { parseDsn } from '../../store/dsn.ts';
import type { Stores } from '../../store/open/open-store.ts';
import { loadConfig } from '../common/load-config.ts';
import { configOption, lockWaitOption } from '../common/options.ts';
import { createProgress } from '../common/progress.ts';

interface MigrateOptions {
  readonly from: string;
  readonly to: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly lockWait: number;
}

const HELP = `
No service may run on a folder that is moved, and none may write to a database that is. One that was cut off goes on where it was
when the same command is run again. At the end every record is looked up in the new store and compared. Lists and models are not moved: they are
made again. The source stays as it is. A database is read and written by way of a copy in [database] replica, which a node on
this host can use afterwards.

Examples:
  furze migrate --from lmdb://./data --to postgres://furze@db.example:5432/furze
  furze migrate --from postgres://furze@db.example:5432/furze --to lmdb://./data`;

/** `furze migrate`: all users, items, their vectors and feedback from one store to another. */
export function migrateCommand(env: Environment): Command {
  return new Command('migrate')
    .description('move all data from a folder to PostgreSQL or back, and compare every record')
    .requiredOption('--from <store>', 'lmdb://PATH or postgres://USER@HOST:PORT/DATABASE')
    .requiredOption('--to <store>', 'the same; it must be empty')
    .addOption(configOption())
    .option('--json', 'print what was moved as JSON')
    .addOption(lockWaitOption())
    .addHelpText('after', HELP)
    .action(async ({ from, to, config, lockWait, json }: MigrateOptions) => {
      const { moved, vectors, resumePoint } = await migrate(
        from,
        to,
        loadConfig({ path: config, env }),
        lockWait,
      );
      const all = `${countedRecords(moved)}${vectors === 0 ? '' : `, ${counted(vectors, 'vectors')}`}`;
      const told = `${all} moved to ${withoutUserInfo(to)}, each compared with its source\n`;
      process.stdout.write(json ? `${JSON.stringify({ ...moved, vectors })}\n` : told);
      // Last: whoever was not told runs the command again, which takes a full store for its own by this alone.
      resumePoint.remove();
    });
}

interface Moved {
  readonly moved: Record<(typeof KINDS)[number], number>;
  readonly vectors: number;
  readonly resumePoint: ResumePoint<CopyState>;
}

/** @returns how many records were moved and compared, and what is to be removed once that is told */
async function migrate(from: string, to: string, config: Config, lockWait: number): Promise<Moved> {
  const [source, target] = [parseDsn(from), parseDsn(to)];
  if (source.engine === 'postgres' && target.engine === 'postgres')
    throw new OperatorError(
      'Only one of --from and --to can be PostgreSQL; its own tools copy one database to another.',
    );
  if (withoutUserInfo(from) === withoutUserInfo(to))
    throw new OperatorError('--from and --to name the same store.');
  // A folder that is not there would be made, and come to nothing moved.
  if (source.engine === 'lmdb')
    await (await import('../../store/open/open-store.ts')).refuseUnsound(source.path);
  const progress = createProgress(process.stderr);
  try {
    return await withStore(from, config, lockWait, ({ data: old, identity: sourceIdentity }) =>
      withStore(to, config, lockWait, async ({ data: fresh, identity }, folder) => {
        // One that was made anew under the same name is another store.
        const work = [withoutUserInfo(from), sourceIdentity, withoutUserInfo(to), identity];
        const resumePoint = new ResumePoint<CopyState>(folder, 'migrate', work);
        if (resumePoint.read() === undefined) await checkEmpty(fresh, to);
        const records = storeSource(old, true);
        const [target, counting] = [true, false].map((overwrites) =>
          storeTarget(fresh, withoutUserInfo(to), overwrites),
        ) as [Target, Target];
        const total = await old.getStats();
        const tell = (stage: string) => (kind: (typeof KINDS)[number], done: number) =>
          progress.report(`${stage} ${kind}`, done, total[kind]);
        await copyRecords({ source: records, target, counting, resumePoint, onProgress: tell('moving') });
        const { copied: vectors, left } = await copyVectors(old.local, fresh, config.vectors);
        const { compared, different, differentCount } = await compareRecords(
          records,
          fresh,
          tell('comparing'),
        );
        progress.end();
        if (differentCount > 0) {
          // The next run copies everything again, over what is there.
          resumePoint.write(BEGUN);
          const { findDamage } = await import('../../store/open/open-store.ts');
          const damage = await findDamage(openedFolders());
          if (damage !== undefined) throw new OperatorError(damage);
          throw new OperatorError(
            `${counted(differentCount, 'records')} ${differentCount === 1 ? 'differs' : 'differ'}:\n${different.join('\n')}`,
          );
        }
        for (const line of tellLeft(left)) process.stderr.write(`${line}\n`);
        return { moved: compared, vectors, resumePoint };
      }),
    );
  } finally {
    progress.end();
  }
}

async function checkEmpty(data: DataStore, name: string): Promise<void> {
  const { users, items, feedback } = await data.getStats();
  if (users + items + feedback > 0)
    throw new OperatorError(`${withoutUserInfo(name)} holds data already; name an empty store in --to.`);
}

/** Opens a store for this process alone, with a cache that is thrown away. */
async function withStore<Result>(
  dsn: string,
  config: Config,
  lockWait: number,
  use: (stores: Stores, folder: string) => Promise<Result>,
): Promise<Result> {
  // Loaded here, so that other commands load no engine.
  const { guardFiles, lockStores, openReadyStore } = await import('../../store/open/open-store.ts');
  const { storeOptions } = await import('../../store/open/store-options.ts');
  const scratch = temporaryFolder('furze-migrate-');
  try {
    const database = {
      ...config.database,
      data_store: dsn,
      cache_store: `lmdb://${join(scratch.path, 'cache')}`,
    };
    // Records are moved as they are, each event of them: no positive feedback takes the place of a read one.
    const rules = { autoInsertUser: true, autoInsertItem: true, readFeedbackTypes: [] };
    const options = { ...storeOptions({ ...config, database }), ...rules, countsAllRepeats: true };
    const locks = await lockStores(options, lockWait * 1000);
    const isReplica = options.sharedDatabase !== undefined;
    await guardFiles({ ...options, toRead: [], isReplica }, (message) =>
      process.stderr.write(`${message}\n`),
    );
    const stores = await openReadyStore(options, locks);
    try {
      return await use(stores, options.dataPath);
    } finally {
      await stores.data.close();
      await stores.cache.close();
    }
  } finally {
    scratch.remove();
  }
}
