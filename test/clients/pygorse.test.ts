import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../http/start.ts';

const run = promisify(execFile);
const KEY = 'client-key';
const SCRIPT = fileURLToPath(new URL('./pygorse.py', import.meta.url));

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    config: {
      server: { api_key: KEY },
      recommend: { data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] } },
    },
  });
});
afterAll(() => server?.stop());

/** A folder with that release of PyGorse, kept for the next run; undefined when it cannot be had. */
async function install(release: string): Promise<string | undefined> {
  const folder = join(tmpdir(), `furze-pygorse-${release}`);
  const done = join(folder, 'installed');
  if (existsSync(done)) return folder;
  mkdirSync(folder, { recursive: true });
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--retries',
    '0',
    '--timeout',
    '10',
    '--upgrade',
    '--target',
    folder,
  ];
  try {
    await run('python3', [...pip, `PyGorse==${release}`], { timeout: 600_000 });
  } catch (error) {
    console.warn(
      `SKIPPED: PyGorse ${release} cannot be installed here: ${String((error as Error).message).split('\n')[0]}`,
    );
    return undefined;
  }
  writeFileSync(done, '');
  return folder;
}

test.each([
  ['0.4.10', '4'],
  ['0.5.1', '5'],
])('PyGorse %s works, every method, plain and async', async (release, version) => {
  const folder = await install(release);
  if (folder === undefined) return;
  const env = { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
  const { stderr } = await run('python3', [SCRIPT, server.base, KEY, version], { env, timeout: 600_000 });
  expect(stderr).toBe('');
});
