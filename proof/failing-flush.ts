import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type Checks, status, until } from './checks.ts';
import { FurzeProcess } from './furze-process.ts';

const NAME = 'a failing flush';
/** What strace does: every call of a thread of the process that flushes a file fails with an error of the device. */
const INJECTION = ['-f', '-e', 'trace=fsync,fdatasync,msync', '-e', 'inject=fsync,fdatasync,msync:error=EIO'];

/** The kernel says of a running service that it could not keep what was written; from then on nothing counts as durable. */
export async function failingFlush(folder: string, checks: Checks): Promise<void> {
  if (spawnSync('strace', ['-V']).status !== 0) return checks.skip(NAME, 'there is no strace');
  const furze = await FurzeProcess.serve(folder);
  const { url } = furze;
  const write = (id: string) => status(url, 'POST', '/api/user', { UserId: id });
  const ready = () => status(url, 'GET', '/api/health/ready');
  await write('before');
  const strace = await failFlushes(furze.pid);
  if (strace === undefined) {
    await furze.stop();
    return checks.skip(NAME, 'a process may not be traced here');
  }
  // Those behind the first one share a transaction.
  const during = await Promise.all(Array.from({ length: 8 }, (_, at) => write(`during${at}`)));
  checks.check(
    'failing flush: writes are answered 503',
    during.every((answer) => answer === 503),
    during.join(),
  );
  checks.check('failing flush: not ready', (await until(503, ready)) === 503);
  strace.kill('SIGTERM');
  await once(strace, 'close');
  // The next flush would succeed, and mean nothing for what the kernel has dropped.
  const later = [await write('after'), await status(url, 'DELETE', '/api/user/before'), await ready()];
  checks.check(
    'the disk works again: still nothing is called durable',
    later.every((answer) => answer === 503),
    later.join(),
  );
  const reads = [
    await status(url, 'GET', '/api/user/before'),
    await status(url, 'GET', '/api/popular'),
    await status(url, 'GET', '/api/health/live'),
  ];
  checks.check(
    'failing flush: alive, and reads go on',
    reads.every((answer) => answer === 200),
    reads.join(),
  );
  const lines = furze.output
    .split('\n')
    .filter((line) => line.includes('thread that writes the data store failed'));
  const isClear = /failed to keep what was written.*restart the service/.test(lines[0] ?? '');
  checks.check('failing flush: one line says what to do', lines.length === 1 && isClear, lines.join('\n'));
  await furze.stop('SIGKILL');
  const again = await FurzeProcess.serve(folder);
  const kept = [
    await status(again.url, 'GET', '/api/user/before'),
    await status(again.url, 'GET', '/api/user/after'),
    await status(again.url, 'POST', '/api/user', { UserId: 'again' }),
  ];
  checks.check(
    'after a restart: ready, with what was acknowledged',
    kept.join() === '200,404,200',
    kept.join(),
  );
  await again.stop();
}

/** Makes the flushes of a process fail. @returns what does so until it is ended; undefined where that is not permitted */
async function failFlushes(pid: number): Promise<ChildProcess | undefined> {
  const strace = spawn('strace', [...INJECTION, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  strace.stderr!.setEncoding('utf8');
  for await (const text of strace.stderr!.iterator({ destroyOnReturn: false })) {
    said += text as string;
    if (said.includes('attached')) {
      strace.stderr!.resume();
      return strace;
    }
  }
  return undefined;
}
