import {
  detectFormat,
  isUsualDelimiter,
  type RowFormat,
  unusualDelimiter,
} from '../../exchange/file-format.ts';
import { notText, wideEncoding } from '../../exchange/foreign-files.ts';
import type { Kind } from '../../exchange/guess-columns.ts';
import { likelyEncoding } from '../../exchange/guess-encoding.ts';
import { linesOfArray } from '../../exchange/nested-rows.ts';
import { type BadRow, keysOf, type ReadRow, readRows } from '../../exchange/read-rows.ts';
import { API_COLUMNS, apiKindOf } from '../../exchange/rows-to-records.ts';

/** A file that was chosen, unpacked, and how its text is written. */
export interface OpenedFile {
  readonly file: File;
  /** A name that browsers decode by. */
  readonly encoding: string;
  readonly format: RowFormat;
  /** The keys of JSON, whose values are the cells; empty for any other format. */
  readonly keys: readonly string[];
  /** The first text, by which columns are guessed; the last line may be cut off unless it is all of the file. */
  readonly head: string;
  readonly isWhole: boolean;
  /** Records of JSON in the form of the API; undefined for anything else. */
  readonly apiKind: Kind | undefined;
}

/** Some rows, and the bytes of the file that were read for them and those before. */
export interface RowBatch {
  readonly rows: readonly (ReadRow | BadRow)[];
  readonly bytes: number;
}

const HEAD_BYTES = 64 * 1024;

/** @throws Error in words when it is damaged, no text or of a form that is not understood */
export async function openFile(given: File): Promise<OpenedFile> {
  const file = await unpack(given);
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const encoding = wideEncodingOf(bytes) ?? (await encodingOf(file, bytes));
  const head = linesOfArray()(new TextDecoder(encoding).decode(bytes));
  const format = formatOf(head);
  const lines = file.size > HEAD_BYTES ? head.slice(0, head.lastIndexOf('\n') + 1) : head;
  const keys = format.name === 'ndjson' ? keysOf(lines, format.list) : [];
  const apiKind = apiKindOf(keys);
  const isWhole = file.size <= HEAD_BYTES;
  return { file, encoding, format, head, isWhole, keys: apiKind === undefined ? keys : API_COLUMNS, apiKind };
}

/** With a sign between columns that none is known by, but that stands in each line. */
function formatOf(head: string): RowFormat {
  const format = detectFormat(head);
  if (format.name !== 'delimited' || head.split(/[\r\n]/, 1)[0]!.includes(format.delimiter)) return format;
  return detectFormat(head, unusualDelimiter(head));
}

/** The same file with another sign between its columns. @param sign none for a comma */
export function withDelimiter(opened: OpenedFile, sign: string): OpenedFile {
  const { format } = opened;
  if (format.name !== 'delimited') return opened;
  const delimiter = sign === '' || /["\r\n]/.test(sign) ? ',' : sign;
  return { ...opened, format: { ...format, delimiter, isQuoted: delimiter !== '::' } };
}

/** True when a sign parts the text into several columns. */
export function hasUsualDelimiter({ format }: OpenedFile, columns: number): boolean {
  return format.name !== 'delimited' || (columns > 1 && isUsualDelimiter(format.delimiter));
}

/** Unpacks gzip. */
async function unpack(file: File): Promise<File> {
  if (!/\.gz$/i.test(file.name)) return file;
  const unpacked = new Response(file.stream().pipeThrough(new DecompressionStream('gzip')));
  const name = file.name.replace(/\.gz$/i, '');
  const blob = await unpacked.blob().catch(() => {
    throw new Error(`${file.name} cannot be unpacked: it is damaged, or not packed with gzip.`);
  });
  return new File([blob], name, { lastModified: file.lastModified });
}

/** UTF-16 by its mark or its zeros. */
function wideEncodingOf(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return wideEncoding(bytes);
}

/** UTF-8 where all of it is, else what its bytes are likely of. @throws Error when it is no text */
async function encodingOf(file: File, bytes: Uint8Array): Promise<string> {
  const other = notText(bytes);
  if (other !== undefined) throw new Error(`${file.name} is ${other}.`);
  try {
    for await (const _text of textsOf(file, new TextDecoder('utf-8', { fatal: true })));
    return 'utf-8';
  } catch {
    return likelyEncoding(bytes).encoding;
  }
}

/** A file as text, piece by piece. @param tell told how many bytes were read so far */
async function* textsOf(
  file: File,
  decoder: InstanceType<typeof TextDecoder>,
  tell: (bytes: number) => void = () => {},
): AsyncGenerator<string> {
  const reader = file.stream().getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      bytes += value?.length ?? 0;
      tell(bytes);
      yield decoder.decode(value, { stream: !done });
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}

/** All of a file's text. @param tell told how many bytes were read so far */
export async function* textOf(
  { file, encoding }: OpenedFile,
  tell: (bytes: number) => void,
): AsyncGenerator<string> {
  const inLines = linesOfArray();
  for await (const text of textsOf(file, new TextDecoder(encoding), tell)) yield inLines(text);
}

/** The rows of a file, without blank lines. @throws OperatorError when a quote is never closed */
export async function* rowsOf(opened: OpenedFile): AsyncGenerator<RowBatch> {
  const { file, format, keys } = opened;
  let bytes = 0;
  const pieces = textOf(opened, (read) => {
    bytes = read;
  });
  for await (const rows of readRows(file.name, pieces, format, keys)) yield { rows, bytes };
}
