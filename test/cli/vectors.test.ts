import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { startTestServer } from '../http/start.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-vectors-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const place = (data: string) => [
  '--config',
  file('furze.toml', '[vectors.text]\ndimensions = 3\n'),
  '--data',
  data,
];

async function furze(...args: string[]): Promise<{ code: number; output: string }> {
  let output = '';
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      output += String(chunk);
      return true;
    }),
  );
  try {
    return { code: await runProgram(args, {}), output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const COUNT = 2500;
const ids = Array.from({ length: COUNT }, (_, at) => `i${at}`);
const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const vectors = ids.map((ItemId, at) => ({ ItemId, Vector: [at, 0.1, -1 / 3] }));

it('are exported and imported again, by folder and by service, packed or not', async () => {
  const data = join(folder, 'first');
  const items = file('items.ndjson', lines(ids.map((ItemId) => ({ ItemId }))));
  expect((await furze('import', 'items', items, ...place(data))).code).toBe(0);
  const given = file('vectors.ndjson', lines(vectors));
  expect(await furze('import', 'vectors', given, '--space', 'text', ...place(data))).toEqual({
    code: 0,
    output: `${given}: 2,500 vectors\n`,
  });
  const out = join(folder, 'out.ndjson');
  expect(await furze('export', 'vectors', '--space', 'text', '-o', out, ...place(data))).toEqual({
    code: 0,
    output: `${out}: 2,500 vectors\n`,
  });
  const written = readFileSync(out, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(written.map(({ ItemId }) => ItemId)).toEqual(ids);
  expect(written[7].Vector.map(Math.fround)).toEqual([7, 0.1, -1 / 3].map(Math.fround));

  const server = await startTestServer({
    config: { vectors: { text: { dimensions: 3, similarity: 'cosine' } } },
  });
  try {
    await server.call(
      'POST',
      '/api/items',
      ids.map((ItemId) => ({ ItemId })),
    );
    const url = ['--url', server.base];
    expect((await furze('import', 'vectors', out, '--space', 'text', ...url)).code).toBe(0);
    const again = join(folder, 'again.ndjson.gz');
    expect((await furze('export', 'vectors', '--space', 'text', '-o', again, ...url)).code).toBe(0);
    expect((await furze('import', 'vectors', again, '--space', 'text', ...place(data))).code).toBe(0);
    const last = join(folder, 'last.ndjson');
    await furze('export', 'vectors', '--space', 'text', '-o', last, ...place(data));
    expect(readFileSync(last, 'utf8')).toBe(readFileSync(out, 'utf8'));
    const page = (await server.call('GET', '/api/vectors/text?n=1')).body;
    expect(page.Vectors).toHaveLength(1);
    const next = await server.call('GET', `/api/vectors/text?n=1&cursor=${page.Cursor}`);
    expect(next.body.Vectors[0].ItemId).toBe('i1');
    expect((await server.call('GET', '/api/vectors/text?cursor=x')).body.code).toBe('INVALID_CURSOR');
  } finally {
    await server.stop();
  }
});

it('are refused with the line of a bad one', async () => {
  const data = join(folder, 'second');
  await furze(
    'import',
    'items',
    file('few.ndjson', lines(ids.map((ItemId) => ({ ItemId })))),
    ...place(data),
  );
  const bad = file('bad.ndjson', lines([...vectors.slice(0, 1500), { ItemId: 'i3', Vector: [1, 2] }]));
  const { code, output } = await furze('import', 'vectors', bad, '--space', 'text', ...place(data));
  expect(code).toBe(1);
  expect(output).toContain(`${bad}:1501: /500/Vector must hold 3 numbers and holds 2.`);
  const other = await furze('import', 'vectors', bad, '--space', 'other', ...place(data));
  expect(other).toMatchObject({
    code: 1,
    output: expect.stringContaining('There is no vector space "other"'),
  });
  expect((await furze('import', 'vectors', bad, ...place(data))).code).toBe(2);
  expect((await furze('export', 'vectors', ...place(data))).code).toBe(2);
});

it('go out as Parquet and come in from there and from NumPy, with the row of a bad one', async () => {
  const data = join(folder, 'parquet');
  const items = file('three.ndjson', lines(['a', 'b', 'c'].map((ItemId) => ({ ItemId }))));
  expect((await furze('import', 'items', items, ...place(data))).code).toBe(0);
  const head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }";
  const numbers = (...all: number[]) => Buffer.from(Float32Array.from(all).buffer);
  const npy = (name: string, bytes: Buffer) => {
    const path = join(folder, name);
    const start = Buffer.from(`\x93NUMPY\x01\x00\x76\x00${head.padEnd(117)}\n`, 'latin1');
    writeFileSync(path, Buffer.concat([start, bytes]));
    return path;
  };
  const [good, bad] = [
    npy('good.npy', numbers(1, 2, 3, 0.1, 0, 0, 7, 8, 9)),
    npy('bad.npy', numbers(1, 2, 3, Number.NaN, 0, 0, 7, 8, 9)),
  ];
  const names = ['--ids', file('ids.txt', 'a\nb\nc\n'), '--space', 'text'];
  const refused = await furze('import', 'vectors', bad, ...names, ...place(data));
  expect([refused.code, refused.output]).toEqual([
    1,
    expect.stringMatching(/bad\.npy:2: .*Vector\/0 must be a number/),
  ]);
  const { output } = await furze('import', 'vectors', good, ...names, ...place(data));
  expect(output).toBe(`${good}: 3 vectors\n`);
  const out = join(folder, 'out.parquet');
  const said = ['--space', 'text', ...place(data)];
  expect(await furze('export', 'vectors', '--format', 'parquet', '-o', out, ...said)).toMatchObject({
    code: 0,
  });
  expect(await furze('import', 'vectors', out, ...said)).toEqual({ code: 0, output: `${out}: 3 vectors\n` });
  const again = join(folder, 'again.ndjson');
  await furze('export', 'vectors', '-o', again, ...said);
  expect(readFileSync(again, 'utf8')).toContain('{"ItemId":"b","Vector":[0.1,0,0]}');
  expect(await furze('export', 'vectors', '--format', 'parquet', ...said)).toMatchObject({ code: 2 });
});
