import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { npyNumber, npyTexts, readNpy } from '../../src/exchange/npy-file.ts';
import {
  parquetOfVectors,
  readParquetVectors,
  type VectorBatch,
} from '../../src/exchange/parquet-vectors.ts';
import { readModel } from '../../src/exchange/put-model.ts';
import { readVectorFile } from '../../src/exchange/vector-files.ts';

/** A file as `numpy.save` writes it. */
function npy(descr: string, shape: readonly number[], bytes: Uint8Array, order = 'False'): Uint8Array {
  const lengths = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const text = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${lengths}), }`;
  const padded = `${text.padEnd(64 * Math.ceil((text.length + 11) / 64) - 11)}\n`;
  const head = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${padded}`, 'latin1');
  head.writeUInt16LE(padded.length, 8);
  return Buffer.concat([head, bytes]);
}

const floats = (...numbers: number[]) => new Uint8Array(Float32Array.from(numbers).buffer);
const doubles = (...numbers: number[]) => new Uint8Array(Float64Array.from(numbers).buffer);

async function all(batches: AsyncIterable<VectorBatch> | Iterable<VectorBatch>) {
  const rows: [string, number[], boolean][] = [];
  for await (const { ids, vectors, ofUsers } of batches)
    for (const [at, id] of ids.entries()) rows.push([id, [...vectors[at]!], ofUsers]);
  return rows;
}

let folder: string;
const path = (name: string, bytes: Uint8Array | string) => {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'furze-vectors-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('arrays of NumPy', () => {
  it('are vectors with ids beside them, in lines or an array of their own', async () => {
    const items = path('items.npy', npy('<f4', [2, 2], floats(1, 2, 3, 4)));
    const wide = path('wide.npy', npy('<f8', [2, 2], doubles(1, 2, 3, 0.1)));
    const ids = path('ids.txt', 'a b\r\nc\n');
    expect(await all(readVectorFile(items, ids))).toEqual([
      ['a b', [1, 2], false],
      ['c', [3, 4], false],
    ]);
    const numbers = path(
      'ids.npy',
      npy('<i8', [2], new Uint8Array(BigInt64Array.from([7n, -(2n ** 60n)]).buffer)),
    );
    expect(await all(readVectorFile(wide, numbers, true))).toEqual([
      ['7', [1, 2], true],
      ['-1152921504606846976', [3, Math.fround(0.1)], true],
    ]);
  });

  it('of text, whole numbers and one number are read', () => {
    const text = Uint8Array.from(
      [...'añ😀'].flatMap((sign) => [...new Uint8Array(Uint32Array.from([sign.codePointAt(0)!, 0]).buffer)]),
    );
    expect(npyTexts(readNpy(npy('<U2', [3], text), 'x'), 'x')).toEqual(['a', 'ñ', '😀']);
    expect(npyTexts(readNpy(npy('|S3', [2], Buffer.from('abcd\0\0')), 'x'), 'x')).toEqual(['abc', 'd']);
    expect(npyTexts(readNpy(npy('<u4', [1], Buffer.from([255, 255, 255, 255])), 'x'), 'x')).toEqual([
      '4294967295',
    ]);
    expect(npyNumber(readNpy(npy('<f8', [], doubles(0.25)), 'x'))).toBe(0.25);
  });

  it.each([
    ['what is none', Buffer.from('hello world'), /no file of numpy.save/],
    ['what is cut short', npy('<f4', [2, 2], floats(1, 2, 3)), /16 bytes of numbers and holds 12/],
    ['a shape that lies', npy('<f4', [1_000_000_000, 1000], floats(1)), /bytes of numbers and holds 4/],
    ['big ends first', npy('>f4', [1, 1], floats(1)), /elements of type >f4/],
    ['objects of Python', npy('|O', [1], floats(1)), /elements of type \|O/],
    ['columns after one another', npy('<f4', [2, 1], floats(1, 2), 'True'), /column by column/],
  ])('are refused: %s', (_what, bytes, message) => {
    expect(() => readNpy(bytes, 'x')).toThrow(message);
  });

  it('with sizes that cannot be, and text that is none, are refused', () => {
    const ask = (bytes: Uint8Array) => () => npyTexts(readNpy(bytes, 'x.npy'), 'x.npy');
    expect(ask(npy('<f4', [1], floats(1)).subarray(0, 8))).toThrow(/no file of numpy.save/);
    expect(ask(npy('|S0', [4e9], new Uint8Array(0)))).toThrow(/elements of type/);
    for (const shape of [
      [4e9, 0],
      [-2, -2],
      [0.5, 8],
      [1e308, 1e308],
    ])
      expect(ask(npy('<f4', shape, floats(1, 2, 3, 4))), String(shape)).toThrow(
        /x\.npy (should hold|has a shape)/,
      );
    expect(ask(npy('<f4', [4e9, 0], new Uint8Array(0)))).toThrow(/should hold 0 bytes/);
    expect(ask(npy('<U1', [1], Buffer.from([0, 0, 0, 0x7f])))).toThrow(/no text in row 1/);
  });

  it('with too few ids, or none, are refused', async () => {
    const items = path('more.npy', npy('<f4', [3, 1], floats(1, 2, 3)));
    await expect(all(readVectorFile(items, path('few.txt', 'a\nb\n')))).rejects.toThrow(
      /3 vectors and .* 2 ids/,
    );
    await expect(all(readVectorFile(items))).rejects.toThrow(/has no ids/);
  });
});

