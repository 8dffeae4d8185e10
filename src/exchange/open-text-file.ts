import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { OperatorError } from '../domain/operator-error.ts';
import { refuseDevice } from '../platform/files/refuse-device.ts';
import { notText } from './foreign-files.ts';
import { likelyEncoding, markedEncoding, type TextEncoding } from './guess-encoding.ts';
import { linesOfArray } from './nested-rows.ts';
import { OpenReading } from './open-reading.ts';

/** The name that stands for standard input. */
export const STDIN = '-';

/** True for what can be read once only: standard input, a named pipe. */
export function isStream(path: string): boolean {
  return path === STDIN || statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

const PARQUET_MAGIC = 'PAR1';

/** A file as text, unpacked. */
export interface OpenedText {
  readonly chunks: AsyncIterable<string>;
  /** Bytes read of the file itself so far. */
  readonly bytesRead: () => number;
  /** Of the file itself; 0 when that is not known. */
  readonly bytesTotal: number;
}

/**
 * Opens a file, or standard input, that may be packed with gzip or zstd, which its first bytes tell. The rows of a Parquet file
 * are lines of JSON.
 * @param signal ends the text where it is once that is aborted, also while nothing comes
 * @throws OperatorError when it cannot be read; while it is read also when it is damaged, no text or not in its encoding
 */
export function openText(path: string, encoding: TextEncoding, signal?: AbortSignal): OpenedText {
  let bytesRead = 0;
  const bytesTotal = path === STDIN ? 0 : sizeOf(path);
  async function* counted(): AsyncGenerator<Buffer> {
    const source: Readable = path === STDIN ? process.stdin : createReadStream(path);
    const end = () => source.destroy();
    signal?.addEventListener('abort', end);
    try {
      for await (const chunk of source) {
        bytesRead += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    } finally {
      signal?.removeEventListener('abort', end);
    }
  }
  async function* lines(): AsyncGenerator<string> {
    const { parquetLines } = await import('./parquet-rows.ts');
    for await (const some of parquetLines(path, (share) => (bytesRead = share * bytesTotal))) {
      if (signal?.aborted) return;
      yield some;
    }
  }
  const chunks = isParquet(path) ? lines() : decoded(path, counted(), encoding);
  return { chunks, bytesRead: () => bytesRead, bytesTotal };
}

/** True for a Parquet file, by its first bytes. */
function isParquet(path: string): boolean {
  if (isStream(path)) return false;
  const bytes = Buffer.alloc(PARQUET_MAGIC.length);
  const file = openSync(path, 'r');
  try {
    return (
      readSync(file, bytes, 0, bytes.length, 0) === bytes.length && bytes.toString('latin1') === PARQUET_MAGIC
    );
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new OperatorError(`${path} is a folder; name the files in it`);
    refuseDevice(path);
    return stat.size;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(fileFault(path, error));
  }
}

function fileFault(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `there is no file ${path}`;
  return code === 'EACCES' ? `${path} may not be read by this user` : `${path} cannot be read (${code})`;
}

async function* decoded(
  path: string,
  source: AsyncGenerator<Buffer>,
  encoding: TextEncoding,
): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let last: Uint8Array = new Uint8Array();
  const inLines = linesOfArray();
  try {
    for await (const chunk of unpacked(source)) {
      last = chunk;
      decoder ??= decoderOf(path, chunk, encoding);
      const text = inLines(decoder.decode(chunk, { stream: true }));
      if (text !== '') yield text;
    }
    const rest = inLines(decoder?.decode() ?? '', true);
    if (rest !== '') yield rest;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      throw notIn(decoder?.encoding ?? encoding, path, last);
    }
    throw new OperatorError(`${path} cannot be read to its end: ${message}`);
  }
}

