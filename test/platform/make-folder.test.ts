import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/platform/files/make-folder.ts';
import { tempFolder } from '../store/helpers.ts';

test('folders of data are for their owner alone', () => {
  const folder = join(tempFolder(), 'data', 'cache');
  makeFolder(folder);
  for (const path of [folder, join(folder, '..')]) expect(statSync(path).mode & 0o077).toBe(0);
});
