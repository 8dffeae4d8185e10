import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dataPathOf } from './processes.ts';
import { type Ask, type Kind, stallKinds, stallWorld } from './stall-kinds.ts';
import { quantile, type Row } from './statistics.ts';
import type { WorldSize } from './world.ts';

const SERVER = fileURLToPath(new URL('./stall-server.ts', import.meta.url));
const AIM_MS = 5;
/** Between what is measured and what came before, milliseconds: the last work of a large commit belongs to it. */
const PAUSE_MS = 150;

export interface StallOptions {
  /** Measured requests of a kind. */
  readonly times: number;
  /** Only kinds whose name has this in it. */
  readonly only: string;
  /** Only every so many kinds, from the first on. */
  readonly each: number;
  /** Keeps the data, or takes it from there. */
  readonly folder: string | undefined;
  /** Fits first, so that models answer. */
  readonly fits: boolean;
}

/**
 * The longest time that single requests occupy the main thread without a break, each sent alone, by kind: the median of
 * several and the worst. Processor time, which other work on the machine does not lengthen.
 */
export async function benchStalls(
  size: WorldSize,
  { times, only, each, folder, fits }: StallOptions,
): Promise<Row[]> {
  const path = folder ?? (await mkdtemp(join(tmpdir(), 'furze-bench-')));
  const isFilled = existsSync(dataPathOf(path));
  const beganMs = performance.now();
  const server = fork(SERVER, [path], {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const port = Number((await once(server, 'message'))[0]);
    if (!isFilled) for (const part of stallWorld(size)) await send(port, part);
    const rows: Row[] = [];
    // A run with many items takes long: each row is told when it is there.
    const tell = (name: string, stallsMs: readonly number[]) => {
      rows.push(row(name, stallsMs));
      const told = stallsMs.map((stallMs) => stallMs.toFixed(2)).join(' ');
      console.log(`${secondsSince(beganMs)} s: ${name}: ${told} ms`);
    };
    console.log(`${secondsSince(beganMs)} s: the data is there`);
    const kinds = stallKinds(size).filter(({ name }, at) => name.includes(only) && at % each === 0);
    if (fits) tell('a fit', [await stallOf(server, () => runFit(server))]);
    for (const kind of kinds) tell(kind.name, await stallsOf(server, port, kind, times));
    return rows;
  } finally {
    const exited = once(server, 'exit');
    server.send('stop');
    await exited;
    if (folder === undefined) await rm(path, { recursive: true });
  }
}

function secondsSince(beganMs: number): number {
  return Math.round((performance.now() - beganMs) / 1000);
}

function row(name: string, stallsMs: readonly number[]): Row {
  const median = quantile(stallsMs, 0.5);
  return {
    bench: `longest turn of ${name}`,
    unit: 'ms',
    furze: median,
    reference: `the worst of ${stallsMs.length}`,
    referenceValue: Math.max(...stallsMs),
    ratio: median / AIM_MS,
    aim: `<= 1 (of ${AIM_MS} ms)`,
  };
}

async function stallsOf(server: ChildProcess, port: number, kind: Kind, times: number): Promise<number[]> {
  const stallsMs: number[] = [];
  // The first warms up.
  for (let at = 0; at <= times; at++) {
    if (kind.before !== undefined) await send(port, kind.before(at));
    const asked = kind.make(at);
    await delay(PAUSE_MS);
    const stallMs = await stallOf(server, () => send(port, asked, kind.hangUpAfterMs));
    if (at > 0) stallsMs.push(stallMs);
  }
  return stallsMs;
}

async function stallOf(server: ChildProcess, work: () => Promise<void>): Promise<number> {
  const begun = once(server, 'message');
  server.send('begin');
  await begun;
  await work();
  const answer = once(server, 'message');
  server.send('read');
  return (await answer)[0] as number;
}

async function runFit(server: ChildProcess): Promise<void> {
  const done = once(server, 'message');
  server.send('fit');
  await done;
}

/** Sends a request and reads its answer to the end. @throws Error for an answer that is no 2xx */
function send(port: number, { method, path, body }: Ask, hangUpAfterMs?: number): Promise<void> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) };
    const asked = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    asked.once('response', (response) => {
      if (response.statusCode! >= 300) reject(new Error(`${method} ${path}: ${response.statusCode}`));
      response.resume().once('end', resolve).once('error', reject);
    });
    asked.once('error', (error) => (hangUpAfterMs === undefined ? reject(error) : resolve()));
    asked.end(text);
    if (hangUpAfterMs !== undefined) setTimeout(() => asked.destroy(new Error('hung up')), hangUpAfterMs);
  });
}
