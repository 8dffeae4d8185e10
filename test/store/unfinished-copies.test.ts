import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync, mkdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { beginCopy, removeUnfinished } from '../../src/store/lmdb/maintenance/unfinished-copies.ts';
import { type FolderLock, FolderLockedError, lockFolder } from '../../src/store/lock/folder-lock.ts';
import { tempFolder } from './helpers.ts';

const CLEARER = fileURLToPath(new URL('./clear-away.ts', import.meta.url));

it('copies begin beside a process that clears away what others have left behind', async () => {
  const folder = tempFolder();
  const child = spawn(process.execPath, ['--import', 'tsx', CLEARER, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const gone = once(child, 'close');
  try {
    await once(child.stdout, 'data');
    for (let copy = 0; copy < 500; copy++) {
      const partial = beginCopy(folder);
      expect(existsSync(partial.path)).toBe(true);
      partial.remove();
    }
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
  expect(errors).toBe('');
});

it('a folder that another process takes while it is cleared away stays', () => {
  const folder = tempFolder();
  const path = join(folder, 'partial-1');
  mkdirSync(path);
  const { rmdirSync } = fs;
  const use = (remove: typeof rmdirSync) => {
    fs.rmdirSync = remove;
    syncBuiltinESMExports();
  };
  let lock: FolderLock | undefined;
  use((each) => {
    use(rmdirSync);
    lock = lockFolder(path);
    rmdirSync(each);
  });
  try {
    expect(removeUnfinished(folder)).toBeInstanceOf(FolderLockedError);
  } finally {
    use(rmdirSync);
  }
  expect(existsSync(path)).toBe(true);
  lock?.release();
  expect(removeUnfinished(folder)).toBeUndefined();
  expect(existsSync(path)).toBe(false);
});
