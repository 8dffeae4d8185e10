import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/**
 * How LMDB, as lmdb-js 3.2 to 3.5 has it, words a page that it could not write. It takes 100 bytes for the words, and they can be
 * 126 long: of the sizes at the end two are read from where nothing was put, where fewer than three buffers were written.
 * What is beyond the 100 bytes belongs to others, so that a full disk could end the process at its next allocation.
 */
const TOO_LONG = 'Attempting to write page at position %u, size %u, blocks %u, buffer sizes %i %i %i\0';
/** Where it may end: 64 bytes at most are what is left. */
const END = TOO_LONG.indexOf(', blocks');
const NUL = new Uint8Array(1);

/** Parts of the engine's binary that hold constants or code, as the kernel tells of them. */
const CONSTANTS = /^([0-9a-f]+)-([0-9a-f]+) r-[-x]p .*lmdb.*\.node$/gm;

let isDone = false;

/**
 * Ends the engine's words of a failed write before they become too long for the memory that it takes for them: one byte
 * of a constant in this process, which all of its threads share, before any of them writes. Nothing is changed where the
 * constant is another one, and where the platform does not let a process write its own memory.
 */
export function shortenWriteErrors(): void {
  if (isDone || process.platform !== 'linux') return;
  isDone = true;
  let memory: number | undefined;
  try {
    const maps = readFileSync('/proc/self/maps', 'utf8');
    memory = openSync('/proc/self/mem', 'r+');
    for (const [, from, to] of maps.matchAll(CONSTANTS)) {
      const start = Number.parseInt(from!, 16);
      const bytes = Buffer.alloc(Number.parseInt(to!, 16) - start);
      readSync(memory, bytes, 0, bytes.length, start);
      const at = bytes.indexOf(TOO_LONG);
      if (at !== -1) writeSync(memory, NUL, 0, 1, start + at + END);
    }
  } catch {
    // A sandbox: the engine stays as it is.
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
}
