/** Encodings of texts that are not UTF-8, and which of them some bytes are likely of. */

import { mappingByNames } from './column-names.ts';

/** Encodings that can be named. UTF-16 is told by the mark at its beginning and need not be. */
export const TEXT_ENCODINGS = [
  ...['utf-8', 'windows-1252', 'latin1', 'utf-16le', 'utf-16be'],
  ...['shift_jis', 'euc-jp', 'euc-kr', 'gb18030', 'big5', 'windows-1250', 'windows-1251', 'windows-1254'],
  ...['windows-1253', 'windows-1255', 'windows-1256'],
] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];

/** Whole runs of signs of two bytes. @param leads the first bytes, as within brackets of a pattern */
const pairs = (leads: string) =>
  new RegExp(`(?<![\\x80-\\xff])(?:[${leads}][\\xa1-\\xfe])+(?![\\x80-\\xff])`, 'g');

const LINE_END = 0x0a;
const NAMES_OF_LATIN = 'Windows-1252, as spreadsheets in western Europe write it';

/**
 * Encodings by the signs that their texts are full of: kana, common syllables and signs, which stand in the first part of each
 * table, words in Cyrillic letters, letters that stand where the west has digits and signs. Western texts have few letters
 * beyond ASCII, which stand alone. The first counts whose signs take their share of all bytes beyond ASCII.
 */
const SIGNS: readonly (readonly [encoding: TextEncoding, name: string, shareMin: number, signs: RegExp])[] = [
  ['shift_jis', 'Shift-JIS, as Japanese programs write it', 0.1, /\x82[\x9f-\xf1]|\x83[\x40-\x96]/g],
  ['euc-jp', 'EUC-JP, of Japanese', 0.1, /[\xa4\xa5][\xa1-\xf6]/g],
  ['windows-1253', 'Windows-1253, of Greek', 0.03, /(?<=[\xe1-\xfb])[\xdc-\xdf](?=[\xe1-\xfb])/g],
  ['windows-1255', 'Windows-1255, of Hebrew', 0.98, /[\xe0-\xfa]{2,}/g],
  ['windows-1256', 'Windows-1256, of Arabic', 0.06, /\xc7(?=[\xc8-\xed])/g],
  ['windows-1251', 'Windows-1251, of Russian and other Cyrillic letters', 0.8, /[\xa8\xb8\xc0-\xff]{2,}/g],
  ['euc-kr', 'EUC-KR, as Korean programs write it', 0.9, pairs('\\xa1\\xb0-\\xc8')],
  ['gb18030', 'GB 18030, as Chinese programs write it', 0.9, pairs('\\xa1-\\xa3\\xb0-\\xf7')],
  ['big5', 'Big5, of traditional Chinese', 0.6, /[\xa1-\xc6][\xa1-\xfe]/g],
  [
    ...(['windows-1250', 'Windows-1250, as spreadsheets in central Europe write it', 0.1] as const),
    /[\x8a\x8e\x9a\x9d\x9e]|(?<=[a-z])[\xb3\xb9\xbe\xbf](?=[a-z])/gi,
  ],
  [
    ...(['windows-1254', 'Windows-1254, as spreadsheets in Turkey write it', 0.2] as const),
    /(?<=[a-z])[\xf0\xfd\xfe](?=[a-z])/gi,
  ],
];

/** The encoding that a byte order mark names. */
export function markedEncoding([first, second]: Uint8Array): TextEncoding | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** The encoding that some bytes, which are not UTF-8, are likely of, with its name in words; else that of the west. */
export function likelyEncoding(bytes: Uint8Array): {
  readonly encoding: TextEncoding;
  readonly name: string;
} {
  let read = '';
  for (const byte of bytes.subarray(0, 65_536)) read += String.fromCharCode(byte);
  // A word that stands in each row says no more than once.
  const text = [...new Set(read.split(/[\s,;]+/))].join(' ');
  const count = (of: string) => of.replace(/[^\x80-\xff]/g, '').length;
  const all = count(text);
  const share = (signs: RegExp) => count((text.match(signs) ?? []).join('')) / all;
  const found = SIGNS.find(([, , shareMin, signs]) => share(signs) >= shareMin);
  const likely = found ?? (['windows-1252', NAMES_OF_LATIN] as const);
  // Names of columns that are understood tell more than a few letters.
  const named = SIGNS.find((each) => namesKnown(bytes, each[0]) > namesKnown(bytes, likely[0]));
  const [encoding, name] = named ?? likely;
  return { encoding, name };
}

/** How many names in the first line of a text are those of known columns where it is of an encoding. */
function namesKnown(bytes: Uint8Array, encoding: TextEncoding): number {
  const line = bytes.subarray(0, Math.max(0, bytes.indexOf(LINE_END)));
  const names = new TextDecoder(encoding).decode(line).split(/[,;\t|]/);
  return Object.keys(mappingByNames(names)).length;
}
