import { OperatorError } from '../../../domain/operator-error.ts';
import { type Engine, readBytes, type Table } from './engine.ts';

/** Raised when a change makes another program misread the folder. */
const FORMAT_VERSION = 2;

const FORMAT_KEY = Buffer.from('format');

interface VersionedTables {
  readonly engine: Engine;
  readonly meta: Table;
}

/**
 * Gives a new folder its version.
 * @throws OperatorError when the folder has another; it is closed then
 */
export function checkFormatVersion({ engine, meta }: VersionedTables, readOnly: boolean): void {
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
