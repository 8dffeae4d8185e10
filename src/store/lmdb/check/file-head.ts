import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE } from '../tables/engine.ts';

/*
 * The two meta pages at the head of an LMDB file, as lmdb-js lays them out (mdb.c, MDB_page_header and MDB_meta): a page
 * header of 24 bytes with the page's flags at 18, then magic, version, and from byte 48 the tables of free pages
 * and of names, 48 bytes each with the page size first and the root last; then the last page and the transaction.
 */
const HEAD_BYTES = 168;
const FLAGS_AT = 18;
const MAGIC_AT = 24;
const VERSION_AT = 28;
const PAGE_SIZE_AT = 48;
const ROOTS_AT = [88, 136];
const LAST_PAGE_AT = 144;
const META_FLAG = 0x08;
const MAGIC = 0xbeefc0de;
const FORMAT = 2;
const NO_ROOT = 2n ** 64n - 1n;

/** Facts in the head of an LMDB file, read without opening it, which would end the process where the file is damaged. */
export type FileState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'sound' }
  /** Shorter than its last page: cut off, unless the pages that are missing are free ones. */
  | { readonly kind: 'short'; readonly bytes: number; readonly expectedBytes: number }
  | { readonly kind: 'damaged'; readonly reason: string };

/** Looks at the head of the LMDB file in a folder. @throws Error of the file system when it may not be read */
export function inspectFile(folder: string): FileState {
  const path = join(folder, DATA_FILE);
  let file: number;
  try {
    // A pipe would be waited for.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') return damaged('it is a link that leads back to itself');
    if (code !== 'ENOENT') throw error;
    const isLink = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    return isLink ? damaged('it is a link to a file that is not there') : { kind: 'absent' };
  }
  try {
    const stats = fstatSync(file);
    return stats.isFile() ? inspect(file, stats.size) : damaged(`${DATA_FILE} is no file`);
  } catch (error) {
    return damaged(`it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  } finally {
    closeSync(file);
  }
}

function damaged(reason: string): FileState {
  return { kind: 'damaged', reason };
}

function inspect(file: number, bytes: number): FileState {
  if (bytes === 0) return { kind: 'absent' };
  const first = readMeta(file, 0);
  if (typeof first === 'string') return damaged(`its first page ${first}`);
  const second = readMeta(file, first.pageBytes);
  if (typeof second === 'string') return damaged(`its second page ${second}`);
  if (second.pageBytes !== first.pageBytes) return damaged('its two heads name different page sizes');
  const pages = Math.ceil(bytes / first.pageBytes);
  for (const { roots, lastPage } of [first, second]) {
    if (roots.some((root) => root !== NO_ROOT && (root > lastPage || root < 2n)))
      return damaged('its head names pages that cannot be');
    if (roots.some((root) => root !== NO_ROOT && root >= BigInt(pages)))
      return damaged('it ends before the root of its tables');
  }
  const lastPage = first.lastPage > second.lastPage ? first.lastPage : second.lastPage;
  const expectedBytes = (Number(lastPage) + 1) * first.pageBytes;
  if (bytes < expectedBytes) return { kind: 'short', bytes, expectedBytes };
  return { kind: 'sound' };
}

interface Meta {
  readonly pageBytes: number;
  readonly roots: readonly bigint[];
  readonly lastPage: bigint;
}

function readMeta(file: number, at: number): Meta | string {
  const head = Buffer.alloc(HEAD_BYTES);
  if (readSync(file, head, 0, HEAD_BYTES, at) < HEAD_BYTES) return 'is cut off';
  if (head.readUInt32LE(MAGIC_AT) !== MAGIC) return 'is not that of an LMDB file';
  if ((head.readUInt16LE(FLAGS_AT) & META_FLAG) === 0) return 'is not marked as a head';
  const version = head.readUInt32LE(VERSION_AT) & 0xffff;
  if (version !== FORMAT) return `has LMDB format ${version}, not ${FORMAT}`;
  const pageBytes = head.readUInt32LE(PAGE_SIZE_AT);
  const isSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  if (!isSize) return `names an impossible page size, ${pageBytes}`;
  const roots = ROOTS_AT.map((root) => head.readBigUInt64LE(root));
  return { pageBytes, roots, lastPage: head.readBigUInt64LE(LAST_PAGE_AT) };
}
