import { expect, test } from 'vitest';
import { maskDsn } from '../../src/domain/mask-dsn.ts';
import { folderOf, parseDsn } from '../../src/store/dsn.ts';

test('a DSN names a folder, and any other scheme is refused by name', () => {
  expect(parseDsn('lmdb://./data')).toEqual({ engine: 'lmdb', path: './data' });
  expect(parseDsn('lmdb:///var/lib/furze')).toEqual({ engine: 'lmdb', path: '/var/lib/furze' });
  expect(() => parseDsn('mysql://host/db')).toThrow(/scheme "mysql"/);
  expect(() => parseDsn('./data')).toThrow(/no scheme/);
  expect(() => parseDsn('lmdb://')).toThrow(/no path/);
});

test('a DSN names a database of PostgreSQL and the schema in it', () => {
  expect(parseDsn('postgres://me:secret@db:5432/shop?sslmode=require&schema=recs')).toEqual({
    engine: 'postgres',
    url: 'postgres://me:secret@db:5432/shop?sslmode=require',
    schema: 'recs',
  });
  expect(parseDsn('postgresql://db/shop')).toMatchObject({ engine: 'postgres', schema: 'furze' });
  expect(() => parseDsn('postgres://db')).toThrow(/names no database/);
  expect(() => parseDsn('postgres://db/shop?schema=a"b')).toThrow(/letters, digits/);
});

test('no password of a DSN is shown to anybody', () => {
  const dsns = [
    'postgres://me:s3cret@db/shop',
    'postgres://db/shop?user=me&password=s3cret',
    'postgres://me:s3cret@',
  ];
  for (const dsn of dsns) {
    expect(maskDsn(dsn)).not.toContain('s3cret');
    expect(() => folderOf(dsn)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('s3cret') }),
    );
  }
  expect(maskDsn('postgres://me:s3cret@db/shop')).toBe('postgres://me:********@db/shop');
  expect(maskDsn('lmdb://./data')).toBe('lmdb://./data');
});
