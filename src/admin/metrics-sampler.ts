import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../domain/clock.ts';
import type { SavedStates } from '../store/cache-store.ts';
import { MetricsRingBuffer, type Sample, type SampledName } from './metrics-ring-buffer.ts';

/** A day of samples. */
const STEP_MS = 10_000;
const STEPS = 8640;
/** A crash loses at most so many samples. */
const KEEP_STEPS = 60;
const EVENT_LOOP_RESOLUTION_MS = 20;
/** Name of the state that keeps the samples over restarts. */
const STATE_NAME = 'samples';

/** Requests since the start, those for the dashboard itself left out. */
export interface RequestTotals {
  readonly count: number;
  /** Answered with a 5xx status. */
  readonly errors: number;
  /** Upper bounds of the latency buckets in seconds, the last Infinity. */
  readonly boundsS: readonly number[];
  /** Requests at or below each bound. */
  readonly cumulated: readonly number[];
}

type Sizes = Readonly<
  Record<
    'users' | 'items' | 'feedback' | 'positive_feedback' | 'read_feedback' | 'data_bytes' | 'cache_bytes',
    number
  >
>;

export interface SamplerParts {
  readonly requests: () => Promise<RequestTotals>;
  /** Of the stores and what is in them. */
  readonly sizes: () => Promise<Sizes>;
  readonly states: SavedStates;
  readonly clock: Clock;
}

/** Takes a sample every ten seconds, into a ring of fixed size. */
export class MetricsSampler {
  readonly ring = new MetricsRingBuffer(STEP_MS, STEPS);
  private readonly parts: SamplerParts;
  private readonly loop: IntervalHistogram;
  private timer: NodeJS.Timeout | undefined;
  private before: RequestTotals | undefined;
  private beforeAt = 0;
  private cpuBeforeUs = 0;
  private unkept = 0;

  constructor(parts: SamplerParts) {
    this.parts = parts;
    this.loop = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  }

  async start(): Promise<void> {
    this.ring.restore(await this.parts.states.getState(STATE_NAME));
    this.loop.enable();
    await this.sample();
    this.timer = setInterval(() => void this.sample().catch(() => {}), STEP_MS);
    this.timer.unref();
  }

  /** Ends, and keeps what there is. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.loop.disable();
    await this.keep();
  }

  /** Takes one sample now. A part that cannot be told is NaN. */
  async sample(): Promise<void> {
    const sizes: Partial<Sizes> = await this.parts.sizes().catch(() => ({}));
    const requests = await this.requests();
    const { rss, heapUsed } = process.memoryUsage();
    const sample: Partial<Record<SampledName, number>> = {
      ...requests,
      ...sizes,
      event_loop_delay_p99_ms: this.loopDelayMs(),
      resident_bytes: rss,
      heap_bytes: heapUsed,
    };
    this.ring.push(this.parts.clock(), sample as Sample);
    if (++this.unkept >= KEEP_STEPS) await this.keep();
  }

  private async keep(): Promise<void> {
    this.unkept = 0;
    await this.parts.states.putState(STATE_NAME, this.ring.keep());
  }

  /** The delay beyond the resolution that the watch itself has. */
  private loopDelayMs(): number {
    const delayMs = this.loop.percentile(99) / 1e6 - EVENT_LOOP_RESOLUTION_MS;
    this.loop.reset();
    return Math.max(0, delayMs);
  }

  /** Increase since the last sample. */
  private async requests(): Promise<Partial<Sample>> {
    const totals = await this.parts.requests();
    const { before } = this;
    const now = performance.now();
    const seconds = (now - this.beforeAt) / 1000;
    const { user, system } = process.cpuUsage();
    const cpuUs = user + system;
    const cpuShare = (cpuUs - this.cpuBeforeUs) / 1e6 / seconds;
    this.before = totals;
    this.beforeAt = now;
    this.cpuBeforeUs = cpuUs;
    if (before === undefined) return {};
    const fresh = totals.cumulated.map((count, at) => count - (before.cumulated[at] ?? 0));
    const quantile = (q: number) => quantileS(totals.boundsS, fresh, q) * 1000;
    return {
      requests_per_second: (totals.count - before.count) / seconds,
      errors_per_second: (totals.errors - before.errors) / seconds,
      latency_p50_ms: quantile(0.5),
      latency_p95_ms: quantile(0.95),
      latency_p99_ms: quantile(0.99),
      cpu_share: cpuShare,
    };
  }
}

/**
 * A quantile of a histogram, linear within its bucket as Prometheus' histogram_quantile has it; NaN when it is empty.
 * @param cumulated counts at or below each bound
 */
export function quantileS(boundsS: readonly number[], cumulated: readonly number[], q: number): number {
  const total = cumulated.at(-1) ?? 0;
  if (total === 0) return Number.NaN;
  const rank = q * total;
  const at = cumulated.findIndex((count) => count >= rank);
  const low = at === 0 ? 0 : boundsS[at - 1]!;
  const high = boundsS[at]!;
  if (!Number.isFinite(high)) return low;
  const below = at === 0 ? 0 : cumulated[at - 1]!;
  const within = cumulated[at]! - below;
  return low + (high - low) * (within === 0 ? 1 : (rank - below) / within);
}