/** @throws OperatorError when the first bytes show that it is no text */
function decoderOf(path: string, first: Uint8Array, encoding: TextEncoding) {
  const marked = markedEncoding(first);
  const isWide = marked !== undefined || encoding.startsWith('utf-16');
  const other = isWide ? undefined : notText(first);
  if (other !== undefined) throw new OperatorError(`${path} is ${other}`);
  return new TextDecoder(marked ?? encoding, { fatal: true });
}

/**
 * The encoding of a file that is UTF-8 or else of `other`: hardly any other text is UTF-8 by chance, but for plain letters in
 * UTF-16, which have zeros between them.
 */
export async function encodingOf(path: string, other: TextEncoding | undefined): Promise<TextEncoding> {
  if (other === undefined || other === 'utf-8' || isStream(path)) return other ?? 'utf-8';
  try {
    const isWide = other.startsWith('utf-16');
    for await (const chunk of openText(path, 'utf-8').chunks)
      if (isWide && chunk.includes('\0')) return other;
    return 'utf-8';
  } catch {
    return other;
  }
}

const GZIP_MAGIC = [0x1f, 0x8b];
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

async function* unpacked(source: AsyncGenerator<Buffer>): AsyncGenerator<Uint8Array> {
  const first = await source.next();
  if (first.done) return;
  async function* whole(): AsyncGenerator<Buffer> {
    yield first.value as Buffer;
    yield* source;
  }
  const begins = (magic: readonly number[]) => magic.every((byte, at) => first.value[at] === byte);
  if (begins(GZIP_MAGIC)) yield* through(whole(), zlib.createGunzip());
  else if (begins(ZSTD_MAGIC)) yield* unzstd(whole());
  else yield* whole();
}

async function* through(source: AsyncGenerator<Buffer>, transform: Transform): AsyncGenerator<Uint8Array> {
  const input = Readable.from(source);
  input.once('error', (error) => transform.destroy(error));
  for await (const chunk of input.pipe(transform)) yield chunk as Buffer;
}

/** Node.js unpacks zstd from version 22.15 on; the library does it everywhere. */
async function* unzstd(source: AsyncGenerator<Buffer>): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  let isOver = false;
  const decompress = new Decompress((chunk, isLast) => {
    ready.push(chunk);
    isOver = isLast === true;
  });
  for await (const chunk of source) {
    decompress.push(chunk);
    const out = ready;
    ready = [];
    yield* out;
  }
  if (!isOver) decompress.push(new Uint8Array(0), true);
  yield* ready;
}

/** The beginning of a text, and the whole of it to read on. */
export interface PeekedText {
  readonly head: string;
  /** True when the head is all there is. */
  readonly isWhole: boolean;
  readonly opened: OpenedText;
  /** Closes the file where nothing more of it is read. */
  readonly close: () => Promise<unknown>;
}

/** Looks at the first `characters` of a text, or a little more. */
export async function peekText(opened: OpenedText, characters: number): Promise<PeekedText> {
  const iterator = opened.chunks[Symbol.asyncIterator]();
  const taken: string[] = [];
  let length = 0;
  let isWhole = false;
  while (length < characters && !isWhole) {
    const { done, value } = await iterator.next();
    if (done) isWhole = true;
    else {
      taken.push(value);
      length += value.length;
    }
  }
  async function* replayed(): AsyncGenerator<string> {
    try {
      yield* taken;
      if (!isWhole) yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  }
  const close = async () => iterator.return?.();
  return { head: taken.join(''), isWhole, opened: { ...opened, chunks: replayed() }, close };
}

function notIn(encoding: string, path: string, bytes: Uint8Array): OpenReading {
  // What has the mark of UTF-16 is of no other encoding.
  const likely = encoding.startsWith('utf-16') ? undefined : likelyEncoding(bytes);
  const advice = likely === undefined ? ' to its end' : `; try --encoding ${likely.encoding}`;
  return new OpenReading(
    'encoding',
    `${path} is not text in ${encoding}`,
    advice,
    likely?.encoding,
    likely?.name,
  );
}
