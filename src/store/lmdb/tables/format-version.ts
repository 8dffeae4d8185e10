import { OperatorError } from '../../../domain/operator-error.ts';
import { type Engine, readBytes, type Table } from './engine.ts';

/** Raised when a change makes old readers misread the folder. */
const FORMAT_VERSION = 2;

const FORMAT_KEY = Buffer.from('format');

/** What is asked of a folder to know and to raise its version. */
interface VersionedTables {
  readonly engine: Engine;
  readonly meta: Table;
}

/**
 * What makes a folder of a version one of the next, by the version to begin with. Tables and fields that were not there
 * are empty and 0, so 2 has nothing to do; it is a version because an older program would show the feedback of an item
 * that is being deleted.
 */
const MIGRATIONS: Readonly<Record<number, (tables: VersionedTables) => void>> = {
  1: () => {},
};

/**
 * Brings a folder of an older version up to date, in one transaction, unless it is only read.
 * @throws OperatorError when a newer version wrote it; it is closed then
 */
export function checkFormatVersion(tables: VersionedTables, readOnly: boolean): void {
  const { engine, meta } = tables;
  // The tables of a damaged file that is only read may be missing.
  if (readOnly && (meta as Table | undefined) === undefined) return;
  const stored = readBytes(meta, FORMAT_KEY)?.[0];
  if (stored === FORMAT_VERSION) return;
  if (stored === undefined || MIGRATIONS[stored] !== undefined) {
    if (readOnly) return;
    engine.transact(() => {
      for (let version = stored ?? FORMAT_VERSION; version < FORMAT_VERSION; version++)
        MIGRATIONS[version]!(tables);
      meta.put(FORMAT_KEY, new Uint8Array([FORMAT_VERSION]));
    });
    return;
  }
  void engine.close();
  throw new OperatorError(
    `The data folder ${engine.path} has format version ${stored}; this program reads ${FORMAT_VERSION} and older. ` +
      'A newer furze wrote it, or another program: start that one, or restore a backup of this version.',
  );
}
