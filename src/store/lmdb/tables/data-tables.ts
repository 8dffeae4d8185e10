import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../../domain/operator-error.ts';
import { encodeJournal, type Journal } from '../../journals.ts';
import { dropChecksum } from './backup-checksum.ts';
import { DATA_FILE, type Engine, type EngineOptions, openEngine, readBytes, type Table } from './engine.ts';

/** The tables of a data store; docs/storage.md says what each holds. */
const TABLES = [
  'meta',
  'userIds',
  'users',
  'itemIds',
  'items',
  'userFeedback',
  'itemFeedback',
  'typeUsers',
  'comments',
  'values',
  'repeats',
  'deletions',
  'recentFeedback',
  'vectors',
  'journals',
] as const;
export type TableName = (typeof TABLES)[number];

/** The data environment with its tables open. */
export interface DataTables extends Readonly<Record<TableName, Table>> {
  readonly engine: Engine;
}

const TABLES_MAX = 16;

/**
 * Opens the data environment, and makes it when the folder is empty, or opens one that exists to read alone.
 * @throws OperatorError when the folder was written by a newer version or another program
 */
export function openDataTables(path: string, options: EngineOptions = {}): DataTables {
  // A backup that is served becomes another store.
  if (options.readOnly !== true) dropChecksum(join(path, DATA_FILE));
  const engine = openEngine(path, TABLES_MAX, TABLES, options);
  const opened = Object.fromEntries(TABLES.map((name) => [name, engine.table(name)]));
  const tables: DataTables = { engine, ...(opened as Record<TableName, Table>) };
  checkFormatVersion(tables, options.readOnly === true);
  return tables;
}

/**
 * Goes over to the file that has taken the place of the one that is open, if one has: whoever reads through these tables
 * does so through the new file from now on. What is in both is the same.
 */
export function followReplacement(tables: DataTables): void {
  const { engine } = tables;
  // Where there is none, as in a folder that was moved away, an empty one would be made.
  if (engine.isReplaced && existsSync(join(engine.path, DATA_FILE)))
    replaceTables(tables, openDataTables(engine.path, engine.options));
}

/** Puts other tables in the place of those that are open, for everybody who has them, and closes the old ones. */
export function replaceTables(tables: DataTables, others: DataTables): void {
  const { engine } = tables;
  Object.assign(tables, others);
  // It waits for a backup that is being made.
  void engine.close();
}

/** Raised when a change makes another program misread the folder. */
const FORMAT_VERSION = 3;

const FORMAT_KEY = Buffer.from('format');

interface VersionedTables {
  readonly engine: Engine;
  readonly meta: Table;
}

/**
 * Gives a new folder its version.
 * @throws OperatorError when the folder has another; it is closed then
 */
function checkFormatVersion({ engine, meta }: VersionedTables, readOnly: boolean): void {
  // The tables of a damaged file that is only read may be missing.
  if (readOnly && (meta as Table | undefined) === undefined) return;
  const stored = readBytes(meta, FORMAT_KEY)?.[0];
  if (stored === FORMAT_VERSION) return;
  if (stored === undefined) {
    if (!readOnly) engine.transact(() => meta.put(FORMAT_KEY, new Uint8Array([FORMAT_VERSION])));
    return;
  }
  void engine.close();
  throw new OperatorError(
    `The data folder ${engine.path} has format version ${stored}; this program reads ${FORMAT_VERSION} alone. ` +
      'Another furze wrote it, or another program: start that one, or restore a backup of this version.',
  );
}

/** Stores a journal; one without entries is taken away. */
export function putJournal({ journals }: Pick<DataTables, 'journals'>, name: string, journal: Journal): void {
  if (journal.length === 0) journals.remove(Buffer.from(name));
  else journals.put(Buffer.from(name), Buffer.from(encodeJournal(journal)));
}
