import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** A file of an archive. */
export interface ArchivedFile {
  /** Relative, with forward slashes, without `..`. */
  readonly path: string;
  readonly isExecutable: boolean;
  readonly content: Uint8Array;
}

/** What stands before the contents: path, bytes, 1 for a file that may be run. */
type Entry = readonly [path: string, bytes: number, executable: 0 | 1];

const LENGTH_BYTES = 4;

/**
 * Packs files into one compressed piece: the length of the table in four bytes, the table of entries as JSON, and the
 * contents one after the other, all of it under Brotli, which Node.js unpacks without any library.
 */
export function packArchive(
  files: readonly ArchivedFile[],
  quality = constants.BROTLI_DEFAULT_QUALITY,
): Buffer {
  const entries = files.map(
    ({ path, content, isExecutable }): Entry => [path, content.byteLength, isExecutable ? 1 : 0],
  );
  const table = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(table.byteLength);
  const whole = Buffer.concat([length, table, ...files.map(({ content }) => content)]);
  return brotliCompressSync(whole, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: whole.byteLength,
    },
  });
}

/** The files of an archive, views into one buffer. @throws Error when it is not one */
export function unpackArchive(packed: Uint8Array): ArchivedFile[] {
  const whole = brotliDecompressSync(packed);
  let at = LENGTH_BYTES + whole.readUInt32LE(0);
  const entries = JSON.parse(whole.toString('utf8', LENGTH_BYTES, at)) as Entry[];
  return entries.map(([path, bytes, executable]) => {
    const content = whole.subarray(at, (at += bytes));
    return { path, isExecutable: executable === 1, content };
  });
}
