import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../platform/files/make-folder.ts';
import { syncToDisk } from '../lmdb/maintenance/unfinished-copies.ts';
import { type DataTables, openDataTables } from '../lmdb/tables/data-tables.ts';

/** Beside a copy that is written without flushes: in which run of the machine. */
const NOTE = 'unflushed';

/**
 * Opens a copy to write it. One of items alone is made anew in no time, and is written without flushes: whatever ends the process
 * leaves it whole, and a machine that goes down may leave anything.
 */
export function openCopy(path: string, isPartial: boolean, mapBytes?: number): DataTables {
  if (isPartial) {
    makeFolder(path);
    writeFileSync(join(path, NOTE), runOfMachine());
    // Before anything of what it warns of can be on the disk.
    for (const each of [join(path, NOTE), path]) syncToDisk(each);
  }
  return openDataTables(path, { mapBytes, isScratch: isPartial });
}

/** Brings such a copy to the disk, which nobody writes any more. */
export async function flushCopy({ engine }: DataTables): Promise<void> {
  await engine.flush();
  rmSync(join(engine.path, NOTE), { force: true });
}

/** True where the machine went down while a copy was written without flushes, or may have. */
export function isTorn(path: string): boolean {
  const noted = readText(join(path, NOTE));
  return noted !== undefined && (noted === '' || noted !== runOfMachine());
}

/** Linux tells one run of the machine from another; elsewhere each counts as another. */
function runOfMachine(): string {
  return readText('/proc/sys/kernel/random/boot_id') ?? '';
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
