import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openFile, textOf } from '../../src/dashboard/import/read-file.ts';
import { detectFormat } from '../../src/exchange/file-format.ts';
import { readPlan } from '../../src/exchange/import-plan.ts';
import { madeRows } from '../../src/exchange/made-rows.ts';
import { keysOf, readRows } from '../../src/exchange/read-rows.ts';

async function read(bytes: Uint8Array | string | Buffer[], name = 'a.csv') {
  const opened = await openFile(new File(Array.isArray(bytes) ? bytes : [bytes], name));
  const rows: unknown[] = [];
  let batches = 0;
  const format = detectFormat(opened.head);
  const keys = format.name === 'ndjson' ? keysOf(opened.head) : [];
  for await (const batch of readRows(
    name,
    textOf(opened, () => {}),
    format,
    keys,
  )) {
    rows.push(...batch);
    batches++;
  }
  return { encoding: opened.encoding, rows, batches };
}

/** A text in pieces that end within letters and rows. */
function piecesOf(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const piece = 100_003;
  return Array.from({ length: Math.ceil(bytes.length / piece) }, (_, at) =>
    bytes.subarray(at * piece, (at + 1) * piece),
  );
}

describe('a file that was chosen in the dashboard', () => {
  it('keeps letters and quoted line ends whole wherever the text is cut', async () => {
    const row = '"ünï\ncode",🫖,"say ""hi"""';
    const { rows, batches } = await read(piecesOf(`user,item,comment\n${`${row}\n`.repeat(60_000)}`));
    expect(batches).toBeGreaterThan(1);
    expect(rows).toHaveLength(60_001);
    const cells = ['ünï\ncode', '🫖', 'say "hi"'];
    expect(
      rows
        .slice(1)
        .every((one) => JSON.stringify((one as { cells: string[] }).cells) === JSON.stringify(cells)),
    ).toBe(true);
    expect(rows.at(-1)).toMatchObject({ line: 2 + 2 * 59_999 });
  });

  it('is the list of an object that is all of it, short or long', async () => {
    for (const count of [2, 9000]) {
      const orders = Array.from({ length: count }, (_, at) => ({ user: `u${at}`, item: 'tea' }));
      const { rows } = await read(JSON.stringify({ page: 1, orders }), 'a.json');
      expect(rows).toHaveLength(count);
      expect(rows.at(-1)).toMatchObject({ cells: [`u${count - 1}`, 'tea'] });
    }
  });

  it('takes the inches of an unquoted cell for no quote', async () => {
    const line = 'tv\t24" wide\t"two\nlines, ""so"""\n';
    const { rows, batches } = await read(piecesOf(`item\ttitle\tcomment\n${line.repeat(120_001)}`));
    expect(batches).toBeGreaterThan(2);
    expect(rows).toHaveLength(120_002);
    const cells = JSON.stringify(['tv', '24" wide', 'two\nlines, "so"']);
    expect(
      rows.slice(1).filter((one) => JSON.stringify((one as { cells: string[] }).cells) !== cells),
    ).toEqual([]);
  });

  it.each([
    ['utf-8', Buffer.from('\uFEFFname;id\ncafé;1\n')],
    ['windows-1252', Buffer.from('name;id\ncafé;1\n', 'latin1')],
    ['utf-16le', Buffer.from('\uFEFFname;id\r\ncafé;1\r\n', 'utf16le')],
  ])('is read as %s', async (encoding, bytes) => {
    const found = await read(bytes);
    expect(found.encoding).toBe(encoding);
    expect(found.rows).toEqual([
      { line: 1, cells: ['name', 'id'] },
      { line: 2, cells: ['café', '1'] },
    ]);
  });

  it('is unpacked, and blank lines count as lines', async () => {
    const { rows } = await read(gzipSync('a,b\n\n1,2'), 'a.csv.gz');
    expect(rows).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['1', '2'] },
    ]);
  });

  it('is read as NDJSON, and lines that are none are told', async () => {
    const { rows } = await read(
      piecesOf('{"uid":"ann","n":1}\n\nnonsense\n{"n":2,"tags":["a","b"]}'),
      'a.ndjson',
    );
    expect(rows).toEqual([
      { line: 1, cells: ['ann', 1, undefined] },
      { line: 3, reason: 'is no JSON object' },
      { line: 4, cells: [undefined, 2, ['a', 'b']] },
    ]);
  });

  it('keeps every field of the API, whatever its first rows leave out', async () => {
    const text =
      '{"FeedbackType":"a","UserId":"ann","ItemId":"tea"}\n{"UserId":"ann","ItemId":"ale","Value":2}\n';
    const opened = await openFile(new File([text], 'a.jsonl'));
    const { head, isWhole } = opened;
    const { plan } = await readPlan({ path: 'a.jsonl', head, isWhole }, {});
    expect([plan.kind, plan.isApiForm]).toEqual(['feedback', true]);
    const records: unknown[] = [];
    for await (const rows of madeRows(
      plan,
      textOf(opened, () => {}),
    ))
      records.push(...rows.map(({ made }) => made));
    expect(records).toMatchObject([
      { record: { UserId: 'ann', ItemId: 'tea', Value: undefined } },
      { record: { UserId: 'ann', ItemId: 'ale', Value: 2 } },
    ]);
  });

  it('may be one JSON array', async () => {
    const { rows } = await read('[\n  {"UserId": "ann"},\n  {"UserId": "bob"}\n]\n', 'a.json');
    expect(rows).toHaveLength(2);
  });

  it('is refused in words', async () => {
    await expect(read('not packed', 'a.csv.gz')).rejects.toThrow(/cannot be unpacked/);
    await expect(read('[["ann", "tea"]]')).rejects.toThrow(/one JSON array of lists/);
    await expect(read('a,b\nx,"y\nz,1\n')).rejects.toThrow(/never closed/);
  });
});
