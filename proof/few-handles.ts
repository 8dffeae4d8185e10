import { spawnSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Checks, until } from './checks.ts';
import { FurzeProcess, inFolder } from './furze-process.ts';

/** Handles that the process may have: what it needs to start and some. */
const HANDLES = 110;
const CONNECTIONS = 400;
/** Writes right after the crowd has gone. */
const WRITES_AFTER = 50;
const FIT_MS_MAX = 300_000;

/** More connections than the process may have handles, while workers want to start: it stays up and says so. */
export async function fewHandles(folder: string, checks: Checks): Promise<void> {
  if (spawnSync('sh', ['-c', `ulimit -n ${HANDLES}`]).status !== 0)
    return checks.skip('few file handles', 'their number cannot be limited here');
  const limit = ['sh', '-c', `ulimit -n ${HANDLES}; exec "$0" "$@"`];
  const furze = FurzeProcess.start(['serve'], inFolder(folder, { WORKER_THREADS: 2 }), limit);
  await furze.ready();
  // One connection from before the crowd comes.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (method: string, path: string, body?: unknown) =>
    statusOver(agent, furze.url, method, path, body);
  const likes = Array.from({ length: 480 }, (_, at) => ({
    FeedbackType: 'like',
    UserId: `u${at % 60}`,
    ItemId: `i${((at % 60) + Math.floor(at / 60) * 3) % 30}`,
    Timestamp: '2024-05-01',
  }));
  await ask('POST', '/api/feedback', likes);
  const crowd = await connectMany(Number(new URL(furze.url).port));
  await ask('POST', '/api/admin/fit');
  const isSaid = /EMFILE|too many open files|file handles/i;
  await until(200, async () => (isSaid.test(furze.output) ? 200 : 0));
  const during = await ask('POST', '/api/user', { UserId: 'during' });
  checks.check(
    'few handles: the process is up, and writes',
    !furze.hasEnded && during === 200,
    String(during),
  );
  const lines = furze.output.split('\n').filter((line) => isSaid.test(line));
  checks.check('few handles: a line says so', lines.length > 0, lines[0]?.slice(0, 300));
  for (const socket of crowd) socket.destroy();
  const after: number[] = [];
  for (let at = 0; at < WRITES_AFTER; at++)
    after.push(await ask('POST', '/api/user', { UserId: `after-${at}` }));
  checks.check(
    'the crowd is gone: no write is refused',
    after.every((status) => status === 200),
    after.join(),
  );
  const recommended = async () => {
    const { body } = await answerOver(agent, furze.url, 'GET', '/api/admin/summary');
    return JSON.parse(body).Recommends === true ? 200 : 0;
  };
  checks.check(
    'the crowd is gone: the fit comes to its end',
    (await until(200, recommended, FIT_MS_MAX)) === 200,
  );
  checks.check('the crowd is gone: ready', (await until(200, () => ask('GET', '/api/health/ready'))) === 200);
  agent.destroy();
  await furze.stop();
}

/** Connections that send nothing. */
async function connectMany(port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await pause(1000);
  return sockets;
}

async function statusOver(
  agent: Agent,
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<number> {
  return (await answerOver(agent, url, method, path, body)).status;
}

/** @returns status 0 when there is no answer */
function answerOver(
  agent: Agent,
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: string }> {
  const text = body === undefined ? '' : JSON.stringify(body);
  return new Promise((resolve) => {
    const sent = request(
      url + path,
      { agent, method, headers: { 'Content-Length': Buffer.byteLength(text) } },
      (answer) => {
        let received = '';
        answer
          .setEncoding('utf8')
          .on('data', (part) => (received += part))
          .on('end', () => resolve({ status: answer.statusCode ?? 0, body: received }));
      },
    );
    sent.on('error', () => resolve({ status: 0, body: '{}' }));
    sent.end(text);
  });
}
