import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { OperatorError } from '../../../domain/operator-error.ts';

/** LMDB has no checksums of its own: a byte that a disk has changed within a record looks like any other. */
const ENDING = '.sha256';

/** Writes the checksum of a copy beside it, in the form of `sha256sum`. */
export async function writeChecksum(file: string): Promise<void> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file)) hash.update(bytes as Buffer);
  writeFileSync(`${file}${ENDING}`, `${hash.digest('hex')}  ${basename(file)}\n`);
}

/** Removes the checksum of a store that is about to be written. */
export function dropChecksum(file: string): void {
  rmSync(`${file}${ENDING}`, { force: true });
}

/** Passes bytes on as they come. @param hash takes them in */
export async function* hashed(source: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const bytes of source) {
    hash.update(bytes);
    yield bytes;
  }
}

/** @throws OperatorError where the checksum beside a file is of other bytes than these */
export function compareChecksum(file: string, hash: Hash): void {
  const path = `${file}${ENDING}`;
  // One that was not written to its end says nothing.
  const wanted = existsSync(path) && /^[0-9a-f]{64}/.exec(readFileSync(path, 'utf8'))?.[0];
  const found = hash.digest('hex');
  if (!wanted || found === wanted) return;
  throw new OperatorError(`The backup is damaged: its SHA-256 is ${found}, and ${path} says ${wanted}.`);
}
