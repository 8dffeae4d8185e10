import Papa from 'papaparse';
import { detectFormat, type RowFormat } from '../../exchange/file-format.ts';

type DelimitedFormat = Extract<RowFormat, { name: 'delimited' }>;

/** A file that was chosen, unpacked, and how its text is written. */
export interface OpenedFile {
  readonly file: File;
  /** A name that browsers decode by. */
  readonly encoding: string;
  readonly format: DelimitedFormat;
}

/** A row with the number, from 1, of the line that it begins on. */
export interface FileRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Some rows, and the bytes of the file that were read for them and those before. */
export interface RowBatch {
  readonly rows: readonly FileRow[];
  readonly bytes: number;
}

/** Text that is split into rows at once. */
const SEGMENT_CHARACTERS = 1 << 20;
const HEAD_BYTES = 64 * 1024;
const NO_QUOTE = '\u0000';

/** @throws Error in words when it is damaged, or is JSON */
export async function openFile(given: File): Promise<OpenedFile> {
  const file = await unpack(given);
  const encoding = await encodingOf(file);
  const head = new TextDecoder(encoding).decode(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const format = detectFormat(head);
  if (format.name === 'delimited') return { file, encoding, format };
  throw new Error(`${given.name} is JSON: the command "furze import" takes it.`);
}

/** What gzip packed is unpacked. */
async function unpack(file: File): Promise<File> {
  if (!/\.gz$/i.test(file.name)) return file;
  const unpacked = new Response(file.stream().pipeThrough(new DecompressionStream('gzip')));
  const name = file.name.replace(/\.gz$/i, '');
  const blob = await unpacked.blob().catch(() => {
    throw new Error(`${file.name} cannot be unpacked: it is damaged, or not packed with gzip.`);
  });
  return new File([blob], name, { lastModified: file.lastModified });
}

/** UTF-16 by its mark, UTF-8 where all of it is, else Windows-1252, in which spreadsheets of the west write. */
async function encodingOf(file: File): Promise<string> {
  const mark = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (mark[0] === 0xff && mark[1] === 0xfe) return 'utf-16le';
  if (mark[0] === 0xfe && mark[1] === 0xff) return 'utf-16be';
  try {
    for await (const _text of textsOf(file, new TextDecoder('utf-8', { fatal: true })));
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

async function* textsOf(
  file: File,
  decoder: InstanceType<typeof TextDecoder>,
): AsyncGenerator<{ readonly text: string; readonly bytes: number; readonly isLast: boolean }> {
  const reader = file.stream().getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      bytes += value?.length ?? 0;
      yield { text: decoder.decode(value, { stream: !done }), bytes, isLast: done };
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}

/** The rows of a file, without blank lines. */
export async function* rowsOf({ file, encoding, format }: OpenedFile): AsyncGenerator<RowBatch> {
  let line = 1;
  let rest = '';
  let enough = SEGMENT_CHARACTERS;
  for await (const { text, bytes, isLast } of textsOf(file, new TextDecoder(encoding))) {
    rest += text;
    if (rest.length < enough && !isLast) continue;
    const end = isLast ? rest.length : endOfRows(rest, format);
    enough = end === 0 ? rest.length * 2 : SEGMENT_CHARACTERS;
    if (end === 0) continue;
    const rows: FileRow[] = [];
    for (const cells of split(rest.slice(0, end), format)) {
      if (cells.length > 1 || cells[0] !== '') rows.push({ line, cells });
      line++;
      if (format.isQuoted) for (const cell of cells) line += cell.split('\n').length - 1;
    }
    rest = rest.slice(end);
    yield { rows, bytes };
  }
}

/** Where the last whole row ends: behind a line end that is not within quotes. */
function endOfRows(text: string, format: DelimitedFormat): number {
  const { newline, isQuoted } = format;
  const at = text.lastIndexOf(newline);
  if (at < 0 || !isQuoted) return at < 0 ? 0 : at + newline.length;
  let isWithin = false;
  let closed = -1;
  let end = 0;
  for (let from = 0; from <= at; ) {
    const quote = text.indexOf('"', from);
    const until = quote < 0 ? at : Math.min(quote, at);
    const last = isWithin ? -1 : text.lastIndexOf(newline, until);
    if (last >= from) end = last + newline.length;
    if (quote < 0 || quote > at) break;
    if (isWithin) closed = quote;
    // Two in a row are one within a cell; any other opens at the beginning of a cell alone.
    if (isWithin || quote === closed + 1 || beginsCell(text, quote, format)) isWithin = !isWithin;
    from = quote + 1;
  }
  return end;
}

function beginsCell(text: string, at: number, { delimiter, newline }: DelimitedFormat): boolean {
  return text.endsWith(delimiter, at) || text.endsWith(newline, at);
}

function split(text: string, { delimiter, newline, isQuoted }: DelimitedFormat): string[][] {
  const whole = text.endsWith(newline) ? text.slice(0, -newline.length) : text;
  return Papa.parse<string[]>(whole, { delimiter, newline, quoteChar: isQuoted ? '"' : NO_QUOTE }).data;
}
