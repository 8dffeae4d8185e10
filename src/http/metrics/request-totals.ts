import type { Registry } from 'prom-client';
import type { RequestTotals } from '../../admin/metrics-sampler.ts';

const LATENCY = 'furze_http_request_duration_seconds';
/** Routes that people and programs watch the service by. */
const WATCHING = /^\/(api\/admin|metrics|apidocs|api\/health|dashboard)|^\/$|^none$/;

interface LatencyValue {
  readonly metricName?: string;
  readonly labels: { readonly route?: string; readonly status?: string; readonly le?: number | string };
  readonly value: number;
}

/** Adds the histogram of latencies up over all routes but those by which the service is watched. */
export async function requestTotals(registry: Registry): Promise<RequestTotals> {
  const metric = await registry.getSingleMetric(LATENCY)?.get();
  const byBound = new Map<number, number>();
  let count = 0;
  let errors = 0;
  for (const { metricName, labels, value } of (metric?.values ?? []) as readonly LatencyValue[]) {
    if (WATCHING.test(labels.route ?? '')) continue;
    if (metricName === `${LATENCY}_bucket`) {
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
      byBound.set(bound, (byBound.get(bound) ?? 0) + value);
    } else if (metricName === `${LATENCY}_count`) {
      count += value;
      if (labels.status?.startsWith('5')) errors += value;
    }
  }
  const boundsS = [...byBound.keys()].sort((a, b) => a - b);
  return { count, errors, boundsS, cumulated: boundsS.map((bound) => byBound.get(bound)!) };
}
