import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { ChildService } from './child-service.ts';
import { dataPathOf, withFolder } from './processes.ts';
import { type Ask, type Kind, stallKinds, stallWorld } from './stall-kinds.ts';
import { quantile, type Row, ratioRow } from './statistics.ts';
import type { WorldSize } from './world.ts';

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
export function benchStalls(size: WorldSize, options: StallOptions): Promise<Row[]> {
  const { folder } = options;
  return folder === undefined
    ? withFolder((own) => measureStalls(own, size, options))
    : measureStalls(folder, size, options);
}

async function measureStalls(
  folder: string,
  size: WorldSize,
  { times, only, each, fits }: StallOptions,
): Promise<Row[]> {
  const isFilled = existsSync(dataPathOf(folder));
  const beganMs = performance.now();
  const service = await ChildService.start(folder, {
    fallback_recommend: ['item_based', 'popular', 'latest'],
  });
  try {
    if (!isFilled) for (const part of stallWorld(size)) await send(service.port, part);
    const rows: Row[] = [];
    // A run with many items takes long: each row is told when it is there.
    const tell = (name: string, stallsMs: readonly number[]) => {
      rows.push(row(name, stallsMs));
      const told = stallsMs.map((stallMs) => stallMs.toFixed(2)).join(' ');
      console.log(`${secondsSince(beganMs)} s: ${name}: ${told} ms`);
    };
    console.log(`${secondsSince(beganMs)} s: the data is there`);
    const kinds = stallKinds(size).filter(({ name }, at) => name.includes(only) && at % each === 0);
    if (fits) tell('a fit', [await service.longestTurnOf(() => service.fit().ended)]);
    for (const kind of kinds) tell(kind.name, await stallsOf(service, kind, times));
    return rows;
  } finally {
    await service.stop();
  }
}

function secondsSince(beganMs: number): number {
  return Math.round((performance.now() - beganMs) / 1000);
}

function row(name: string, stallsMs: readonly number[]): Row {
  const [half, worst] = [quantile(stallsMs, 0.5), Math.max(...stallsMs)];
  const reference = `the worst of ${stallsMs.length}`;
  const aim = `<= 1 (of ${AIM_MS} ms)`;
  return { ...ratioRow(`longest turn of ${name}`, 'ms', half, reference, worst, aim), ratio: half / AIM_MS };
}

async function stallsOf(service: ChildService, kind: Kind, times: number): Promise<number[]> {
  const stallsMs: number[] = [];
  // The first warms up.
  for (let at = 0; at <= times; at++) {
    if (kind.before !== undefined) await send(service.port, kind.before(at));
    const asked = kind.make(at);
    await delay(PAUSE_MS);
    const stallMs = await service.longestTurnOf(() => send(service.port, asked, kind.hangUpAfterMs));
    if (at > 0) stallsMs.push(stallMs);
  }
  return stallsMs;
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
