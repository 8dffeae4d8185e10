import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withoutUserInfo } from '../../config/without-user-info.ts';
import { messageOf } from '../../domain/furze-error.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { PositiveKind } from '../../domain/positive-feedback-types.ts';
import { NOT_WHOLE } from '../commit-effects.ts';
import type { PostgresDsn } from '../dsn.ts';
import type { DataTables } from '../lmdb/tables/data-tables.ts';
import { DATA_FILE, LOCK_FILE } from '../lmdb/tables/engine.ts';
import {
  hasKinds,
  keepKinds,
  notePoint,
  readReplicaOf,
  readState,
  writeReplicaOf,
} from '../lmdb/tables/meta-table.ts';
import { GroupWriter } from '../lmdb/writer/group-writer.ts';
import { CannotFollowError } from './cannot-follow-error.ts';
import { CommitLog } from './commit-log.ts';
import { Connection } from './connection.ts';
import { copyAll, NO_RULES, type OnCopied } from './copy-all.ts';
import { isAtHead, nextCommits } from './follow-commits.ts';
import { PartialCopy } from './partial-copy.ts';
import { openSchema } from './schema.ts';
import { isTorn, openCopy } from './unflushed-copy.ts';

/** Copies that are begun before a start gives up. */
const COPIES_MAX = 3;

/**
 * Makes the tables in PostgreSQL where there are none, and a folder a replica of them that can follow: one that is new, not whole,
 * too old, of another database, or of commits that this one has lost is copied anew. Nobody else may have the folder open.
 * @param onCopied told now and then how much is copied
 * @param kinds of a copy of items alone: what its service counts as positive; undefined for a copy of everything
 * @throws OperatorError when PostgreSQL cannot be reached or used, or the folder holds data of its own
 */
export async function prepareReplica(
  dsn: PostgresDsn,
  path: string,
  onCopied: OnCopied,
  kinds?: readonly PositiveKind[],
): Promise<void> {
  const isPartial = kinds !== undefined;
  const connection = await Connection.open(dsn, 'furze starting').catch((error: unknown) => {
    throw new OperatorError(`${withoutUserInfo(dsn.url)} cannot be reached: ${messageOf(error)}.`);
  });
  let tables: DataTables | undefined;
  try {
    const identity = await openSchema(connection, dsn.schema);
    if (isTorn(path)) removeCopy(path);
    tables = openCopy(path, isPartial);
    const known = readReplicaOf(tables);
    if (known === undefined && holdsAnything(tables))
      throw new OperatorError(
        `The folder ${path} holds data of its own, which a replica of PostgreSQL would replace: name another one in [database] replica.`,
      );
    const isSame = known?.identity === identity && (known.isPartial === true) === isPartial;
    // What was told of feedback since is by the kinds of then.
    const mayFollow = isSame && (kinds === undefined || hasKinds(tables, kinds));
    let isThere = mayFollow && (await catchUp(dsn, tables, isPartial));
    for (let copies = 0; !isThere; copies++) {
      if (copies === COPIES_MAX)
        throw new OperatorError(
          `What was committed while ${path} was copied is no longer kept, ${copies} times over: PostgreSQL or the disk is too slow.`,
        );
      const { engine } = tables;
      tables = undefined;
      await engine.close();
      removeCopy(path);
      const copy = openCopy(path, isPartial);
      tables = copy;
      copy.engine.transact(() => writeReplicaOf(copy, { identity, isPartial, ...NOT_WHOLE }));
      if (isPartial) keepKinds(copy, kinds);
      const point = await copyAll(dsn, copy, onCopied, isPartial);
      copy.engine.transact(() => notePoint(copy, point));
      isThere = await catchUp(dsn, copy, isPartial);
    }
    if (isPartial) forgetUsers(tables);
  } finally {
    await tables?.engine.close();
    await connection.close();
  }
}

/**
 * Takes in what was committed since the replica was open last.
 * @returns false when it cannot be: it is not whole, too old, or of commits that the database has lost
 */
async function catchUp(dsn: PostgresDsn, tables: DataTables, isPartial: boolean): Promise<boolean> {
  const commitLog = new CommitLog(dsn, NO_RULES, 'disk');
  const replica = isPartial ? new PartialCopy(tables) : new GroupWriter(tables, NO_RULES);
  try {
    for (;;) {
      const point = readReplicaOf(tables)!;
      const behind = await commitLog.commitsAfter(point.position);
      if (isAtHead(point, behind)) return true;
      const next = () => nextCommits(readReplicaOf(tables)!, behind.commits);
      for (let commits = next(); commits.length > 0; commits = next()) replica.replicate(commits);
    }
  } catch (error) {
    if (error instanceof CannotFollowError) return false;
    throw error;
  } finally {
    await commitLog.close();
  }
}

/** Lets go of the users that were asked for when the copy was open last: nobody knows any more who they are, and how many. */
function forgetUsers(tables: DataTables): void {
  const names = ['userIds', 'users', 'userFeedback', 'comments', 'values', 'repeats'] as const;
  for (const name of names) tables[name].clearSync();
}

function removeCopy(path: string): void {
  for (const name of [DATA_FILE, LOCK_FILE]) rmSync(join(path, name), { force: true });
}

function holdsAnything(tables: DataTables): boolean {
  const { nextUserRow, nextItemRow } = readState(tables);
  return nextUserRow + nextItemRow > 0;
}