describe('a model that implicit has saved', () => {
  const files = {
    'item_factors.npy': npy('<f4', [2, 2], floats(1, 2, 3, 4)),
    'user_factors.npy': npy('<f4', [1, 2], floats(5, 6)),
    'regularization.npy': npy('<f8', [], doubles(0.5)),
    'alpha.npy': npy('<f8', [], doubles(5)),
    'dtype.npy': npy('<U7', [], new Uint8Array(28)),
  };

  it('comes with what it was trained by, and with users where there are ids of them', async () => {
    const saved = path('als.npz', zipSync(files));
    const [ids, userIds] = [path('a.txt', 'a\nb'), path('u.txt', 'u\n')];
    const model = readModel({ path: saved, ids, users: undefined, userIds });
    expect(model.query).toEqual({ 'unobserved-weight': '0.25', regularization: '0.125' });
    expect(await all(model.batches)).toEqual([
      ['a', [1, 2], false],
      ['b', [3, 4], false],
      ['u', [5, 6], true],
    ]);
    const { batches } = readModel({ path: saved, ids, users: undefined, userIds: undefined });
    expect((await all(batches)).length).toBe(2);
  });

  it('is told from other files', () => {
    const ask = (name: string, bytes: Uint8Array) => () =>
      readModel({ path: path(name, bytes), ids: undefined, users: undefined, userIds: undefined });
    expect(ask('b.npz', Buffer.from('no zip'))).toThrow(/cannot be read as ZIP/);
    expect(ask('c.npz', zipSync({ 'other.npy': npy('<f4', [1], floats(1)) }))).toThrow(
      /no model of implicit/,
    );
  });
});

