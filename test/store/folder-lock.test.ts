import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { OperatorError } from '../../src/domain/operator-error.ts';
import { makeFolder } from '../../src/platform/files/make-folder.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import {
  FOLDER_LOCK_FILE,
  FolderLockedError,
  lockFolder,
  lockFolders,
  readAddress,
} from '../../src/store/lock/folder-lock.ts';
import { takePidLock } from '../../src/store/lock/pid-lock.ts';
import { compactStore, lockStores } from '../../src/store/open/open-store.ts';
import { close, feedback, openIn, putFeedback, storeOptions, tempFolder } from './helpers.ts';

const HOLDER = fileURLToPath(new URL('./lock-holder.ts', import.meta.url));

async function holdElsewhere(kind: 'kernel' | 'pid', path: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', HOLDER, kind, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout!, 'data');
  expect(String(said)).toBe('held\n');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

test('the address of a service is believed as long as the process lives, and on its own host', async () => {
  const path = tempFolder();
  const file = join(path, FOLDER_LOCK_FILE);
  const lock = lockFolder(path);
  lock.noteReady('http://127.0.0.1:8087');
  expect(readAddress(path)).toBe('http://127.0.0.1:8087');
  const own = readFileSync(file, 'utf8');
  lock.release();
  expect(readAddress(path)).toBeUndefined();
  writeFileSync(file, own.replace(/on .*, since/, 'on elsewhere, since'));
  expect(readAddress(path)).toBeUndefined();
  const child = await holdElsewhere('kernel', tempFolder());
  writeFileSync(file, own.replace(/process \d+/, `process ${child.pid}`));
  expect(readAddress(path)).toBe('http://127.0.0.1:8087');
  await kill(child);
  expect(readAddress(path)).toBeUndefined();
});

test('a folder is one process’s alone, the refusal names it, and a killed one leaves no lock', async () => {
  const path = tempFolder();
  const child = await holdElsewhere('kernel', path);
  expect(() => lockFolder(path)).toThrow(FolderLockedError);
  expect(() => lockFolder(path)).toThrow(new RegExp(`process ${child.pid} on .*, since 20`));
  const waiting = lockFolders([path], 600_000);
  await kill(child);
  const [lock] = await waiting;
  // Nor does another part of this process get it.
  expect(() => lockFolder(path)).toThrow(`process ${process.pid}`);
  lock!.release();
  lockFolder(path).release();
});

test('of several folders all are taken or none', async () => {
  const folder = tempFolder();
  const second = lockFolder(join(folder, 'b'));
  await expect(lockFolders([join(folder, 'a'), join(folder, 'b')], 0)).rejects.toThrow(FolderLockedError);
  lockFolder(join(folder, 'a')).release();
  second.release();
  await expect(lockStores({ dataPath: folder, cachePath: `${folder}/.` }, 0)).rejects.toThrow(/cannot both/);
});

test('the lock file by process number holds while its process lives, and no longer', async () => {
  const file = join(tempFolder(), 'lock');
  const child = await holdElsewhere('pid', file);
  expect(takePidLock(file)).toBeUndefined();
  await kill(child);
  const held = takePidLock(file);
  expect(held).toBeDefined();
  expect(takePidLock(file)).toBeUndefined();
  held!.release();
  // A process of the same number that started at another time is another process.
  writeFileSync(file, `x\n${JSON.stringify({ pid: process.pid, host: 'elsewhere', started: '1' })}\n`);
  expect(takePidLock(file)).toBeUndefined();
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(file, longAgo, longAgo);
  takePidLock(file)!.release();
});

test('a lock file of a clock that was set since is left over where nobody touches it, and only there', async () => {
  const file = join(tempFolder(), 'lock');
  const child = await holdElsewhere('pid', file);
  const text = readFileSync(file, 'utf8').replace(/"host":"[^"]*"/, '"host":"elsewhere"');
  for (const aheadMs of [-31_536_000_000, 31_536_000_000]) {
    writeFileSync(file, text);
    const then = new Date(Date.now() + aheadMs);
    utimesSync(file, then, then);
    expect(takePidLock(file)).toBeUndefined();
  }
  await kill(child);
  writeFileSync(file, text);
  const ahead = new Date(Date.now() + 31_536_000_000);
  utimesSync(file, ahead, ahead);
  takePidLock(file)!.release();
});

test('open stores hold both folders until they are closed, and compaction asks for its own', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  const { dataPath, cachePath } = storeOptions(folder);
  expect(() => openIn(folder)).toThrow(FolderLockedError);
  expect(() => lockFolder(cachePath)).toThrow(FolderLockedError);
  await expect(compactStore(dataPath)).rejects.toThrow(FolderLockedError);
  await close(stores);
  const locks = await lockStores({ dataPath, cachePath }, 0);
  locks.data.release();
  locks.cache.release();
});

test('a writer that finds a transaction which is not its own writes no more', async () => {
  const folder = tempFolder();
  const troubles: unknown[] = [];
  const stores = openIn(folder, { onTrouble: (_message, error) => troubles.push(error) });
  const { data } = stores;
  await data.write(putFeedback([feedback('like', 'first', 'i')]));
  const stranger = openDataTables(storeOptions(folder).dataPath);
  stranger.engine.transact(() => stranger.meta.put(Buffer.from('x'), Uint8Array.of(1)));
  await stranger.engine.close();
  for (const user of ['bob', 'eve']) {
    await expect(data.write(putFeedback([feedback('like', user, 'i')]))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  }
  expect(await data.getUser('bob')).toBeUndefined();
  expect(await data.getUser('first')).toBeDefined();
  expect(String(troubles)).toContain('another process has written');
  await expect(data.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test('a folder that cannot be made or written is refused in words', () => {
  const path = tempFolder();
  const file = join(path, 'file');
  writeFileSync(file, '');
  expect(() => lockFolder(file)).toThrow(
    `${file} cannot be a folder for data: a file of that name is in the way.`,
  );
  expect(() => lockFolder(join(file, 'data'))).toThrow(OperatorError);
});

test.runIf(existsSync('/proc/self'))('one that the file system refuses is told of at once', () => {
  // /proc says ENOENT of folders to be made in it.
  expect(() => lockFolder('/proc/furze/data')).toThrow('The folder /proc/furze/data cannot be made');
  expect(() => makeFolder('/proc/furze/data')).toThrow(/ENOENT/);
});

test('folders are made from the first that is missing, and one that is there is left alone', () => {
  const folder = join(tempFolder(), 'a', 'b', 'c');
  makeFolder(folder);
  const file = join(folder, 'kept');
  writeFileSync(file, '');
  makeFolder(folder);
  expect(existsSync(file)).toBe(true);
  expect(() => makeFolder(file)).toThrow(/EEXIST/);
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR/);
});

// The superuser may write everywhere.
test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')('so is one of somebody else', () => {
  const path = tempFolder();
  chmodSync(path, 0o555);
  expect(() => lockFolder(join(path, 'data'))).toThrow(/cannot be written by this user \(EACCES\)/);
  chmodSync(path, 0o755);
});
