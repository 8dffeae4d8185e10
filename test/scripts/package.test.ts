import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ArchivedFile, packArchive, unpackArchive } from '../../scripts/package/archive.ts';
import { isNeeded } from '../../scripts/package/stage.ts';
import { UnpackError, unpackTo } from '../../scripts/package/unpack.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'furze-package-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const FILES: ArchivedFile[] = [
  { path: 'package.json', isExecutable: false, content: Buffer.from('{}') },
  { path: 'dist/empty.js', isExecutable: false, content: Buffer.alloc(0) },
  {
    path: 'node_modules/x/Å.node',
    isExecutable: true,
    content: Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 251)),
  },
];

describe('the single executable', () => {
  it('gets back every file that was packed', () => {
    const files = unpackArchive(packArchive(FILES));
    expect(
      files.map(({ path, isExecutable, content }) => [
        path,
        isExecutable,
        Buffer.from(content).toString('hex'),
      ]),
    ).toEqual(
      FILES.map(({ path, isExecutable, content }) => [
        path,
        isExecutable,
        Buffer.from(content).toString('hex'),
      ]),
    );
  });

  it('unpacks once, whole, and leaves nothing else', () => {
    const target = join(folder, 'cache', 'abc');
    const tried: string[] = [];
    const unpack = () =>
      unpackTo(
        target,
        () => packArchive(FILES),
        (unfinished) => tried.push(readFileSync(join(unfinished, 'package.json'), 'utf8')),
      );
    unpack();
    unpack();
    expect(tried).toEqual(['{}']);
    expect(readdirSync(join(folder, 'cache'))).toEqual(['abc']);
    expect(statSync(join(target, 'node_modules/x/Å.node')).mode & 0o111).not.toBe(0);
    expect(statSync(join(target, 'package.json')).mode & 0o111).toBe(0);
  });

  it('takes what another start has put there meanwhile', () => {
    const target = join(folder, 'abc');
    unpackTo(
      target,
      () => packArchive(FILES),
      () =>
        unpackTo(
          `${target}`,
          () => packArchive(FILES.slice(0, 1)),
          () => {},
        ),
    );
    expect(readdirSync(folder)).toEqual(['abc']);
  });

  it('says where it cannot unpack or run, and leaves nothing half done', () => {
    writeFileSync(join(folder, 'file'), '');
    const packed = () => packArchive(FILES);
    expect(() => unpackTo(join(folder, 'file', 'cache', 'abc'), packed, () => {})).toThrow(UnpackError);
    expect(() => unpackTo(join(folder, 'file', 'cache', 'abc'), packed, () => {})).toThrow(
      /cannot unpack itself to .*cache: ENOTDIR/,
    );
    const cannotRun = () => {
      throw new Error('failed to map segment from shared object');
    };
    expect(() => unpackTo(join(folder, 'abc'), packed, cannotRun)).toThrow(/failed to map segment/);
    expect(existsSync(join(folder, 'abc'))).toBe(false);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it.each([
    ['dist/main.js', true],
    ['dist/main.js.map', false],
    ['build/kernels.wasm', true],
    ['build/kernels.debug.wasm', false],
    ['build/dashboard/index.html', true],
    ['node_modules/pino/pino.d.ts', false],
    ['node_modules/pino/docs/api.md', false],
    ['node_modules/pino/LICENSE', true],
    ['node_modules/lmdb/dependencies/lz4/lib/lz4.c', false],
    ['node_modules/@lmdb/lmdb-linux-x64/node.abi115.glibc.node', true],
    ['node_modules/@lmdb/lmdb-linux-x64/node.abi127.glibc.node', false],
    ['node_modules/@lmdb/lmdb-linux-x64/node.napi.glibc.node', true],
    ['node_modules/@lmdb/lmdb-linux-x64/node.napi.musl.node', false],
    ['node_modules/uws-node20/binaries/uws_darwin_arm64_115.node', false],
    ['node_modules/uws-node20/binaries/uws_linux_x64_93.node', false],
    ['node_modules/uws-node20-25/uws_linux_x64_115.node', true],
    ['node_modules/fs-native-extensions/prebuilds/linux-arm64/fs-native-extensions.node', false],
  ])('%s is packed: %s', (path, needed) => {
    expect(isNeeded(path, { platform: 'linux', arch: 'x64', abi: '115' })).toBe(needed);
  });
});
