import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, write } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { stopWithin } from '../../src/cli/common/run-service.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { lockFolder } from '../../src/store/lock/folder-lock.ts';
import { freePort } from '../servers/free-port.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-stop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A file that has this text and never ends.
 * @returns its path, a promise that resolves when somebody has read most of a long text, and a function that ends it
 */
function endless(name: string, text: string): [path: string, isRead: Promise<unknown>, end: () => void] {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  // Whoever opens it both ways waits for nobody.
  const file = openSync(path, 'r+');
  return [path, promisify(write)(file, text), () => closeSync(file)];
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(20);
}

describe.skipIf(process.platform !== 'linux')('a command that is told to end', () => {
  test('in the middle of a restore ends at once, and leaves nothing of it', async () => {
    const data = join(folder, 'restored');
    const [backup, , end] = endless('backup', 'not yet a backup');
    const restore = new Furze(['restore', backup, '--data', data]);
    const partial = () =>
      (existsSync(data) ? readdirSync(data) : []).filter((name) => name.startsWith('part'));
    await until(() => partial().length > 0);
    await restore.stop('SIGTERM');
    expect(restore.process.signalCode).toBe('SIGTERM');
    expect(partial()).toEqual([]);
    end();
  });

  test('while it waits for the rest of a file to import ends in order', async () => {
    const [file, isRead, end] = endless('likes.csv', `user,item\n${'u,i\n'.repeat(60_000)}`);
    const data = join(folder, 'imported');
    const args = ['import', 'feedback', '--map', 'user=user,item=item', '--skip-bad', '--data', data, '-'];
    const started = new Furze(args, {}, ['sh', '-c', 'exec "$@" < "$0"', file]);
    await isRead;
    const code = await started.stop('SIGTERM');
    expect(started.output).toContain('Run the same command again to go on');
    expect(code).toBe(130);
    end();
  });

  test('that cannot write its log serves all the same, and ends in order', async () => {
    const port = await freePort();
    const args = ['serve', '--data', join(folder, 'speechless'), '--port', String(port)];
    const serve = new Furze(args, {}, ['sh', '-c', 'exec "$@" > /dev/full', 'sh']);
    const isReady = () => fetch(`http://127.0.0.1:${port}/api/health/ready`).then(({ ok }) => ok);
    while (!(await isReady().catch(() => false))) await delay(50);
    const body = JSON.stringify({ UserId: 'u' });
    expect((await fetch(`http://127.0.0.1:${port}/api/user`, { method: 'POST', body })).status).toBe(200);
    expect(await serve.stop('SIGTERM')).toBe(0);
  });

  test('while it waits to start the service ends in order', async () => {
    const data = join(folder, 'held');
    mkdirSync(data);
    const lock = lockFolder(data);
    const serve = new Furze(['serve', '--data', data, '--port', '0', '--lock-wait', '600']);
    await serve.waitFor(/"msg":"waiting for/);
    expect(await serve.stop('SIGTERM')).toBe(0);
    expect(serve.output).toMatch(/"msg":"stopping while it starts"[\s\S]*"msg":"stopped"/);
    lock.release();
  });
});

test('a stop that ends in time leaves the process alone', async () => {
  const codes: number[] = [];
  await stopWithin({ stop: async () => {} }, 20, createLogger('silent'), (code) => void codes.push(code));
  await delay(40);
  expect(codes).toEqual([]);
});

test('a stop that hangs ends the process, and the log says so', async () => {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  const code = await new Promise((resolve) => {
    stopWithin({ stop: () => new Promise(() => {}) }, 20, log, resolve);
  });
  expect(code).toBe(1);
  expect(lines.join('')).toContain('shutdown_timeout');
});

test.skipIf(process.platform === 'win32')('a process whose exit never ends is ended by force', () => {
  const endless = join(inject('compiled'), 'test/cli/endless-process.js');
  expect(spawnSync(process.execPath, [endless])).toMatchObject({ status: null, signal: 'SIGKILL' });
});

test.each(['rejection', 'exception'])(
  'a fault that nothing catches (%s) is logged and ends in order',
  (kind) => {
    const faulty = join(inject('compiled'), 'test/cli/faulty-process.js');
    const { status, stdout } = spawnSync(process.execPath, [faulty, kind], { encoding: 'utf8' });
    expect(status).toBe(1);
    const [logged, ...rest] = stdout.trim().split('\n');
    expect(JSON.parse(logged!)).toMatchObject({
      level: 'fatal',
      msg: 'a fault of the program that nothing caught; stopping',
      err: { message: 'nobody has caught this' },
    });
    expect(rest).toEqual([
      'stopped in order',
      'stopped after a fault (nobody has caught this); the log has it',
    ]);
  },
);
