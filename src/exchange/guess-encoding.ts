/** Encodings of texts that are not UTF-8, and which of them some bytes are likely of. */

/** Encodings that can be named. UTF-16 is told by the mark at its beginning and need not be. */
export const TEXT_ENCODINGS = [
  ...['utf-8', 'windows-1252', 'latin1', 'utf-16le', 'utf-16be'],
  ...['shift_jis', 'euc-jp', 'euc-kr', 'gb18030', 'big5', 'windows-1250', 'windows-1251', 'windows-1254'],
] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];

const KANA_OF_SHIFT_JIS = /\x82[\x9f-\xf1]|\x83[\x40-\x96]/g;
const KANA_OF_EUC_JP = /[\xa4\xa5][\xa1-\xf6]/g;
const NAMES_OF_LATIN = 'Windows-1252, as spreadsheets in western Europe write it';

/**
 * Encodings by the signs that their texts are full of: kana, the common syllables and signs, which stand in the first part of
 * each table, words in Cyrillic letters; letters of
 * central Europe stand where the west has digits and signs. The first counts of whose signs there are enough; western texts have few letters
 * beyond ASCII, which stand alone.
 */
const SIGNS: readonly {
  readonly encoding: TextEncoding;
  readonly name: string;
  readonly signs: RegExp;
  /** The share, of all bytes beyond ASCII, that are within such signs at least. */
  readonly shareMin: number;
}[] = [
  {
    encoding: 'shift_jis',
    name: 'Shift-JIS, as Japanese programs write it',
    signs: KANA_OF_SHIFT_JIS,
    shareMin: 0.1,
  },
  { encoding: 'euc-jp', name: 'EUC-JP, of Japanese', signs: KANA_OF_EUC_JP, shareMin: 0.1 },
  {
    encoding: 'windows-1251',
    name: 'Windows-1251, of Russian and other Cyrillic letters',
    signs: /[\xa8\xb8\xc0-\xff]{3,}/g,
    shareMin: 0.8,
  },
  {
    encoding: 'euc-kr',
    name: 'EUC-KR, as Korean programs write it',
    signs: /(?<![\x80-\xff])(?:[\xa1\xb0-\xc8][\xa1-\xfe])+(?![\x80-\xff])/g,
    shareMin: 0.9,
  },
  {
    encoding: 'gb18030',
    name: 'GB 18030, as Chinese programs write it',
    signs: /(?<![\x80-\xff])(?:[\xa1-\xa3\xb0-\xf7][\xa1-\xfe])+(?![\x80-\xff])/g,
    shareMin: 0.9,
  },
  {
    encoding: 'big5',
    name: 'Big5, of traditional Chinese',
    signs: /[\xa1-\xc6][\xa1-\xfe]/g,
    shareMin: 0.6,
  },
  {
    encoding: 'windows-1250',
    name: 'Windows-1250, as spreadsheets in central Europe write it',
    signs: /[\x8a\x8e\x9a\x9d\x9e]|(?<=[a-z])[\xb3\xb9\xbe\xbf](?=[a-z])/gi,
    shareMin: 0.1,
  },
  {
    encoding: 'windows-1254',
    name: 'Windows-1254, as spreadsheets in Turkey write it',
    signs: /(?<=[a-z])[\xf0\xfd\xfe](?=[a-z])/gi,
    shareMin: 0.2,
  },
];

/** The encoding that some bytes, which are not UTF-8, are likely of, with its name in words; else that of the west. */
export function likelyEncoding(bytes: Uint8Array): {
  readonly encoding: TextEncoding;
  readonly name: string;
} {
  let text = '';
  for (const byte of bytes.subarray(0, 65_536)) text += String.fromCharCode(byte);
  const count = (of: string) => of.replace(/[^\x80-\xff]/g, '').length;
  const all = count(text);
  const share = (signs: RegExp) => count((text.match(signs) ?? []).join('')) / all;
  const found = SIGNS.find(({ signs, shareMin }) => share(signs) >= shareMin);
  return found ?? { encoding: 'windows-1252', name: NAMES_OF_LATIN };
}
