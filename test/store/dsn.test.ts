import { expect, test } from 'vitest';
import { withoutUserInfo } from '../../src/config/without-user-info.ts';
import { folderOf, parseDsn, parseS3 } from '../../src/store/dsn.ts';

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
    sessionUrl: 'postgres://me:secret@db:5432/shop?sslmode=require',
    schema: 'recs',
  });
  expect(parseDsn('postgres://me:secret@pool:6432/shop?direct=DB.example:5433&sslmode=require')).toEqual({
    engine: 'postgres',
    url: 'postgres://me:secret@pool:6432/shop?sslmode=require',
    sessionUrl: 'postgres://me:secret@DB.example:5433/shop?sslmode=require',
    schema: 'furze',
  });
  expect(parseDsn('postgres://pool:6432/shop?direct=[::1]')).toMatchObject({
    sessionUrl: 'postgres://[::1]/shop',
  });
  // An address need not stand there in its shortest form.
  expect(parseDsn('postgres://pool/shop?direct=[2001:DB8:0:0:0:0:0:1]:05432')).toMatchObject({
    sessionUrl: 'postgres://[2001:db8::1]:5432/shop',
  });
  for (const direct of ['', 'a/b', 'db:99999', 'db:x'])
    expect(() => parseDsn(`postgres://pool/shop?direct=${direct}`)).toThrow(/direct=HOST:PORT/);
  expect(parseDsn('postgresql://db/shop')).toMatchObject({ engine: 'postgres', schema: 'furze' });
  expect(() => parseDsn('postgres://db')).toThrow(/names no database/);
  expect(() => parseDsn('postgres://db/shop?schema=a"b')).toThrow(/letters, digits/);
});

test('a DSN names a Redis, or some servers of a cluster', () => {
  expect(parseDsn('rediss://me:a%40b@cache:7000/3?sslrootcert=/etc/ca.pem')).toEqual({
    engine: 'redis',
    isCluster: false,
    nodes: [{ host: 'cache', port: 7000 }],
    username: 'me',
    password: 'a@b',
    database: 3,
    tls: { rootCert: '/etc/ca.pem' },
  });
  expect(parseDsn('redis://:only@[::1]')).toMatchObject({
    nodes: [{ host: '::1', port: 6379 }],
    username: '',
    password: 'only',
    database: 0,
    tls: undefined,
  });
  expect(parseDsn('redis+cluster://me:s3cret@a:1,b')).toMatchObject({
    isCluster: true,
    nodes: [
      { host: 'a', port: 1 },
      { host: 'b', port: 6379 },
    ],
    password: 's3cret',
  });
  expect(() => parseDsn('redis://a,b')).toThrow(/one host/);
  expect(() => parseDsn('redis+cluster://a/2')).toThrow(/database 0 alone/);
  expect(() => parseDsn('redis://a:99999')).toThrow(/HOST:PORT/);
  expect(() => parseDsn('redis://a?sslrootcert=x')).toThrow(/rediss:/);
});

test('no password of a DSN is shown to anybody', () => {
  const dsns = [
    'postgres://me:s3cret@db/shop',
    'postgres://db/shop?user=me&password=s3cret',
    'postgres://me:s3cret@',
    'redis://me:s3cret@cache/1',
    'redis://:s3cret@cache',
    'redis+cluster://me:s3cret@a:1,b:2',
    'rediss+cluster://:s3cret@a:1,b:2',
    'redis://me:s3cret@a@b',
    'redis://me:100%s3cret@a',
    'postgres://me:12#s3cret@db/shop',
    'postgres://me:12/s3cret@db/shop',
    'postgres://me:12?s3cret@db/shop',
    'postgres://me:1/2?s3cret@db/shop?password=s3cret',
    'postgres://db/shop?password=1#s3cret',
    'redis://me:1#s3cret@cache',
    'redis://me:1/2?s3cret@cache',
    'redis+cluster://me:1/s3cret@a:1,b:2',
    's3://key:s3cret@models/recs?region=eu-central-1',
    's3://key:1/s3cret@models?region=eu-central-1',
  ];
  for (const dsn of dsns) {
    expect(withoutUserInfo(dsn)).not.toContain('s3cret');
    expect(() => folderOf(dsn)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('s3cret') }),
    );
  }
  expect(withoutUserInfo('postgres://me:s3cret@db/shop')).toBe('postgres://db/shop');
  expect(withoutUserInfo('postgres://me:12/s3cret@db/shop')).toBe('postgres://db/shop');
  for (const sign of ['/', '?', '#'])
    expect(() => parseDsn(`postgres://me:12${sign}s3@db/shop`)).toThrow(/write \/ as %2F/);
  expect(withoutUserInfo('redis+cluster://me:s3cret@a:1,b:2')).toBe('redis+cluster://a:1,b:2');
  expect(withoutUserInfo('lmdb://./data')).toBe('lmdb://./data');
});

test('a bucket is named with its region or its service, folders in it, and keys or none', () => {
  expect(parseS3('')).toBeUndefined();
  expect(parseS3('s3://models?region=eu-central-1')).toEqual({
    bucket: 'models',
    prefix: '',
    region: 'eu-central-1',
    endpoint: undefined,
    credentials: undefined,
  });
  expect(parseS3('s3://AKIA:a%2Fb+c%3D@models/shop/recs/?endpoint=https://minio.example:9000')).toEqual({
    bucket: 'models',
    prefix: 'shop/recs/',
    region: 'us-east-1',
    endpoint: 'https://minio.example:9000',
    credentials: { accessKeyId: 'AKIA', secretAccessKey: 'a/b+c=' },
  });
});
