import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type ArchivedFile, unpackArchive } from './archive.ts';

const UNFINISHED = '.unfinished-';
/** Nobody unpacks for longer. */
const LEFT_MS = 3_600_000;

/** The program could not be put where it can run; the message is for people. */
export class UnpackError extends Error {}

/**
 * Puts the archive's files into `folder`, unless they are there. The folder appears whole or not at all: it is filled
 * under another name, flushed and renamed, so that starts at the same time and a failure of power do no harm.
 * @param tryOut is called with the finished folder before it is renamed; throws when nothing can run from there
 * @throws UnpackError when it cannot be written or nothing can be run from it
 */
export function unpackTo(folder: string, packed: () => Uint8Array, tryOut: (folder: string) => void): void {
  if (existsSync(folder)) return;
  let unfinished: string | undefined;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    unfinished = mkdtempSync(`${folder}${UNFINISHED}`);
    writeFiles(unfinished, unpackArchive(packed()));
    tryOut(unfinished);
    rename(unfinished, folder);
    removeLeftOvers(dirname(folder));
  } catch (error) {
    if (unfinished !== undefined) rmSync(unfinished, { recursive: true, force: true });
    throw new UnpackError(`cannot unpack itself to ${dirname(folder)}: ${(error as Error).message}`);
  }
}

/** What starts that were killed have left. */
function removeLeftOvers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (name.includes(UNFINISHED) && statSync(path).mtimeMs < Date.now() - LEFT_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(to)) throw error;
    rmSync(from, { recursive: true, force: true });
  }
}

function writeFiles(folder: string, files: readonly ArchivedFile[]): void {
  for (const { path, content, isExecutable } of files) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    const file = openSync(target, 'wx', isExecutable ? 0o755 : 0o644);
    try {
      for (let at = 0; at < content.byteLength; ) at += writeSync(file, content, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
