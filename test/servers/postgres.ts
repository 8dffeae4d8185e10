import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';

/** A PostgreSQL server that runs for tests alone. */
export interface TestPostgres {
  /** Of its database, for the user who may do everything. */
  readonly url: string;
  /** Of the process that the others are children of. */
  readonly processId: number;
  /** Ends at once, as in a crash. */
  pause(): Promise<void>;
  /** Starts again on the same data. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Where Debian and others put each version's programs. */
const VERSIONS_FOLDER = '/usr/lib/postgresql';
const START_MS_MAX = 600_000;

/**
 * Starts the machine's PostgreSQL on a port and in a folder of its own; undefined where there is none.
 * @param settings further ones, as in `fsync=on`
 */
export async function startPostgres(settings: readonly string[] = []): Promise<TestPostgres | undefined> {
  const programs = findPrograms();
  if (programs === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'furze-postgres-'));
  const data = join(folder, 'data');
  const as = ordinaryUser();
  if (as !== undefined) chownSync(folder, as.uid, as.gid);
  const port = await freePort();
  const options = { ...as, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } } as const;
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'furze', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...options, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const chosen = [
    'fsync=off',
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
  ];
  const args = ['-D', data, ...[...chosen, ...settings].flatMap((each) => ['-c', each])];
  const start = async () => {
    const server = spawn(join(programs, 'postgres'), args, {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await isReady(server.stderr);
    return server;
  };
  let server = await start();
  const guard = endWith(process.pid, folder);
  const stop = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  };
  return {
    url: `postgres://furze@127.0.0.1:${port}/postgres`,
    get processId() {
      return server.pid!;
    },
    pause: () => stop('SIGQUIT'),
    async resume() {
      server = await start();
    },
    async stop() {
      await stop('SIGINT');
      guard.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ends the server in a folder, and removes that, once a process is gone without having done so: after kill -9. */
function endWith(processId: number, folder: string): ChildProcess {
  const script = `while kill -0 "$1" 2> /dev/null; do sleep 1; done
kill -QUIT "$(head -1 "$2/data/postmaster.pid")"; sleep 1; rm -rf "$2"`;
  const guard = spawn('sh', ['-c', script, 'sh', String(processId), folder], {
    detached: true,
    stdio: 'ignore',
  });
  guard.unref();
  return guard;
}

/** Reads the log until the server takes connections. */
function isReady(log: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`PostgreSQL did not start: ${text}`)), START_MS_MAX);
    log.on('data', (chunk: Buffer) => {
      text = (text + chunk).slice(-4000);
      if (!text.includes('ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
    log.on('end', () => reject(new Error(`PostgreSQL ended: ${text}`)));
  });
}

/** The folder with `initdb` and `postgres`, the newest version there is. */
export function findPrograms(): string | undefined {
  const versions = existsSync(VERSIONS_FOLDER) ? readdirSync(VERSIONS_FOLDER) : [];
  const installed = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((each) => join(VERSIONS_FOLDER, each, 'bin'));
  const folders = [...installed, ...(process.env.PATH ?? '').split(delimiter)];
  return folders.find((each) => existsSync(join(each, 'initdb')) && existsSync(join(each, 'postgres')));
}

/** PostgreSQL and PgBouncer do not run as root, so root runs them as somebody else. */
export function ordinaryUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
