import { statfs } from 'node:fs/promises';
import type { Storage } from '../domain/admin-schemas.ts';
import { externalBytes } from '../memory/garbage-collection.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { DataStore, TableStats } from '../store/data-store.ts';
import type { ShownLog } from '../store/shown-log.ts';

export interface StoreFolders {
  readonly dataPath: string;
  readonly cachePath: string;
}

type MemoryPart = Storage['Memory'][number];

/** Free and all bytes of the disk that a folder is on; undefined where that cannot be told. */
export async function diskSpace(folder: string): Promise<{ free: number; all: number } | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free: bavail * bsize, all: blocks * bsize };
  } catch {
    return undefined;
  }
}

/**
 * Sizes of the service on disk and in memory.
 * @param shared parts of the memory that the service knows by itself
 */
export async function describeStorage(
  data: DataStore,
  cache: CacheStore,
  shownLog: ShownLog,
  { dataPath, cachePath }: StoreFolders,
  shared: readonly MemoryPart[],
): Promise<Storage> {
  const [stats, cacheStats, tables, cacheTables, shownTables, disk] = await Promise.all([
    data.getStats(),
    cache.getStats(),
    data.getTables(),
    cache.getTables(),
    shownLog.getTables().catch(() => []),
    diskSpace(dataPath),
  ]);
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return {
    DataFolder: dataPath,
    DataBytes: stats.bytes,
    CacheFolder: cachePath,
    CacheBytes: cacheStats.bytes,
    ...(disk !== undefined && { DiskFreeBytes: disk.free, DiskBytes: disk.all }),
    Tables: [...rowsOf('data', tables), ...rowsOf('cache', cacheTables), ...rowsOf('shown', shownTables)],
    Memory: [
      { Name: 'resident', Bytes: rss, Note: 'The whole process, pages of the files it has mapped included' },
      { Name: 'heap', Bytes: heapUsed, Note: 'Objects of the main thread' },
      {
        Name: 'external',
        Bytes: externalBytes(),
        Note: 'Held by objects of the main thread outside its heap',
      },
      { Name: 'array buffers', Bytes: arrayBuffers, Note: 'Of which typed arrays' },
      ...shared,
    ],
    ...(stats.feedback > 0 && { BytesPerFeedback: stats.bytes / stats.feedback }),
  };
}

function rowsOf(Store: string, tables: readonly TableStats[]): Storage['Tables'] {
  return tables.map(({ name: Name, entries: Entries, bytes: Bytes }) => ({ Store, Name, Entries, Bytes }));
}
