import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withoutUserInfo } from '../../config/without-user-info.ts';
import { messageOf } from '../../domain/errors.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { DEFAULT_LIMITS } from '../../domain/request-limits.ts';
import { NOT_WHOLE, type Point } from '../commit-effects.ts';
import type { PostgresDsn } from '../dsn.ts';
import { type DataTables, openDataTables } from '../lmdb/tables/data-tables.ts';
import { DATA_FILE, LOCK_FILE } from '../lmdb/tables/engine.ts';
import { readState, readUpstream, writeUpstream } from '../lmdb/tables/meta-table.ts';
import { GroupWriter } from '../lmdb/writer/write-group-in-one-transaction.ts';
import { CommitLog } from './commit-log.ts';
import { Connection } from './connection.ts';
import { copyAll, type OnCopied } from './copy-all.ts';
import { openSchema } from './schema.ts';

/** A copy applies what was decided elsewhere, so the rules of writing mean nothing to it. */
const NO_RULES = {
  limits: DEFAULT_LIMITS,
  autoInsertUser: true,
  autoInsertItem: true,
  positiveFeedbackTypes: [],
  readFeedbackTypes: [],
};

/**
 * Makes the tables in PostgreSQL where there are none, and a folder a copy of them that can follow: one that is new, not whole,
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
  try {
    const head = await openSchema(connection, dsn.schema);
    const { identity } = head;
    let tables = openDataTables(path);
    const known = readUpstream(tables);
    if (known === undefined && holdsAnything(tables)) {
      await tables.engine.close();
      throw new OperatorError(
        `The folder ${path} holds data of its own, which a copy of PostgreSQL would replace: name another one in [database] replica.`,
      );
    }
    const follows = known?.identity === identity && (await canFollow(connection, dsn.schema, known, head));
    if (!follows) {
      if (known !== undefined) {
        await tables.engine.close();
        for (const name of [DATA_FILE, LOCK_FILE]) rmSync(join(path, name), { force: true });
        tables = openDataTables(path);
      }
      tables.engine.transact(() => writeUpstream(tables, { identity, ...NOT_WHOLE }));
      const copied = await copyAll(dsn, tables, NO_RULES, onCopied);
      tables.engine.transact(() => writeUpstream(tables, { identity, ...copied }));
      await tables.engine.flush();
    }
    await catchUp(dsn, tables);
    await tables.engine.close();
  } finally {
    await connection.close();
  }
}

/** Takes in what was committed since the copy was open last. */
async function catchUp(dsn: PostgresDsn, tables: DataTables): Promise<void> {
  const commitLog = new CommitLog(dsn, NO_RULES, 'disk');
  const copy = new GroupWriter(tables, NO_RULES);
  try {
    for (;;) {
      const commits = await commitLog.commitsAfter(readUpstream(tables)!.position);
      if (commits.length === 0) break;
      for (const commit of commits) copy.replicate(commit);
    }
  } finally {
    await commitLog.close();
  }
}

/** Whether a copy as of this point can go on: the truth has come through it, and what it did afterwards is kept. */
async function canFollow(
  connection: Connection,
  schema: string,
  { position, mark }: Point,
  head: Point,
): Promise<boolean> {
  if (position >= head.position) return position === head.position && mark === head.mark;
  const [next] = await connection.rows<[number]>(
    `SELECT mark_before FROM "${schema}".changes WHERE position = $1`,
    [position + 1],
  );
  return next?.[0] === mark;
}

function holdsAnything(tables: DataTables): boolean {
  const { nextUserRow, nextItemRow } = readState(tables);
  return nextUserRow + nextItemRow > 0;
}
