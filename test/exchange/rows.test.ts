import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detectFormat } from '../../src/exchange/file-format.ts';
import type { TextEncoding } from '../../src/exchange/guess-encoding.ts';
import { linesOfArray } from '../../src/exchange/nested-rows.ts';
import { encodingOf, openText } from '../../src/exchange/open-text-file.ts';
import { ROW_CHARACTERS_MAX, readRows } from '../../src/exchange/read-rows.ts';

const TEXT = 'user,item,ts\nann,tea,1700000000\n';
/** TEXT, packed with zstd. */
const ZSTD = 'KLUv/SAgAQEAdXNlcixpdGVtLHRzCmFubix0ZWEsMTcwMDAwMDAwMAo=';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'furze-rows-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

async function textOf(path: string, encoding: TextEncoding = 'utf-8'): Promise<string> {
  let text = '';
  for await (const chunk of openText(path, encoding).chunks) text += chunk;
  return text;
}

async function* pieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

async function rowsOf(
  text: string,
  pieceLength = text.length,
  keys: readonly string[] = [],
): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const batch of readRows('f.csv', pieces(text, pieceLength), detectFormat(text), keys))
    rows.push(...batch);
  return rows;
}

describe('a file', () => {
  it.each([
    ['plain', TEXT],
    ['gzip', gzipSync(TEXT)],
    ['zstd', Buffer.from(ZSTD, 'base64')],
  ])('is unpacked by what it holds: %s', async (name, bytes) => {
    expect(await textOf(file(name, bytes))).toBe(TEXT);
  });

  it('that is damaged, missing, a folder or in another encoding is refused in words', async () => {
    const packed = gzipSync(TEXT);
    const cutWide = Buffer.from('\ufeffab', 'utf16le').subarray(0, 5);
    await expect(textOf(file('wide.csv', cutWide))).rejects.toThrow(/is not text in utf-16le to its end$/);
    await expect(textOf(file('cut.gz', packed.subarray(0, packed.length - 12)))).rejects.toThrow(
      /cannot be read to its end/,
    );
    await expect(textOf(join(folder, 'none'))).rejects.toThrow(/there is no file .*none/);
    await expect(textOf(folder)).rejects.toThrow(/is a folder/);
    const latin = file('latin', Buffer.from('Amélie', 'latin1'));
    await expect(textOf(latin)).rejects.toThrow(/is not text in utf-8; try --encoding windows-1252/);
    expect(await textOf(latin, 'latin1')).toBe('Amélie');
    expect(await encodingOf(latin, 'windows-1252')).toBe('windows-1252');
    const eight = file('eight', 'Amélie');
    expect(await encodingOf(eight, 'windows-1252')).toBe('utf-8');
    expect(await encodingOf(eight, 'utf-16le')).toBe('utf-8');
    // Its letters, each with a zero, are valid UTF-8 too.
    const plain = file('plain', Buffer.from(TEXT, 'utf16le'));
    expect(await encodingOf(plain, 'utf-16le')).toBe('utf-16le');
    const marked = file('marked', Buffer.from('\uFEFFAmélie', 'utf16le'));
    expect(await textOf(marked)).toBe('Amélie');
  });
});

/** The beginning of a zip archive whose first file has this name. */
const zip = (name: string) => Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(name)]);
/** All bytes there are, in an order without meaning. */
const MIXED = Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 167 + 13) % 256));

describe('a file that is no text', () => {
  it.each<[string, Uint8Array | string, RegExp]>([
    ['a workbook', zip('[Content_Types].xml'), /is an Excel workbook; save it as CSV/],
    ['a packed workbook', gzipSync(zip('_rels/.rels')), /is an Excel workbook/],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), /is an Excel workbook/],
    [
      'a document',
      zip('mimetypeapplication/vnd.oasis.opendocument.spreadsheet'),
      /is a LibreOffice document/,
    ],
    ['a zip archive', zip('orders.csv'), /is packed with zip; unpack it/],
    ['a page called a workbook', '<html><table><tr>', /is HTML or XML.*save it as CSV/],
    ['anything', MIXED, /is no text; CSV, TSV or NDJSON is read/],
    ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le'), /UTF-16 without a mark.*--encoding utf-16le/],
    ['the same turned round', Buffer.from(TEXT, 'utf16le').swap16(), /say --encoding utf-16be/],
  ])('is told by its first bytes: %s', async (name, bytes, message) => {
    await expect(textOf(file(name, bytes))).rejects.toThrow(message);
    await expect(textOf(file(name, bytes), 'windows-1252')).rejects.toThrow(message);
  });

  it('is not taken for one that has a few signs of control', async () => {
    const text = 'user\x01item\nann\x02bob\x01tea\n';
    expect(await textOf(file('controls', text))).toBe(text);
    expect(await textOf(file('wide', Buffer.from(TEXT, 'utf16le')), 'utf-16le')).toBe(TEXT);
  });
});

