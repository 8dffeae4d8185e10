import { performance } from 'node:perf_hooks';
import { Histogram, type Metric, Registry } from 'prom-client';
import { getOrPut } from '../../domain/get-or-put.ts';
import { externalBytes } from '../../memory/garbage-collection.ts';
import { VERSION } from '../../platform/program/version.ts';
import type { StoreStats } from '../../store/data-store.ts';
import type { Route } from '../route/route.ts';
import { gauge } from './gauge.ts';

/** Upper bounds of the latency buckets, in seconds. */
const BUCKETS_S = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Number of the route that stands for requests which fit none. */
export const NO_ROUTE = -1;

/** Counts what requests come to and reads what the store holds; one per server. */
export interface HttpMetrics {
  /**
   * Counts one request: a few additions, nothing allocated after the first of its kind.
   * @param routeNumber number in the route table, or `NO_ROUTE`
   */
  record(routeNumber: number, method: string, status: number, latencyMs: number): void;
  /** All metrics in Prometheus text format. */
  text(): Promise<string>;
  /** The registry, for metrics of other parts. */
  readonly registry: Registry;
  close(): void;
}

interface Series {
  readonly labels: { readonly route: string; readonly method: string; readonly status: string };
  /** Requests by bucket, not cumulated; the last is above every bound. */
  readonly buckets: Float64Array;
  sumS: number;
  count: number;
}

export interface MetricsParts {
  readonly routes: readonly Route[];
  /** Sizes of the data store, read when the metrics are. */
  readonly stats: () => Promise<StoreStats>;
}

/** Starts counting. `close` stops the watch over the event loop. */
export function createMetrics({ routes, stats }: MetricsParts): HttpMetrics {
  const registry = new Registry();
  const series = new Map<string, Series>();
  registerRequests(registry, series);
  registerStore(registry, stats);
  registerCpu(registry);
  const watch = registerProcess(registry);
  const paths = routes.map((route) => route.path);
  // Per route, then per status: looking a series up costs two array reads.
  const byRoute: Series[][] = [];

  function open(routeNumber: number, method: string, status: number): Series {
    const route = paths[routeNumber] ?? 'none';
    const labelMethod = routeNumber === NO_ROUTE ? 'any' : method;
    const key = `${labelMethod} ${route} ${status}`;
    const labels = { route, method: labelMethod, status: String(status) };
    const buckets = () => new Float64Array(BUCKETS_S.length + 1);
    return getOrPut(series, key, () => ({ labels, buckets: buckets(), sumS: 0, count: 0 }));
  }

  return {
    registry,
    record(routeNumber, method, status, latencyMs) {
      const statuses = (byRoute[routeNumber + 1] ??= []);
      const one = (statuses[status] ??= open(routeNumber, method, status));
      const seconds = latencyMs / 1000;
      let bucket = 0;
      while (bucket < BUCKETS_S.length && seconds > BUCKETS_S[bucket]!) bucket++;
      one.buckets[bucket]!++;
      one.sumS += seconds;
      one.count++;
    },
    text: () => registry.metrics(),
    close: () => watch.stop(),
  };
}

const LATENCY = 'furze_http_request_duration_seconds';
const REQUESTS = 'furze_http_requests_total';

/** The two metrics of requests, read out of the series when asked for, so that counting need not go through labels. */
function registerRequests(registry: Registry, series: ReadonlyMap<string, Series>): void {
  register(registry, REQUESTS, 'Requests answered', 'counter', () =>
    [...series.values()].map(({ labels, count }) => ({ labels, value: count })),
  );
  register(registry, LATENCY, 'Time from the head of a request to its answer, in seconds', 'histogram', () =>
    [...series.values()].flatMap(histogramValues),
  );
}

function histogramValues({ labels, buckets, sumS, count }: Series) {
  let below = 0;
  const values: object[] = BUCKETS_S.map((le, i) => {
    below += buckets[i]!;
    return { metricName: `${LATENCY}_bucket`, labels: { ...labels, le }, value: below };
  });
  values.push({ metricName: `${LATENCY}_bucket`, labels: { ...labels, le: '+Inf' }, value: count });
  values.push({ metricName: `${LATENCY}_sum`, labels, value: sumS });
  values.push({ metricName: `${LATENCY}_count`, labels, value: count });
  return values;
}

/** The registry asks nothing of a metric but its name and what `get` tells. */
function register(
  registry: Registry,
  name: string,
  help: string,
  type: string,
  values: () => object[] | Promise<object[]>,
): void {
  const metric = {
    name,
    get: async () => ({ name, help, type, values: await values(), aggregator: 'sum' }),
    reset: () => {},
  };
  registry.registerMetric(metric as unknown as Metric);
}

function registerStore(registry: Registry, stats: () => Promise<StoreStats>): void {
  let reading: Promise<StoreStats | undefined> | undefined;
  // The metrics are read side by side, so one read of the store serves them all. A store that is away must not take
  // the other metrics with it: its sizes are left out.
  const read = () =>
    (reading ??= stats()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
  register(registry, 'furze_store_rows', 'Records in the data store by kind', 'gauge', async () => {
    const sizes = await read();
    if (sizes === undefined) return [];
    return (['users', 'items', 'feedback'] as const).map((kind) => ({
      labels: { kind },
      value: sizes[kind],
    }));
  });
  register(registry, 'furze_store_bytes', 'Bytes of the data store on disk', 'gauge', async () => {
    const sizes = await read();
    return sizes === undefined ? [] : [{ labels: {}, value: sizes.bytes }];
  });
}

function registerCpu(registry: Registry): void {
  register(registry, 'process_cpu_seconds_total', 'User and system CPU time in seconds', 'counter', () => {
    const { user, system } = process.cpuUsage();
    return [{ labels: {}, value: (user + system) / 1e6 }];
  });
}

/** Time between two looks at the event loop, milliseconds. */
const LOOK_MS = 20;
/** Upper bounds of the delay's buckets, in seconds. */
const DELAY_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The process: what it is, since when it runs, what it takes, and how long its event loop keeps others waiting. */
function registerProcess(registry: Registry): { stop(): void } {
  const value = (name: string, help: string, read: () => number) => gauge(registry, name, help, read);
  gauge(
    registry,
    'furze_build_info',
    'Version of furze and of Node.js, as labels of a metric that is always 1',
    () => [[{ version: VERSION, node_version: process.version }, 1]],
    ['version', 'node_version'],
  );
  value(
    'process_start_time_seconds',
    'Start time of the process since the Unix epoch, in seconds',
    () => performance.timeOrigin / 1000,
  );
  value('process_resident_memory_bytes', 'Resident memory in bytes', () => process.memoryUsage.rss());
  value('nodejs_heap_size_used_bytes', 'Heap in use in bytes', () => process.memoryUsage().heapUsed);
  value('nodejs_heap_size_total_bytes', 'Heap taken in bytes', () => process.memoryUsage().heapTotal);
  value('nodejs_external_memory_bytes', 'Memory outside the heap, in bytes', externalBytes);
  return watchEventLoop(registry);
}

/** A timer that is late tells how long others had to wait. */
function watchEventLoop(registry: Registry): { stop(): void } {
  const delay = new Histogram({
    name: 'furze_event_loop_delay_seconds',
    help: 'How much later than due the event loop comes to a timer',
    buckets: DELAY_BUCKETS_S,
    registers: [registry],
  });
  let dueMs = performance.now() + LOOK_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    delay.observe(Math.max(0, nowMs - dueMs) / 1000);
    dueMs = nowMs + LOOK_MS;
  }, LOOK_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