describe('Parquet', () => {
  const columns = (
    id: string,
    vector: string,
    more: Parameters<typeof parquetWriteBuffer>[0]['columnData'] = [],
  ) => [
    { name: id, data: [1, 2] },
    {
      name: vector,
      data: [
        [0.5, 1],
        [2, null],
      ],
    },
    ...more,
  ];
  const schema = (id: string, vector: string) => [
    { name: 'root', num_children: 2 },
    { name: id, type: 'INT32' as const, repetition_type: 'REQUIRED' as const },
    { name: vector, num_children: 1, converted_type: 'LIST' as const, repetition_type: 'OPTIONAL' as const },
    { name: 'list', num_children: 1, repetition_type: 'REPEATED' as const },
    { name: 'element', type: 'FLOAT' as const, repetition_type: 'OPTIONAL' as const },
  ];
  const lists = (id: string, vector: string) =>
    new Uint8Array(
      parquetWriteBuffer({ columnData: columns(id, vector), schema: schema(id, vector) as never }),
    );

  it('with lists of floats is read as Spark and others write it, file by file of a folder', async () => {
    mkdirSync(join(folder, 'parts'));
    path('parts/part-1.parquet', lists('item_id', 'features'));
    path('parts/_SUCCESS', '');
    expect(await all(readVectorFile(join(folder, 'parts')))).toEqual([
      ['1', [0.5, 1], false],
      ['2', [2, Number.NaN], false],
    ]);
    const users = path('users.parquet', lists('userId', 'factors'));
    expect((await all(readVectorFile(users))).every(([, , ofUsers]) => ofUsers)).toBe(true);
  });

  it('holds both sides as we write it', async () => {
    const items = {
      ids: ['a', 'ü'],
      vectors: [Float32Array.of(1, 1e-30), Float32Array.of(3, 4)],
      ofUsers: false,
    };
    const users = { ids: ['a'], vectors: [Float32Array.of(7, 8)], ofUsers: true };
    const bytes = parquetOfVectors([items, users]);
    expect(await all(readParquetVectors(bytes.buffer, 'x'))).toEqual([
      ['a', [1, Math.fround(1e-30)], false],
      ['ü', [3, 4], false],
      ['a', [7, 8], true],
    ]);
  });

  it('tell the bytes of their vectors before they are made, however small the file is', async () => {
    const vector = new Uint8Array(4096);
    const ids = Array.from({ length: 1000 }, (_, row) => `i${row}`);
    const file = parquetWriteBuffer({
      columnData: [
        { name: 'Id', type: 'STRING', data: ids },
        { name: 'Vector', type: 'BYTE_ARRAY', data: ids.map(() => vector) },
      ],
    });
    let told = 0;
    const hold = (bytes: number) => {
      told += bytes;
      if (told > 1_000_000) throw new Error('too much');
    };
    await expect(all(readParquetVectors(file, 'x', hold))).rejects.toThrow('too much');
    expect(told).toBeLessThan(1_005_000);
  });

  it('that says more rows or values than its bytes can hold is refused before they are made', async () => {
    const rows = 200_000;
    const nothing = (name: string) => ({ name, type: 'STRING' as const, data: new Array(rows).fill(null) });
    const many = parquetWriteBuffer({
      columnData: [nothing('Id'), nothing('Vector')],
      rowGroupSize: rows,
    });
    expect(many.byteLength).toBeLessThan(2000);
    await expect(all(readParquetVectors(many, 'x'))).rejects.toThrow(
      /x cannot be read as Parquet: it says 200000 rows in \d+ bytes/,
    );
    const data = [new Array(rows).fill(null), new Array(rows).fill(null)];
    const columnData = [
      { name: 'id', data: [1, 2] },
      { name: 'features', data },
    ];
    const long = parquetWriteBuffer({ columnData, schema: schema('id', 'features') as never });
    expect(long.byteLength).toBeLessThan(2000);
    await expect(all(readParquetVectors(long, 'x'))).rejects.toThrow(/it says 400000 values/);
  });

  it('with a byte changed anywhere is read or refused in words, at the cost of a small file', async () => {
    const bytes = lists('id', 'features');
    let refused = 0;
    for (let at = 0; at < bytes.length; at++)
      for (const byte of [0x00, 0x7f, 0xff]) {
        const changed = Uint8Array.from(bytes, (own, place) => (place === at ? byte : own));
        const rows = await all(readParquetVectors(changed.buffer, 'x')).catch((error) => {
          expect(String(error)).toMatch(/^OperatorError: x (cannot be read as Parquet|needs a column)/);
          refused++;
          return [];
        });
        expect(rows.length).toBeLessThan(bytes.length);
      }
    expect(refused).toBeGreaterThan(bytes.length);
  });

  it('that is damaged, cut short or of something else is refused', async () => {
    const read = (bytes: Uint8Array) => all(readParquetVectors(new Uint8Array(bytes).buffer, 'x'));
    const bytes = parquetOfVectors([{ ids: ['a'], vectors: [Float32Array.of(1)], ofUsers: false }]);
    await expect(read(bytes.subarray(0, 20))).rejects.toThrow(/x cannot be read as Parquet/);
    await expect(read(new Uint8Array(0))).rejects.toThrow(/x cannot be read as Parquet/);
    await expect(read(lists('what', 'ever'))).rejects.toThrow(/needs a column with ids.*it has what, ever/);
    await expect(all(readVectorFile(path('empty.parquet', '')))).rejects.toThrow(/cannot be read as Parquet/);
  });
});
