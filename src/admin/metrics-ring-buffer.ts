import type { Series } from '../domain/admin-schemas.ts';

/** Names of the sampled figures, and the way in which several samples become one: their mean or their largest. */
export const SAMPLED = {
  requests_per_second: 'mean',
  errors_per_second: 'mean',
  latency_p50_ms: 'mean',
  latency_p95_ms: 'max',
  latency_p99_ms: 'max',
  event_loop_delay_p99_ms: 'max',
  cpu_share: 'mean',
  resident_bytes: 'max',
  heap_bytes: 'max',
  users: 'max',
  items: 'max',
  feedback: 'max',
  positive_feedback: 'max',
  read_feedback: 'max',
  data_bytes: 'max',
  cache_bytes: 'max',
} as const satisfies Readonly<Record<string, 'mean' | 'max'>>;
export type SampledName = keyof typeof SAMPLED;
export type Sample = Readonly<Record<SampledName, number>>;

const NAMES = Object.keys(SAMPLED) as SampledName[];
const POINTS_MAX = 360;

/** A kept ring, as it goes into the cache store. */
interface KeptSamples {
  readonly names: readonly string[];
  readonly stepMs: number;
  /** Number of the last sample's step. */
  readonly last: number;
  /** As they lie in the ring. */
  readonly values: Uint8Array;
}

/**
 * The last samples of a fixed step in a ring of fixed size: four bytes for each name and step. A step without a sample
 * (the service was down) is NaN throughout.
 */
export class MetricsRingBuffer {
  readonly stepMs: number;
  readonly capacity: number;
  private readonly values: Float32Array;
  /** Number of the step of the last sample: its time divided by `stepMs`. */
  private last = -1;

  constructor(stepMs: number, capacity: number) {
    this.stepMs = stepMs;
    this.capacity = capacity;
    this.values = new Float32Array(capacity * NAMES.length).fill(Number.NaN);
  }

  get bytes(): number {
    return this.values.byteLength;
  }

  get latest(): Sample | undefined {
    if (this.last < 0) return undefined;
    const at = this.rowOf(this.last);
    return Object.fromEntries(NAMES.map((name, column) => [name, this.values[at + column]!])) as Sample;
  }

  /** @param nowMs milliseconds since the epoch; steps behind it, of a clock that was set back since, are emptied */
  push(nowMs: number, sample: Sample): void {
    const step = Math.floor(nowMs / this.stepMs);
    this.empty(Math.max(step + 1, this.last - this.capacity + 1), this.last);
    this.empty(Math.max(this.last + 1, step - this.capacity + 1), step);
    this.last = step;
    const at = this.rowOf(step);
    NAMES.forEach((name, column) => {
      this.values[at + column] = sample[name];
    });
  }

  /**
   * The steps up to now, of which several become one point where there are many.
   * @param steps how many to look back, at most the capacity
   */
  read(steps: number, nowMs: number): Series {
    const count = Math.min(Math.max(1, steps), this.capacity);
    const stride = Math.ceil(count / POINTS_MAX);
    const end = Math.floor(nowMs / this.stepMs);
    const points = Math.ceil(count / stride);
    // Points stand at whole strides, so that they do not change their values from one answer to the next.
    const first = (Math.floor(end / stride) - points + 1) * stride;
    const Times = Array.from(
      { length: points },
      (_, point) => ((first + point * stride) * this.stepMs) / 1000,
    );
    const Values = Object.fromEntries(
      NAMES.map((name, column) => [
        name,
        Times.map((_, point) => this.point(first + point * stride, stride, column, SAMPLED[name])),
      ]),
    );
    return { StepSeconds: (stride * this.stepMs) / 1000, Times, Values };
  }

  /** All of it for the cache store. */
  keep(): KeptSamples {
    const { stepMs, last, values } = this;
    return { names: NAMES, stepMs, last, values: new Uint8Array(values.slice().buffer) };
  }

  /** Takes over what was kept, if it has this form; of another version's form nothing is taken. */
  restore(kept: unknown): void {
    const { names, stepMs, last, values } = (kept ?? {}) as Partial<KeptSamples>;
    const isLike = stepMs === this.stepMs && names?.join() === NAMES.join();
    if (!isLike || values?.byteLength !== this.values.byteLength || last === undefined) return;
    this.values.set(new Float32Array(Uint8Array.from(values).buffer));
    this.last = last;
  }

  private rowOf(step: number): number {
    return (step % this.capacity) * NAMES.length;
  }

  private empty(from: number, to: number): void {
    for (let step = from; step <= to; step++) {
      const at = this.rowOf(step);
      this.values.fill(Number.NaN, at, at + NAMES.length);
    }
  }

  private point(from: number, stride: number, column: number, how: 'mean' | 'max'): number | null {
    let count = 0;
    let sum = 0;
    let largest = Number.NEGATIVE_INFINITY;
    for (let step = from; step < from + stride; step++) {
      if (step < 0 || step > this.last || step <= this.last - this.capacity) continue;
      const value = this.values[this.rowOf(step) + column]!;
      if (Number.isNaN(value)) continue;
      count++;
      sum += value;
      largest = Math.max(largest, value);
    }
    if (count === 0) return null;
    return how === 'mean' ? sum / count : largest;
  }
}
