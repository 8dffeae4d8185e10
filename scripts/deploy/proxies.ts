import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { freePort } from '../../test/servers/free-port.ts';
import { isInstalled, type Report } from './report.ts';

/** A proxy of deploy/proxy/, started on a port of ours in front of a furze on another. */
interface Proxy {
  readonly name: string;
  readonly isTls: boolean;
  /** The shipped configuration with ports and certificates of the test. @returns the command that runs it */
  prepare(text: string, setting: Setting): readonly string[];
  readonly file: string;
}
interface Setting {
  readonly folder: string;
  readonly port: number;
  readonly furzePort: number;
}

/** Longer than furze lets a connection rest. */
const REST_MS = 11_500;
/** No answer by then is none. */
const ANSWER_MS_MAX = 300_000;
/** How often a proxy that starts is asked, ten times a second. */
const STARTING_TRIES_MAX = 3000;
const REQUESTS = 300;
const AT_ONCE = 16;
const BIG_BODY_BYTES = 4_000_000;

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    isTls: true,
    prepare(text, { folder, port, furzePort }) {
      const own = text
        .replace('127.0.0.1:8087', `127.0.0.1:${furzePort}`)
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace('/etc/ssl/furze/fullchain.pem', join(folder, 'cert.pem'))
        .replace('/etc/ssl/furze/privkey.pem', join(folder, 'key.pem'));
      writeFileSync(join(folder, 'furze.conf'), own);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
        .join(' ');
      // As root, the workers would else be somebody who may not write here.
      const user = process.getuid?.() === 0 ? 'user root; ' : '';
      const main = `${user}daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr; events {} http { access_log off; ${temporary} include ${join(folder, 'furze.conf')}; }`;
      writeFileSync(join(folder, 'main.conf'), main);
      return ['nginx', '-p', folder, '-c', join(folder, 'main.conf')];
    },
  },
  {
    name: 'caddy',
    file: 'Caddyfile',
    isTls: false,
    prepare(text, { folder, port, furzePort }) {
      const own = text
        .replace('recommend.example.com', `http://127.0.0.1:${port}`)
        .replace('127.0.0.1:8087', `127.0.0.1:${furzePort}`);
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${own}`);
      return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
    },
  },
  {
    name: 'haproxy',
    file: 'haproxy.cfg',
    isTls: true,
    prepare(text, { folder, port, furzePort }) {
      const own = text
        .replace('127.0.0.1:8087', `127.0.0.1:${furzePort}`)
        // No more files than this process may open.
        .replace('maxconn 10000', 'maxconn 500')
        .replace('bind :443', `bind 127.0.0.1:${port}`)
        .replace('/etc/ssl/furze/both.pem', join(folder, 'both.pem'));
      writeFileSync(join(folder, 'haproxy.cfg'), own);
      return ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')];
    },
  },
];

/** Sends requests through each proxy that is installed, side by side, as its configuration in deploy/proxy/ has it. */
export async function checkProxies(
  report: Report,
  root: string,
  work: string,
  furzePort: number,
): Promise<void> {
  await Promise.all(
    PROXIES.map(async (proxy) => {
      if (!isInstalled(proxy.name))
        return report.skip(`${proxy.name} in front of furze`, `${proxy.name} is not installed`);
      const started = await startProxy(proxy.name, root, join(work, proxy.name), furzePort);
      try {
        const answers = await throughProxy(started);
        const wrong = [...answers].filter(([status]) => status !== '200');
        report.check(
          `${proxy.name}: ${REQUESTS} requests, ${BIG_BODY_BYTES} bytes at once, and again after a rest`,
          wrong.length === 0,
          `${JSON.stringify([...answers])} ${started.output().slice(-800)}`,
        );
      } finally {
        started.child.kill('SIGTERM');
      }
    }),
  );
}

/** A proxy that runs in front of a furze. */
export interface StartedProxy {
  readonly port: number;
  readonly isTls: boolean;
  readonly child: ChildProcess;
  /** What it has written so far. */
  readonly output: () => string;
}

/**
 * Starts an installed proxy by its file of deploy/proxy/; it may take a moment to listen.
 * @param folder its own, which is made
 * @param change makes another file of it
 */
export async function startProxy(
  name: string,
  root: string,
  folder: string,
  furzePort: number,
  change = (text: string) => text,
): Promise<StartedProxy> {
  const proxy = PROXIES.find((each) => each.name === name)!;
  mkdirSync(folder);
  makeCertificate(folder);
  const port = await freePort();
  const text = change(readFileSync(join(root, 'deploy/proxy', proxy.file), 'utf8'));
  const [command, ...args] = proxy.prepare(text, { folder, port, furzePort }) as [string, ...string[]];
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: folder },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => {
      output += piece;
    });
  return { port, isTls: proxy.isTls, child, output: () => output };
}

/** @returns how often each status came */
async function throughProxy({ port, isTls, child }: StartedProxy): Promise<Map<string, number>> {
  const agent = isTls
    ? new Agent({ keepAlive: true, maxSockets: AT_ONCE, rejectUnauthorized: false })
    : new PlainAgent({ keepAlive: true, maxSockets: AT_ONCE });
  const send = (method: string, path: string, body = '') =>
    new Promise<string>((resolve) => {
      const options = { port, host: '127.0.0.1', method, path, agent, timeout: ANSWER_MS_MAX };
      const asked = (isTls ? request : plainRequest)(options, (answer) => {
        answer.resume().on('end', () => resolve(String(answer.statusCode)));
      });
      asked.on('timeout', () => asked.destroy(new Error('no answer')));
      asked.on('error', ({ message }) => resolve(message)).end(body);
    });
  for (let tries = 0; tries < STARTING_TRIES_MAX && child.exitCode === null; tries++) {
    if ((await send('GET', '/api/health/ready')) === '200') break;
    await pause(100);
  }
  const answers = new Map<string, number>();
  const count = (status: string) => answers.set(status, (answers.get(status) ?? 0) + 1);
  const user = JSON.stringify({ UserId: 'ann', Labels: ['x'] });
  const some = () =>
    Promise.all(
      Array.from({ length: REQUESTS / 2 }, async (_, at) =>
        count(await (at % 2 === 0 ? send('GET', '/api/popular?n=3') : send('POST', '/api/user', user))),
      ),
    );
  await some();
  const items = Array.from({ length: BIG_BODY_BYTES / 40_000 }, (_, at) => ({
    ItemId: `i${at}`,
    Comment: 'x'.repeat(40_000),
  }));
  count(await send('POST', '/api/items', JSON.stringify(items)));
  await pause(REST_MS);
  // What the proxy has closed meanwhile is read before a connection is taken again.
  await turn();
  await some();
  agent.destroy();
  return answers;
}

function makeCertificate(folder: string): void {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
  execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  writeFileSync(join(folder, 'both.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
}