describe('rows', () => {
  const quoted = 'a,b\r\n"x,1","two\nlines"\r\n\r\nlast,"say ""hi"""\r\n';

  it.each([1, 2, 5, 1000])(
    'are the same in pieces of %i characters, and know their lines',
    async (length) => {
      expect(await rowsOf(quoted, length)).toEqual([
        { line: 1, cells: ['a', 'b'] },
        { line: 2, cells: ['x,1', 'two\nlines'] },
        { line: 5, cells: ['last', 'say "hi"'] },
      ]);
    },
  );

  it.each([1, 4, 1000])(
    'end with or without a carriage return, in pieces of %i characters',
    async (length) => {
      // As of a header with the lines of another system behind it.
      expect(await rowsOf('"a","b"\r\n1,2\n3,"4"\r\n"5\r\n6",7', length)).toEqual([
        { line: 1, cells: ['a', 'b'] },
        { line: 2, cells: ['1', '2'] },
        { line: 3, cells: ['3', '4'] },
        { line: 4, cells: ['5\r\n6', '7'] },
      ]);
      expect(await rowsOf('a|b\r1|x,y\r', length)).toEqual([
        { line: 1, cells: ['a', 'b'] },
        { line: 2, cells: ['1', 'x,y'] },
      ]);
    },
  );

  it('are read as they are taken, so that a large file needs little memory', async () => {
    let read = 0;
    async function* counted(): AsyncGenerator<string> {
      for (; read < 1000; read++) yield `${'a,b\n'.repeat(10_000)}`;
    }
    const batches = readRows('f.csv', counted(), detectFormat('a,b\n'), [])[Symbol.asyncIterator]();
    await batches.next();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(read).toBeLessThan(10);
    await batches.return?.(undefined);
  });

  it('longer than many pieces of the text are whole', async () => {
    const cell = 'x'.repeat(100_000);
    expect(await rowsOf(`a,b\n"${cell}\n",${cell}\n1,2\n`, 50)).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: [`${cell}\n`, cell] },
      { line: 4, cells: ['1', '2'] },
    ]);
  });

  it('of one JSON array are its objects, wherever its text is cut', () => {
    const objects = [{ a: 'x,y]}"', b: { c: [1, 2] } }, { a: '\\' }, { a: '\n[{' }];
    for (const text of [JSON.stringify(objects), ` ${JSON.stringify(objects, undefined, 2)}\r\n`])
      for (let size = 1; size < text.length; size++) {
        const take = linesOfArray();
        let lines = '';
        for (let at = 0; at < text.length; at += size) lines += take(text.slice(at, at + size));
        const rows = lines
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        expect(rows).toEqual(objects);
      }
    expect(linesOfArray()('[id],name\n')).toBe('[id],name\n');
    expect(() => detectFormat('[\n [1, 2]]')).toThrow(/^The file is one JSON array of lists/);
  });

  it('of an object around one list are those of the list, unless they are the lines of an order', () => {
    const list = [{ a: '],"' }, { a: [{ b: 1 }] }];
    const around = { version: 1, note: 'a "b" {', list, total: { all: 2 } };
    for (const text of [JSON.stringify(around), `${JSON.stringify(around, undefined, 2)}\n`])
      for (let size = 1; size <= text.length; size++) {
        const take = linesOfArray();
        let lines = '';
        for (let at = 0; at < text.length; at += size)
          lines += take(text.slice(at, at + size), at + size >= text.length);
        expect(
          lines
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        ).toEqual(list);
      }
    const order = JSON.stringify({ id: 1, customer: 'ann', lines: list });
    for (const text of [order, `${order}\n`, `{"id":1,"lines":[{"a":1}]}\n{"id":2,"lines":[{"a":1}]}\n`])
      expect(linesOfArray()(text, true)).toBe(text);
    // More than the list is refused in the end, and not passed over.
    expect(linesOfArray()('{\n"a":[{"b":1}]}\n{\n"a":[{"b":2}]}', true).split('\n').length).toBeGreaterThan(
      1,
    );
  });

  it.each([';', ',', '\t', '^'])(
    "are told by Excel's own first line, which is none: sep=%j",
    async (sign) => {
      const rows = [
        { line: 2, cells: ['a', 'b'] },
        { line: 3, cells: ['1,5', 'x;y'] },
      ];
      const body = `a${sign}b\r\n"1,5"${sign}"x;y"\r\n`;
      expect(await rowsOf(`sep=${sign}\r\n${body}`)).toEqual(rows);
      expect(await rowsOf(`"sep=${sign}"\r\n${body}`, 1)).toEqual(rows);
      // Further down it is a row.
      expect(await rowsOf(`a;b\nsep=;\n`)).toEqual([
        { line: 1, cells: ['a', 'b'] },
        { line: 2, cells: ['sep=', ''] },
      ]);
    },
  );

  it('are not parted by what stands within quotes', () => {
    expect(detectFormat('"a;b",c\n')).toMatchObject({ delimiter: ',' });
    expect(detectFormat('1 100 4\n1 101 5\n2 1')).toMatchObject({ delimiter: ' ' });
    expect(detectFormat('1 100 4\nann likes tea\n2 1')).toMatchObject({ delimiter: ',' });
    // Lists of items, of which each user has as many as they like.
    expect(detectFormat('1 100 4\n1 101 5 6\n2 1')).toMatchObject({ delimiter: ',' });
    expect(detectFormat('a;b#c\n', '#')).toMatchObject({ delimiter: '#' });
    // What is said of another file.
    expect(detectFormat('a;b\n', '#')).toMatchObject({ delimiter: ';' });
    expect(detectFormat('sep=;\na;b\n', '#')).toMatchObject({ delimiter: ';' });
  });

  it('keep quotes between double colons', async () => {
    expect(await rowsOf('1::"Hi" there::x\n')).toEqual([{ line: 1, cells: ['1', '"Hi" there', 'x'] }]);
  });

  it('of JSON have the cells of the keys; what is no object is told', async () => {
    expect(await rowsOf('{"a":1,"b":["x"]}\n\nnonsense\n[1]\n{"b":2}', 7, ['a', 'b'])).toEqual([
      { line: 1, cells: [1, ['x']] },
      { line: 3, reason: 'is no JSON object' },
      { line: 4, reason: 'is no JSON object' },
      { line: 5, cells: [undefined, 2] },
    ]);
  });

  it('with a quote that is never closed are refused, with the line', async () => {
    await expect(rowsOf('a,b\nx,"1\n2"\nx,"y\nz,1\n')).rejects.toThrow(/^f\.csv:4: a quote .* never closed/);
  });

  it.each([
    [
      'a quote that is never closed',
      'a,b\nx,y\nx,"',
      'z,1\n',
      /^f\.csv:3: a row of more than .* never closed/,
    ],
    ['JSON in one line', '{"a":1}\n{"b":"', 'xxxx', /^f\.csv:2: a row of more than .* an object a line/],
  ])('that %s makes endless are refused before they fill the memory', async (_, begin, more, message) => {
    let length = 0;
    async function* endless(): AsyncGenerator<string> {
      yield begin;
      for (; length < ROW_CHARACTERS_MAX * 4; length += 2 ** 16) yield more.repeat(2 ** 14);
    }
    const read = async () => {
      for await (const batch of readRows('f.csv', endless(), detectFormat(begin), ['a']))
        expect(batch.length).toBeLessThan(3);
    };
    await expect(read()).rejects.toThrow(message);
    expect(length).toBeLessThan(ROW_CHARACTERS_MAX * 1.1);
  });

  it('of JSON in lines of many pieces are whole', async () => {
    const long = 'x'.repeat(1000);
    expect(await rowsOf(`{"a":"${long}"}\n\n{"a":"2\\n"}`, 7, ['a'])).toEqual([
      { line: 1, cells: [long] },
      { line: 3, cells: ['2\n'] },
    ]);
  });
});
