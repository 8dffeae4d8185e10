import { performance } from 'node:perf_hooks';
import { Connection } from './connection.ts';

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

/** Asks each request of the ring once at least, so that what is kept of it is there. */
export async function askAll(port: number, ring: RequestRing): Promise<void> {
  const depth = 16;
  let from = 0;
  await new Promise<void>((resolve, reject) => {
    let left = 0;
    let one: Connection | undefined;
    const next = () => {
      if (from >= ring.length) return resolve();
      const to = Math.min(from + depth, ring.length);
      left = to - from;
      one?.send(ring.slice(from, to));
      from = to;
    };
    Connection.open(port, (count) => {
      left -= count;
      if (left === 0) next();
    }).then((opened) => {
      one = opened;
      next();
    }, reject);
  });
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
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  const perSecond = (answered / (performance.now() - start)) * 1000;
  for (const one of opened) one.close();
  return perSecond;
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
  await Promise.all(
    Array.from({ length: Math.min(connections, requests.length) }, async () => {
      let answered = () => {};
      const one = await Connection.open(port, () => answered());
      while (next < requests.length) {
        const request = requests[next++]!;
        const start = performance.now();
        await new Promise<void>((resolve) => {
          answered = resolve;
          one.send(request);
        });
        latenciesMs.push(performance.now() - start);
      }
      one.close();
    }),
  );
  return latenciesMs;
}

/** Asks one request at a time, `pauseMs` apart, and tells each latency in milliseconds, all of them at the end. */
export async function measureLatencies(
  port: number,
  requests: readonly Buffer[],
  pauseMs: number,
  goOn: (asked: number) => boolean,
  onLatency: (latencyMs: number) => void = () => {},
): Promise<number[]> {
  let answered = () => {};
  const one = await Connection.open(port, () => answered());
  const latenciesMs: number[] = [];
  while (goOn(latenciesMs.length)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const start = performance.now();
    await new Promise<void>((resolve) => {
      answered = resolve;
      one.send(requests[latenciesMs.length % requests.length]!);
    });
    const latencyMs = performance.now() - start;
    latenciesMs.push(latencyMs);
    onLatency(latencyMs);
  }
  one.close();
  return latenciesMs;
}
