import { performance } from 'node:perf_hooks';
import { Histogram, type Registry } from 'prom-client';
import { externalBytes } from '../../memory/garbage-collection.ts';
import { VERSION } from '../../platform/program/version.ts';
import { gauge } from './gauge.ts';

/** Time between two looks at the event loop, milliseconds. */
const LOOK_MS = 20;
/** Upper bounds of the delay's buckets, in seconds. */
const DELAY_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The process: what it is, since when it runs, what it takes, and how long its event loop keeps others waiting. */
export function registerProcess(registry: Registry): { stop(): void } {
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
