import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { ordinaryUser } from './postgres.ts';

/** A pool that lends the connections of a PostgreSQL server, each for one transaction. */
export interface TestPool {
  /** `HOST:PORT` of the pool. */
  readonly host: string;
  stop(): Promise<void>;
}

const PROGRAM = 'pgbouncer';
const START_MS_MAX = 600_000;
const PAUSE_MS = 20;
/** Fewer than the nodes of a test have connections, so that each is lent to several of them. */
const CONNECTIONS = 4;

/** Whether the machine has PgBouncer. */
export function hasPool(): boolean {
  try {
    execFileSync(PROGRAM, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts the machine's PgBouncer in front of a server. @param url of the server, for a user without a password */
export async function startPool(url: string): Promise<TestPool> {
  const { hostname, port: serverPort, username, pathname } = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), 'furze-pgbouncer-'));
  const as = ordinaryUser();
  if (as !== undefined) chownSync(folder, as.uid, as.gid);
  const port = await freePort();
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(
    config,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${serverPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${CONNECTIONS}
`,
  );
  const pool = spawn(PROGRAM, ['--quiet', config], { ...as, cwd: folder, stdio: 'ignore' });
  await isListening(port);
  return {
    host: `127.0.0.1:${port}`,
    async stop() {
      const exited = once(pool, 'exit');
      pool.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number): Promise<void> {
  const untilMs = performance.now() + START_MS_MAX;
  while (performance.now() < untilMs) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error('PgBouncer did not start');
}
