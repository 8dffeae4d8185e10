import type { DataReader } from '../data-store.ts';
import { refuseUnsound } from '../lmdb/maintenance/damaged-files.ts';
import { openDataReader } from './thread-stores.ts';

/**
 * Opens the data store in a folder to read it, for a process that has not opened it; a service may run on it.
 * @throws OperatorError when there is none, it is damaged or a newer version wrote it
 */
export async function openReader(dataPath: string): Promise<DataReader> {
  await refuseUnsound(dataPath);
  return openDataReader(dataPath);
}
