import { performance } from 'node:perf_hooks';
import { type Attributes, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { systemClock } from '../../domain/clock.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import { VERSION } from '../../platform/program/version.ts';

/** One value of a metric; those of histograms say what of it they are. */
type Value = MetricValue<string> & { readonly metricName?: string };

/** Hands out the metrics of `/metrics` as OpenTelemetry has them. */
export function registryMetrics(registry: Registry, resource: Resource): MetricProducer {
  return {
    async collect() {
      const all = (await registry.getMetricsAsJSON()) as unknown as MetricObjectWithValues<Value>[];
      const times = {
        startTime: millisToHrTime(performance.timeOrigin),
        endTime: millisToHrTime(systemClock()),
      };
      const metrics = all.map((metric) => metricData(metric, times));
      const scope = { name: 'furze', version: VERSION };
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics }] }, errors: [] };
    },
  };
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>;

function metricData({ name, help, type, values }: MetricObjectWithValues<Value>, times: Times): MetricData {
  const common = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // A type is a word here, whatever the types of the package say.
  const kind = type as unknown as string;
  if (kind === 'histogram')
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(values, times) };
  const dataPoints = values.map(({ labels, value }) => ({
    ...times,
    attributes: attributesOf(labels),
    value,
  }));
  return kind === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  return /_bytes(_total)?$/.test(name) ? 'By' : '1';
}

function attributesOf(labels: Value['labels']): Attributes {
  return labels as Attributes;
}

/** Takes histograms apart by their labels; Prometheus counts in each bucket what is in those below it, too. */
function histograms(values: readonly Value[], times: Times): DataPoint<Histogram>[] {
  const found = new Map<
    string,
    { labels: Value['labels']; below: [number, number][]; sum: number; count: number }
  >();
  for (const { labels, value, metricName = '' } of values) {
    const { le, ...own } = labels as Record<string, string | number>;
    const one = getOrPut(found, JSON.stringify(own), () => ({ labels: own, below: [], sum: 0, count: 0 }));
    if (metricName.endsWith('_sum')) one.sum = value;
    else if (metricName.endsWith('_count')) one.count = value;
    else if (le !== '+Inf') one.below.push([Number(le), value]);
  }
  return [...found.values()].map(({ labels, below, sum, count }) => {
    below.sort(([a], [b]) => a - b);
    const counts = below.map(([, value], at) => value - (below[at - 1]?.[1] ?? 0));
    const buckets = {
      boundaries: below.map(([le]) => le),
      counts: [...counts, count - (below.at(-1)?.[1] ?? 0)],
    };
    return { ...times, attributes: attributesOf(labels), value: { buckets, sum, count } };
  });
}
