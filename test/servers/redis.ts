import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** A Redis or Valkey server that runs for tests alone. */
export interface TestRedis {
  /** Without a password. */
  readonly url: string;
  readonly port: number;
  readonly processId: number;
  /** Ends at once, as in a crash, and loses what it holds. */
  pause(): Promise<void>;
  /** Starts again on the same port, where it does not run. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** The first that the machine has. */
const PROGRAMS = ['valkey-server', 'redis-server'];
const START_MS_MAX = 600_000;
/** Each test may have one of its own. */
const DATABASES = 10_000;

/**
 * Starts the machine's Redis or Valkey on a port of its own, in memory alone; undefined where there is none.
 * @param settings further ones, as in `['--requirepass', 'secret']`
 * @param isEncrypted whether the port speaks TLS
 */
export async function startRedis(
  settings: readonly string[] = [],
  isEncrypted = false,
): Promise<TestRedis | undefined> {
  const program = PROGRAMS.find(isThere);
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'furze-redis-'));
  const port = await freePort();
  const ports = isEncrypted ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)];
  const own = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--databases', String(DATABASES)];
  const args = [...ports, ...own, '--dir', folder, ...settings];
  const start = async () => {
    const server = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await isReady(server.stdout);
    // It ends with whoever started it, even when that is killed.
    const watch = `while kill -0 ${process.pid} 2> /dev/null && kill -0 ${server.pid} 2> /dev/null; do sleep 1; done; kill -9 ${server.pid} 2> /dev/null`;
    spawn('sh', ['-c', watch], { detached: true, stdio: 'ignore' }).unref();
    return server;
  };
  let server = await start();
  const isRunning = () => server.exitCode === null && server.signalCode === null;
  const end = async () => {
    if (!isRunning()) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  return {
    url: `redis${isEncrypted ? 's' : ''}://127.0.0.1:${port}`,
    port,
    get processId() {
      return server.pid!;
    },
    pause: end,
    async resume() {
      if (isRunning()) return;
      server = await start();
    },
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Reads the log until the server takes connections. */
function isReady(log: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`Redis did not start: ${text}`)), START_MS_MAX);
    log.on('data', (chunk: Buffer) => {
      text = (text + chunk).slice(-4000);
      if (!text.includes('eady to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
    log.on('end', () => reject(new Error(`Redis ended: ${text}`)));
  });
}
