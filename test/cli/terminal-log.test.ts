import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-terminal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs what follows on a terminal of its own. */
const ON_TERMINAL = ['sh', '-c', 'exec script -qec "$*" /dev/null', 'sh'];
const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0;

/** What a service says that is told to stop when it listens. */
async function served(
  data: string,
  env: Record<string, string>,
  wrapper: readonly string[] = [],
): Promise<string> {
  const furze = new Furze(['serve', '--data', join(folder, data), '--port', '0'], env, wrapper);
  await furze.waitFor(/listening/);
  await furze.stop('SIGTERM');
  return furze.output.replaceAll('\u001b', 'ESC');
}

test.skipIf(!hasTerminal)(
  'on a terminal the log is to be read, with colors unless these are not wanted',
  async () => {
    const env = { TERM: 'xterm' };
    expect(await served('a', env, ON_TERMINAL)).toMatch(
      /^\d\d:\d\d:\d\d ESC\[32mINFO ESC\[0m listening ESC\[2murl=http:/m,
    );
    expect(await served('b', { ...env, NO_COLOR: '1' }, ON_TERMINAL)).toMatch(
      /^\d\d:\d\d:\d\d INFO {2}listening url=http:/m,
    );
    expect(await served('c', { ...env, FURZE_LOG_FORMAT: 'json' }, ON_TERMINAL)).toMatch(
      /^\{"level":"info",.*"listening"\}\r?$/m,
    );
  },
);

test('elsewhere it is JSON, unless it is configured otherwise', async () => {
  for (const line of (await served('d', {})).trimEnd().split('\n'))
    expect(JSON.parse(line)).toHaveProperty('level');
  expect(await served('e', { FURZE_LOG_FORMAT: 'text' })).toMatch(
    /^\d\d:\d\d:\d\d INFO {2}listening url=http:/m,
  );
});
