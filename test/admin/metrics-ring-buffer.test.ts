import { decode, encode } from '@msgpack/msgpack';
import { describe, expect, it } from 'vitest';
import { MetricsRingBuffer, SAMPLED, type Sample } from '../../src/admin/metrics-ring-buffer.ts';
import { quantileS } from '../../src/admin/metrics-sampler.ts';

const STEP_MS = 10_000;
const START_MS = 1_700_000_000_000;

/** A sample whose every value is the same. */
const sample = (value: number) =>
  Object.fromEntries(Object.keys(SAMPLED).map((name) => [name, value])) as Sample;

function filled(count: number, capacity: number): MetricsRingBuffer {
  const ring = new MetricsRingBuffer(STEP_MS, capacity);
  for (let at = 0; at < count; at++) ring.push(START_MS + at * STEP_MS, sample(at));
  return ring;
}

describe('the ring of samples', () => {
  it('holds the last ones and no more, whatever comes', () => {
    const ring = filled(25, 10);
    const nowMs = START_MS + 24 * STEP_MS;
    expect(ring.read(10, nowMs).Values.users).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
    expect(ring.read(99, nowMs).Values.users).toHaveLength(10);
    expect(ring.read(3, nowMs).Times.map((time) => time - START_MS / 1000)).toEqual([220, 230, 240]);
    expect(ring.bytes).toBe(10 * Object.keys(SAMPLED).length * 4);
    expect(ring.latest?.items).toBe(24);
  });

  it('has gaps where there was no sample, and forgets what is too long ago', () => {
    const ring = filled(3, 10);
    const later = START_MS + 6 * STEP_MS;
    ring.push(later, sample(6));
    expect(ring.read(8, later).Values.users).toEqual([null, 0, 1, 2, null, null, null, 6]);
    const muchLater = later + 1000 * STEP_MS;
    expect(ring.read(3, muchLater).Values.users).toEqual([null, null, null]);
    ring.push(muchLater, sample(9));
    expect(ring.read(4, muchLater).Values.users).toEqual([null, null, null, 9]);
  });

  it('makes one point of several: their mean, or their largest', () => {
    const ring = filled(720, 720);
    const { Times, Values, StepSeconds } = ring.read(720, START_MS + 719 * STEP_MS);
    expect(StepSeconds).toBe(20);
    expect(Times).toHaveLength(360);
    const largest = Values.latency_p99_ms as number[];
    const mean = Values.requests_per_second as number[];
    // A point holds two neighbors.
    for (let at = 1; at < 359; at++) expect(largest[at]! - mean[at]!).toBe(0.5);
  });

  it('is the same after it was kept and read again', () => {
    const ring = filled(25, 10);
    const again = new MetricsRingBuffer(STEP_MS, 10);
    again.restore(decode(encode(ring.keep())));
    const nowMs = START_MS + 26 * STEP_MS;
    expect(again.read(10, nowMs)).toEqual(ring.read(10, nowMs));
    const other = new MetricsRingBuffer(STEP_MS * 2, 10);
    other.restore(ring.keep());
    expect(other.latest).toBeUndefined();
    for (const broken of [undefined, {}, 'text', { ...ring.keep(), values: new Uint8Array(3) }]) {
      const untouched = new MetricsRingBuffer(STEP_MS, 10);
      untouched.restore(broken);
      expect(untouched.latest).toBeUndefined();
    }
  });
});

describe('a quantile of a histogram', () => {
  it('is linear within its bucket', () => {
    const bounds = [0.001, 0.01, 0.1, Number.POSITIVE_INFINITY];
    expect(quantileS(bounds, [100, 100, 100, 100], 0.5)).toBeCloseTo(0.0005, 9);
    expect(quantileS(bounds, [50, 100, 100, 100], 0.75)).toBeCloseTo(0.0055, 9);
    expect(quantileS(bounds, [0, 0, 0, 4], 0.99)).toBe(0.1);
    expect(quantileS(bounds, [0, 0, 0, 0], 0.5)).toBeNaN();
    expect(quantileS([], [], 0.5)).toBeNaN();
  });
});
