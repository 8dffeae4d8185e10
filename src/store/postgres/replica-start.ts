import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withoutUserInfo } from '../../config/without-user-info.ts';
import { messageOf } from '../../domain/furze-error.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { DEFAULT_LIMITS } from '../../domain/request-limits.ts';
import { NOT_WHOLE } from '../commit-effects.ts';
import type { PostgresDsn } from '../dsn.ts';
import { type DataTables, openDataTables } from '../lmdb/tables/data-tables.ts';
import { DATA_FILE, LOCK_FILE } from '../lmdb/tables/engine.ts';
import { readReplicaOf, readState, writeReplicaOf } from '../lmdb/tables/meta-table.ts';
import { GroupWriter } from '../lmdb/writer/group-writer.ts';
import { CannotFollowError } from './cannot-follow-error.ts';
import { CommitLog } from './commit-log.ts';
import { Connection } from './connection.ts';
import { copyAll, type OnCopied } from './copy-all.ts';
import { isAtHead, nextCommits } from './follow-commits.ts';
import { openSchema } from './schema.ts';

/** The rules of writing, for who carries out what was decided elsewhere: they mean nothing there. */
export const NO_RULES = {
  limits: DEFAULT_LIMITS,
  autoInsertUser: true,
  autoInsertItem: true,
  positiveFeedbackTypes: [],
  readFeedbackTypes: [],
};

/** Copies that are begun before a start gives up. */
const COPIES_MAX = 3;

/**
 * Makes the tables in PostgreSQL where there are none, and a folder a replica of them that can follow: one that is new, not whole,
 * too old, of another database, or of commits that this one has lost is copied anew. Nobody else may have the folder open.
 * @param onCopied told now and then how much is copied
 * @throws OperatorError when PostgreSQL cannot be reached or used, or the folder holds data of its own
 */
export async function prepareReplica(dsn: PostgresDsn, path: string, onCopied: OnCopied): Promise<void> {
  let connection: Connection;
  try {
    connection = await Connection.open(dsn, 'furze starting');
  } catch (error) {
    throw new OperatorError(`${withoutUserInfo(dsn.url)} cannot be reached: ${messageOf(error)}.`);
  }
  let opened: DataTables | undefined;
  try {
    const { identity } = await openSchema(connection, dsn.schema);
    let tables = openDataTables(path);
    opened = tables;
    const known = readReplicaOf(tables);
    if (known === undefined && holdsAnything(tables))
      throw new OperatorError(
        `The folder ${path} holds data of its own, which a replica of PostgreSQL would replace: name another one in [database] replica.`,
      );
    let isThere = known?.identity === identity && (await catchUp(dsn, tables));
    for (let copies = 0; !isThere; copies++) {
      if (copies === COPIES_MAX)
        throw new OperatorError(
          `What was committed while ${path} was copied is no longer kept, ${copies} times over: PostgreSQL or the disk is too slow.`,
        );
      if (known !== undefined || copies > 0) {
        opened = undefined;
        await tables.engine.close();
        for (const name of [DATA_FILE, LOCK_FILE]) rmSync(join(path, name), { force: true });
        tables = openDataTables(path);
        opened = tables;
      }
      tables.engine.transact(() => writeReplicaOf(tables, { identity, ...NOT_WHOLE }));
      const copied = await copyAll(dsn, tables, NO_RULES, onCopied);
      tables.engine.transact(() => writeReplicaOf(tables, { identity, ...copied }));
      await tables.engine.flush();
      isThere = await catchUp(dsn, tables);
    }
  } finally {
    await opened?.engine.close();
    await connection.close();
  }
}

/**
 * Takes in what was committed since the replica was open last.
 * @returns false when it cannot be: it is not whole, too old, or of commits that the database has lost
 */
async function catchUp(dsn: PostgresDsn, tables: DataTables): Promise<boolean> {
  const commitLog = new CommitLog(dsn, NO_RULES, 'disk');
  const replica = new GroupWriter(tables, NO_RULES);
  try {
    for (;;) {
      const point = readReplicaOf(tables)!;
      const behind = await commitLog.commitsAfter(point.position);
      if (isAtHead(point, behind)) return true;
      for (;;) {
        const next = nextCommits(readReplicaOf(tables)!, behind.commits);
        if (next.length === 0) break;
        replica.replicate(next);
      }
    }
  } catch (error) {
    if (error instanceof CannotFollowError) return false;
    throw error;
  } finally {
    await commitLog.close();
  }
}

function holdsAnything(tables: DataTables): boolean {
  const { nextUserRow, nextItemRow } = readState(tables);
  return nextUserRow + nextItemRow > 0;
}
