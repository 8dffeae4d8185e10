/** Files that are no table of text, told by their first bytes, and what to do about each. */

const WORKBOOK = 'save it as CSV from the program that made it';
const PACKED = 'unpack it and name the files in it';

/** Forms by their first bytes, written as latin1. */
const MAGIC: readonly (readonly [begin: string, what: string])[] = [
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', `an Excel workbook; ${WORKBOOK}`],
  ['%PDF-', `a PDF; ${WORKBOOK}`],
  ['PAR1', 'a Parquet file, which furze import reads by its name'],
  ['SQLite format 3\0', 'an SQLite database; write its tables as CSV'],
  ['BZh91AY&SY', `packed with bzip2; ${PACKED}`],
  ['\xfd7zXZ\0', `packed with xz; ${PACKED}`],
  ["7z\xbc\xaf'\x1c", `packed with 7-Zip; ${PACKED}`],
  ['Rar!\x1a\x07', `packed with RAR; ${PACKED}`],
];
const ZIP = 'PK\x03\x04';
const HEAD_BYTES = 4096;
/** Other control characters than ends of lines, tabs and form feeds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROLS = /[\x00-\x08\x0e-\x1f]/g;
/** In text that is not UTF-8 a delimiter may be one of them, and another may stand between the labels of a cell. */
const CONTROLS_MAX = 2;

/**
 * The form of a file that is no text, told by its first bytes, with advice.
 * @param bytes the beginning of the file, unpacked
 * @returns undefined for text, which is of any encoding with one byte a letter or UTF-8
 */
export function notText(bytes: Uint8Array): string | undefined {
  const head = latin1(bytes);
  const known = MAGIC.find(([begin]) => head.startsWith(begin));
  if (known !== undefined) return known[1];
  if (head.startsWith(ZIP)) return zipOf(head);
  if (/^\s*<(?:!doctype|html|table|\?xml)\b/i.test(head))
    return 'HTML or XML, as some programs write what they call a workbook; open it there and save it as CSV';
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return `text in UTF-16 without a mark at its beginning; say --encoding ${wide}`;
  const controls = new Set(head.match(CONTROLS));
  const isText = controls.size <= CONTROLS_MAX || isUtf8(bytes);
  return isText ? undefined : 'no text; CSV, TSV or NDJSON is read';
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, HEAD_BYTES), { stream: true });
    return true;
  } catch {
    return false;
  }
}

function zipOf(head: string): string {
  if (head.includes('application/vnd.oasis.opendocument')) return `a LibreOffice document; ${WORKBOOK}`;
  const isOffice = head.includes('[Content_Types].xml') || head.includes('_rels/.rels');
  return isOffice ? `an Excel workbook; ${WORKBOOK}` : `packed with zip; ${PACKED}`;
}

/** UTF-16 by the zeros beside its first two letters, when these are plain. */
export function wideEncoding([first, second, third, fourth]: Uint8Array):
  | 'utf-16le'
  | 'utf-16be'
  | undefined {
  const isPlain = (byte = 0) => byte >= 0x20 && byte < 0x7f;
  if (isPlain(first) && second === 0 && isPlain(third) && fourth === 0) return 'utf-16le';
  return first === 0 && isPlain(second) && third === 0 && isPlain(fourth) ? 'utf-16be' : undefined;
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, HEAD_BYTES));
}
