import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Connection } from '../../src/store/postgres/connection.ts';
import { median } from '../http/statistics.ts';

/** A way to a database, in a process of its own, on which everything comes later. */
export interface SlowWay {
  readonly url: string;
  /** Time of a question there and back, milliseconds: the median of some. */
  readonly roundTripMs: number;
  stop(): void;
}

const FILE = fileURLToPath(import.meta.url);
const QUESTIONS = 200;

/** @param roundTripMs later there and back; timers go by whole milliseconds, so it is somewhat more */
export async function openSlowWay(databaseUrl: string, roundTripMs: number): Promise<SlowWay> {
  const url = new URL(databaseUrl);
  const args = ['--import', 'tsx', FILE, url.port, String(roundTripMs / 2)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(createInterface({ input: child.stdout }), 'line');
  url.port = String(port);
  const connection = await Connection.open(
    { url: url.href } as Parameters<typeof Connection.open>[0],
    'bench',
  );
  const tripsMs: number[] = [];
  for (let at = 0; at < QUESTIONS; at++) {
    const began = performance.now();
    await connection.rows('SELECT 1');
    tripsMs.push(performance.now() - began);
  }
  await connection.close();
  return { url: url.href, roundTripMs: median(tripsMs), stop: () => child.kill() };
}

/** Pieces keep their order, since timers of one length do. */
function forward(from: Socket, to: Socket, delayMs: number): void {
  from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), delayMs));
  from.on('error', () => {});
  from.on('close', () => setTimeout(() => to.destroy(), delayMs));
}

if (process.argv[1] === FILE) {
  const [port, delayMs] = process.argv.slice(2).map(Number);
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: port!, host: '127.0.0.1', noDelay: true });
    forward(near, far, delayMs!);
    forward(far, near, delayMs!);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  console.log((server.address() as AddressInfo).port);
}
