import { Engine, type EngineOptions, type Table } from './engine.ts';
import { checkFormatVersion } from './format/format-version.ts';

/** The data environment with its tables open; docs/storage.md says what each holds. */
export interface DataTables {
  readonly engine: Engine;
  readonly meta: Table;
  readonly userIds: Table;
  readonly users: Table;
  readonly itemIds: Table;
  readonly items: Table;
  readonly userFeedback: Table;
  readonly itemFeedback: Table;
  readonly typeUsers: Table;
  readonly comments: Table;
  readonly values: Table;
  readonly deletions: Table;
  readonly recentFeedback: Table;
}

const TABLES_MAX = 16;

/**
 * Opens the data environment, and makes it when the folder is empty, or opens one that exists to read alone.
 * @throws OperatorError when the folder was written by a newer version
 */
export function openDataTables(path: string, options: EngineOptions = {}): DataTables {
  const engine = new Engine(path, TABLES_MAX, options);
  const tables: DataTables = {
    engine,
    meta: engine.table('meta'),
    userIds: engine.table('userIds'),
    users: engine.table('users'),
    itemIds: engine.table('itemIds'),
    items: engine.table('items'),
    userFeedback: engine.table('userFeedback'),
    itemFeedback: engine.table('itemFeedback'),
    typeUsers: engine.table('typeUsers'),
    comments: engine.table('comments'),
    values: engine.table('values'),
    deletions: engine.table('deletions'),
    recentFeedback: engine.table('recentFeedback'),
  };
  checkFormatVersion(tables, options.readOnly === true);
  return tables;
}

/**
 * Goes over to the file that has taken the place of the one that is open, if one has: whoever reads through these tables
 * does so through the new file from now on. What is in both is the same.
 */
export function followReplacement(tables: DataTables): void {
  const { engine } = tables;
  if (engine.isReplaced) replaceTables(tables, openDataTables(engine.path, engine.options));
}

/** Puts other tables in the place of those that are open, for everybody who has them, and closes the old ones. */
export function replaceTables(tables: DataTables, others: DataTables): void {
  const { engine } = tables;
  Object.assign(tables, others);
  // It waits for a backup that is being made.
  void engine.close();
}
