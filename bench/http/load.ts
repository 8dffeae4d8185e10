import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Asker, Connection } from './connection.ts';
import type { ServerProcess } from './processes.ts';
import { median } from './statistics.ts';

/** Load on a server. */
export interface Pressure {
  readonly connections: number;
  /** Requests that a connection has under way. */
  readonly depth: number;
}

/** Requests in one buffer, so that any run of them is sent without a copy. */
export class RequestRing {
  readonly length: number;
  private readonly bytes: Buffer;
  private readonly starts: number[] = [0];

  constructor(requests: readonly Buffer[]) {
    this.bytes = Buffer.concat(requests);
    this.length = requests.length;
    for (const request of requests) this.starts.push(this.starts.at(-1)! + request.length);
  }

  /** The bytes of requests from (inclusive) to `to` (exclusive), within one round of the ring. */
  slice(from: number, to: number): Buffer {
    return this.bytes.subarray(this.starts[from], this.starts[to]);
  }
}

/** Asks for `durationMs` and tells how many requests a second were answered. */
export async function measureLoad(
  port: number,
  ring: RequestRing,
  { connections, depth }: Pressure,
  durationMs: number,
): Promise<number> {
  let next = 0;
  let answered = 0;
  const take = (count: number) => {
    if (next + count > ring.length) next = 0;
    next += count;
    return ring.slice(next - count, next);
  };
  const opened: Connection[] = [];
  for (let i = 0; i < connections; i++) {
    const one = await Connection.open(port, (count) => {
      answered += count;
      one.send(take(count));
    });
    opened.push(one);
  }
  const start = performance.now();
  for (const one of opened) one.send(take(depth));
  await delay(durationMs);
  const perSecond = (answered / (performance.now() - start)) * 1000;
  for (const one of opened) one.close();
  return perSecond;
}

/** Requests a second that were answered, by the clock and by the processor time of the server's main thread. */
export interface Speed {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

/** The speeds of servers or kinds of requests that are asked in turn, medians of the rounds after one that warms up. */
export async function alternate(
  sides: readonly { readonly server: ServerProcess; readonly ring: RequestRing }[],
  pressure: Pressure,
  rounds: number,
  roundMs: number,
): Promise<Speed[]> {
  const speeds: Speed[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round++)
    for (const [at, { server, ring }] of sides.entries()) {
      const beganMs = server.cpuMs();
      const perSecond = await measureLoad(server.port, ring, pressure, roundMs);
      const perCpuSecond = (perSecond * roundMs) / (server.cpuMs() - beganMs);
      if (round > 0) speeds[at]!.push({ perSecond, perCpuSecond });
    }
  return speeds.map((all) => ({
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    perCpuSecond: median(all.map(({ perCpuSecond }) => perCpuSecond)),
  }));
}

/**
 * Sends requests one by one over a few connections.
 * @returns the latency of each in milliseconds, in the order of the answers
 */
export async function sendAll(
  port: number,
  requests: readonly Buffer[],
  connections: number,
): Promise<number[]> {
  let next = 0;
  const latenciesMs: number[] = [];
  const client = async () => {
    const asker = await Asker.open(port);
    while (next < requests.length) {
      const request = requests[next++]!;
      const beganMs = performance.now();
      await asker.ask(request);
      latenciesMs.push(performance.now() - beganMs);
    }
    asker.close();
  };
  await Promise.all(Array.from({ length: Math.min(connections, requests.length) }, client));
  return latenciesMs;
}

/** Asks one request at a time, `pauseMs` apart. @returns each latency in milliseconds; `onLatency` is told at once */
export async function measureLatencies(
  port: number,
  requests: readonly Buffer[],
  pauseMs: number,
  goOn: (asked: number) => boolean,
  onLatency: (latencyMs: number) => void = () => {},
): Promise<number[]> {
  const asker = await Asker.open(port);
  const latenciesMs: number[] = [];
  while (goOn(latenciesMs.length)) {
    await delay(pauseMs);
    const beganMs = performance.now();
    await asker.ask(requests[latenciesMs.length % requests.length]!);
    latenciesMs.push(performance.now() - beganMs);
    onLatency(latenciesMs.at(-1)!);
  }
  asker.close();
  return latenciesMs;
}
