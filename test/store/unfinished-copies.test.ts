import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { beginCopy } from '../../src/store/lmdb/maintenance/unfinished-copies.ts';
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
