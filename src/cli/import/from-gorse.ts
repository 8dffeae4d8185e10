import { withoutUserInfo } from '../../config/without-user-info.ts';
import { countedRecords } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { type CopyState, copyRecords } from '../../exchange/copy-records.ts';
import { tableSource } from '../../exchange/copy-sources.ts';
import type { Target } from '../../exchange/import-targets.ts';
import { ResumePoint } from '../../exchange/resume-point.ts';
import { parseDsn } from '../../store/dsn.ts';
import { createProgress } from '../common/progress.ts';

/** Where PostgreSQL keeps tables that nobody has said a schema for. */
const SCHEMA = 'public';

/**
 * Imports the users, items and feedback that Gorse keeps in PostgreSQL; one that was cut off goes on where it was.
 * @param database with `schema` and `table_prefix` as parameters, where they are not Gorse's defaults
 * @param folder where it is kept how far it has come
 * @returns the exit code
 * @throws OperatorError when the database cannot be read, or a record cannot be stored
 */
export async function importGorse(
  database: string,
  target: Target,
  folder: string | undefined,
): Promise<number> {
  // Refuses what is no name of a database, and shows no password of it.
  parseDsn(database);
  const { openGorseTables } = await import('../../store/open/open-store.ts');
  const url = new URL(database);
  const prefix = url.searchParams.get('table_prefix') ?? '';
  url.searchParams.delete('table_prefix');
  if (!url.searchParams.has('schema')) url.searchParams.set('schema', SCHEMA);
  const dsn = parseDsn(url.href);
  if (dsn.engine !== 'postgres') throw new OperatorError('--from-gorse reads postgres://HOST/DATABASE.');
  const progress = createProgress(process.stderr);
  const tables = await openGorseTables(dsn, prefix).catch((error: Error) => {
    throw new OperatorError(`${withoutUserInfo(database)} cannot be read: ${error.message}`);
  });
  try {
    const resumePoint = new ResumePoint<CopyState>(folder, 'import-gorse', [
      withoutUserInfo(database),
      target.name,
    ]);
    const copied = await copyRecords({
      source: tableSource((kind, cursor) => tables.page(kind, cursor)),
      target,
      resumePoint,
      onProgress: (kind, records) => progress.report(`importing ${kind}`, records, records),
    });
    resumePoint.remove();
    process.stdout.write(`${countedRecords(copied)} read from ${withoutUserInfo(database)}\n`);
    return 0;
  } finally {
    progress.end();
    await tables.close();
  }
}
