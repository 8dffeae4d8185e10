import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startTestServer } from './start.ts';

const PARENT = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const traceparent = (isSampled: boolean) => `00-${PARENT.trace}-${PARENT.span}-0${isSampled ? 1 : 0}`;

let isLoaded = false;
vi.mock('../../src/http/telemetry/telemetry.ts', async (original) => {
  isLoaded = true;
  return original();
});

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}
interface Point {
  readonly attributes: readonly Attribute[];
  readonly asDouble?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly bucketCounts?: readonly number[];
  readonly explicitBounds?: readonly number[];
}

/** JSON of any form. */
type Json = ReturnType<typeof JSON.parse>;

/** What a collector has been sent, by the path. */
const sent: Record<string, Json[]> = {};
let collector: Server;
let url: string;

beforeEach(async () => {
  sent['/v1/traces'] = [];
  sent['/v1/metrics'] = [];
  collector = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    sent[request.url!]!.push(JSON.parse(text));
    response.setHeader('content-type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterEach(() => {
  collector.closeAllConnections();
  collector.close();
});

const spans = () =>
  sent['/v1/traces']!.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }: Json) => scopeSpans.flatMap(({ spans }: Json) => spans)),
  );
const attribute = (attributes: readonly Attribute[], name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue;
};

test('nothing of it is loaded where it is not asked for', async () => {
  const server = await startTestServer();
  expect(
    (await server.call('GET', '/api/latest', undefined, { traceparent: traceparent(true) })).status,
  ).toBe(200);
  await server.stop();
  expect(isLoaded).toBe(false);
});

test('requests are spans of the trace they belong to, and the metrics are those of /metrics', async () => {
  const server = await startTestServer({ config: { telemetry: { otlp_url: `${url}/`, trace_share: 0 } } });
  expect(isLoaded).toBe(true);
  const ask = (path: string, headers = {}) => server.call('GET', path, undefined, headers);
  expect((await ask('/api/popular?n=3', { traceparent: traceparent(true) })).status).toBe(200);
  expect((await ask('/api/item/nothing', { traceparent: traceparent(true) })).status).toBe(404);
  // Neither the caller nor the service keeps these.
  await ask('/api/latest', { traceparent: traceparent(false) });
  await ask('/api/latest');
  await ask('/api/latest', { traceparent: 'nonsense' });
  const { text } = await ask('/metrics');
  await server.stop();

  expect(spans()).toHaveLength(2);
  const [popular, item] = spans();
  expect(popular).toMatchObject({ traceId: PARENT.trace, parentSpanId: PARENT.span, kind: 2 });
  expect(popular.name).toBe('GET /api/popular');
  expect(attribute(popular.attributes, 'http.response.status_code')).toBe(200);
  expect(Number(popular.endTimeUnixNano)).toBeGreaterThan(Number(popular.startTimeUnixNano));
  expect(Math.abs(Number(popular.startTimeUnixNano) / 1e6 - Date.now())).toBeLessThan(600_000);
  // The id that was asked for is nowhere.
  expect(item.name).toBe('GET /api/item/{item-id}');
  expect(JSON.stringify(sent['/v1/traces'])).not.toContain('nothing');

  const all = sent['/v1/metrics']!.at(-1).resourceMetrics[0];
  expect(attribute(all.resource.attributes, 'service.name')).toBe('furze');
  const metrics = all.scopeMetrics[0].metrics as Json[];
  const names = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  expect(new Set(metrics.map(({ name }) => name))).toEqual(names);
  const requests = metrics.find(({ name }) => name === 'furze_http_requests_total');
  expect(requests.sum).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 });
  const latest = (point: Point) => attribute(point.attributes, 'route') === '/api/latest';
  expect(requests.sum.dataPoints.find(latest).asDouble).toBe(3);
  const latency = metrics.find(({ name }) => name === 'furze_http_request_duration_seconds');
  const point: Point = latency.histogram.dataPoints.find(latest);
  expect(point.count).toBe(3);
  expect(point.bucketCounts).toHaveLength(point.explicitBounds!.length + 1);
  expect(point.bucketCounts!.reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(point.sum).toBeGreaterThan(0);
});

test('a share of the requests without a trace begin one', async () => {
  const server = await startTestServer({ config: { telemetry: { otlp_url: url, trace_share: 1 } } });
  for (let at = 0; at < 5; at++) await server.call('GET', '/api/latest');
  await server.stop();
  const own = spans().filter(({ name }) => name === 'GET /api/latest');
  expect(own).toHaveLength(5);
  expect(new Set(own.map(({ traceId }) => traceId)).size).toBe(5);
  expect(own.every(({ parentSpanId }) => parentSpanId === undefined)).toBe(true);
});

test('a collector that is away harms nothing and is named in the log', async () => {
  collector.close();
  const server = await startTestServer({
    config: { telemetry: { otlp_url: url, trace_share: 1, metrics_period: 100 } },
  });
  expect((await server.call('GET', '/api/latest')).status).toBe(200);
  await vi.waitFor(() => expect(server.lines.join('')).toContain('telemetry could not be sent'), 300_000);
  expect((await server.call('GET', '/api/latest')).status).toBe(200);
  await server.stop();
});
