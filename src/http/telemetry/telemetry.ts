import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Registry } from 'prom-client';
import { messageOf } from '../../domain/furze-error.ts';
import { limitRepeats } from '../../platform/log/limit-log-repeats.ts';
import type { Logger } from '../../platform/log/log.ts';
import { VERSION } from '../../platform/program/version.ts';
import { registryMetrics } from './registry-metrics.ts';
import type { Telemetry, TelemetrySettings } from './spans.ts';

/** Time after which a request to the collector is given up, milliseconds; a stop waits no longer. */
const SEND_MS_MAX = 5000;

/**
 * Sends spans and the metrics of `registry` by OTLP over HTTP. What waits is bounded: beyond some thousand spans the SDK drops
 * more. Imported only where it is switched on. The SDK reads the usual variables, such as OTEL_EXPORTER_OTLP_HEADERS.
 */
export function startTelemetry(
  { otlp_url: url, trace_share: share, metrics_period: periodMs }: TelemetrySettings,
  registry: Registry,
  log: Logger,
): Telemetry {
  const at = (path: string) => ({ url: `${url.replace(/\/$/, '')}/v1/${path}`, timeoutMillis: SEND_MS_MAX });
  const resource = resourceFromAttributes({
    'service.name': 'furze',
    'service.version': VERSION,
    'service.instance.id': randomUUID(),
  });
  const warn = limitRepeats((message, error) => log.warn({ err: error }, message));
  setGlobalErrorHandler((error) => warn('telemetry could not be sent', messageOf(error)));
  const traces = new BasicTracerProvider({
    resource,
    // Whether a trace begins here is decided before a span is made.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(at('traces')))],
  });
  const metrics = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(at('metrics')),
        exportIntervalMillis: periodMs,
        exportTimeoutMillis: Math.min(periodMs, SEND_MS_MAX),
        metricProducers: [registryMetrics(registry, resource)],
      }),
    ],
  });
  const tracer = traces.getTracer('furze', VERSION);
  return {
    note({ traceParent, method, route, status, requestId, startMs, endMs }) {
      const parent = traceParent === '' ? null : parseTraceParent(traceParent);
      if (parent === null && Math.random() >= share) return;
      const context =
        parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
      const span = tracer.startSpan(
        `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          startTime: performance.timeOrigin + startMs,
          attributes: {
            'http.request.method': method,
            'http.route': route,
            'http.response.status_code': status,
            'furze.request_id': requestId,
          },
        },
        context,
      );
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(performance.timeOrigin + endMs);
    },
    async stop() {
      await Promise.allSettled([traces.shutdown(), metrics.shutdown()]);
    },
  };
}
