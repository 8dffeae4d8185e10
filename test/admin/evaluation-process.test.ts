import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { evaluateAside } from '../../src/admin/start-evaluation-process.ts';
import { defaultConfig } from '../../src/config/config.ts';
import { ownThread } from '../../src/platform/program/thread-entry.ts';

describe('the process of an evaluation', () => {
  let base: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'furze-evaluation-process-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it('that cannot be begun is a failed evaluation and no error that nobody takes', async () => {
    const untaken: Error[] = [];
    const note = (error: Error) => void untaken.push(error);
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', note);
    const { execPath } = process;
    process.execPath = join(base, 'gone');
    try {
      const { signal } = new AbortController();
      await expect(evaluateAside(defaultConfig(), base, () => {}, signal)).rejects.toThrow(/ENOENT/);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(untaken).toEqual([]);
    } finally {
      process.execPath = execPath;
      process.removeListener('uncaughtException', note);
      for (const other of others) process.on('uncaughtException', other);
    }
  });

  it('removes the folder that it was given when its parent goes, and no other folder for temporary files', async () => {
    const folders = { temporary: join(base, 'temporary'), own: join(base, 'own') };
    for (const folder of Object.values(folders)) {
      mkdirSync(folder);
      writeFileSync(join(folder, 'file'), '');
    }
    const { url, execArgv } = ownThread('evaluate/evaluation-process-entry');
    const child = fork(fileURLToPath(url), [], {
      execArgv,
      serialization: 'advanced',
      env: { ...process.env, TMPDIR: folders.temporary },
    });
    const config = defaultConfig({ database: { data_store: `lmdb://${join(base, 'none')}` } });
    child.send({
      config,
      options: { protocol: 'temporal', share: 0.2, users: 10, seed: 1 },
      folder: folders.own,
    });
    // It says that there is no data.
    await once(child, 'message');
    child.disconnect();
    await once(child, 'exit');
    expect(existsSync(folders.temporary)).toBe(true);
    expect(existsSync(folders.own)).toBe(false);
  });
});
