import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../src/platform/files/temporary-folder.ts';

describe('a temporary folder', () => {
  it('takes away what killed processes of this host left, and nothing else', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const made = (host: string, number: number | string) => {
      const path = join(tmpdir(), `furze-evaluate-${host}.${number}.${process.pid}`);
      mkdirSync(join(path, 'cache'), { recursive: true });
      return path;
    };
    const dead = made(hostname(), pid);
    const alive = made(hostname(), process.pid);
    const elsewhere = made(`${hostname()}x`, pid);
    const first = temporaryFolder('furze-evaluate-');
    const second = temporaryFolder('furze-migrate-');
    expect([dead, alive, elsewhere, first.path, second.path].map((path) => existsSync(path))).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
    first.remove();
    second.remove();
    expect([first.path, second.path].map((path) => existsSync(path))).toEqual([false, false]);
    for (const path of [alive, elsewhere]) {
      expect(readdirSync(path)).toEqual(['cache']);
      rmSync(path, { recursive: true });
    }
  });
});
