import type { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { limitsOf } from '../config/schema-server.ts';
import type { Logger } from '../platform/log/log.ts';
import { VERSION } from '../platform/program/version.ts';
import type { DataStore } from '../store/data-store.ts';
import type { TlsFiles } from './engine/engine.ts';
import { chooseEngine, type EngineChoice, NODE_TO_UWS_SPEED } from './engine/engine-choice.ts';
import { explainListenFailure } from './engine/listen-failure.ts';
import { readTls } from './engine/tls.ts';
import { type ConnectionLimits, HttpServer } from './http-server.ts';
import { type BackgroundParts, registerBackground } from './metrics/background-metrics.ts';
import { gauge } from './metrics/gauge.ts';
import { createMetrics, type HttpMetrics } from './metrics/metrics.ts';
import { registerModel } from './metrics/model-metrics.ts';
import { registerNodes } from './metrics/node-metrics.ts';
import { registerPlacements } from './metrics/placement-metrics.ts';
import { warnOfOpenDoor } from './pipeline/access.ts';
import { EntityTexts } from './route/entity-texts.ts';
import type { Route } from './route/route.ts';
import type { Services } from './route/services.ts';
import { createRoutes } from './route-table.ts';
import type { Telemetry } from './telemetry/spans.ts';

/** Of the time to stop, the part that requests under way have to end. */
const DRAIN_SHARE = 0.5;
/** Longer than a busy client rests between two requests. */
const QUIET_MS = 1000;
const MIB = 2 ** 20;

/** The ground of HTTP; nothing listens yet. */
export interface HttpGround {
  readonly routes: readonly Route[];
  readonly metrics: HttpMetrics;
  readonly engine: EngineChoice;
  readonly tls: TlsFiles | undefined;
}

export interface HttpListener {
  readonly address: { readonly protocol: 'http' | 'https'; readonly host: string; readonly port: number };
  close(): Promise<void>;
}

/** Where no native engine loads, which is no fault: what has one. */
const SLOWER_ENGINE =
  `HTTP engine: node:http, at ${NODE_TO_UWS_SPEED} of the speed of the native one, which the image of deploy/Dockerfile and ` +
  'Node.js 20, 22 or 24 on Debian 13 or Ubuntu 24.04 have';

/** Chooses the engine, reads the certificate and sets up the metrics. */
export function prepareHttp(config: Config, data: DataStore, log: Logger): HttpGround {
  const { server } = config;
  const routes = createRoutes(VERSION, limitsOf(config));
  const metrics = createMetrics({ routes, stats: () => data.getStats() });
  const tls = readTls(server);
  const engine = chooseEngine(server.http_engine, tls !== undefined);
  if (engine.name === 'node' && server.http_engine === 'auto') {
    log.info({ engine: engine.name }, SLOWER_ENGINE);
    log.debug({ why: engine.why }, 'no native HTTP engine loads');
  } else {
    const speaks =
      engine.name === 'uws'
        ? 'HTTP/1.1 alone; HTTP/1.0 gets no answer (nginx: proxy_http_version 1.1)'
        : 'HTTP/1.0 and 1.1';
    log.info({ engine: engine.name, why: engine.why, speaks }, 'HTTP engine');
  }
  registerEngine(metrics.registry, engine);
  return { routes, metrics, engine, tls };
}

/**
 * Listens as configured; until `starting` resolves, requests that need a model wait for it. From now on the metrics tell of the background and of the model, too.
 * @throws OperatorError when another process has the port, Error when the address cannot be listened on
 */
export async function listenHttp(
  starting: Promise<void>,
  { routes, metrics, engine, tls }: HttpGround,
  services: Omit<Services, 'defaultN' | 'entityTexts' | 'limits' | 'metricsText' | 'vectorSpaces'>,
  background: BackgroundParts,
  config: Config,
  log: Logger,
): Promise<HttpListener> {
  const { server } = config;
  const limits = limitsOf(config);
  const access = { ...server, key: config.key };
  warnOfOpenDoor(access, log);
  registerBackground(metrics.registry, background);
  registerPlacements(metrics.registry, background.placementCounts);
  registerModel(metrics.registry, () => services.admin.learning());
  if (background.cluster !== undefined) registerNodes(metrics.registry, background.cluster);
  const telemetry = await startTelemetry(config, metrics, log);
  const http = new HttpServer({
    starting,
    engine,
    routes,
    barrier: services.data.barrier,
    services: {
      ...services,
      entityTexts: followedTexts(services.data, server.hit_cache_mb * MIB),
      metricsText: () => metrics.text(),
      vectorSpaces: config.vectors,
      defaultN: server.default_n,
      limits,
    },
    host: server.host,
    port: server.port,
    tls,
    connections: connectionLimits(server),
    access,
    errorFormat: server.error_format,
    limits,
    log,
    metrics,
    telemetry,
  });
  const listened = await http.listen().catch(async (error: unknown) => {
    throw await explainListenFailure(server.host, server.port, error);
  });
  const protocol = tls === undefined ? 'http' : 'https';
  const close = async () => {
    await http.close();
    await telemetry?.stop();
  };
  return { address: { protocol, ...listened }, close };
}

/** Starts telemetry; its packages are loaded only where it is asked for. */
async function startTelemetry(
  { telemetry: settings }: Config,
  { registry }: HttpMetrics,
  log: Logger,
): Promise<Telemetry | undefined> {
  if (settings.otlp_url === '') return undefined;
  const otlp = await import('./telemetry/telemetry.ts');
  return otlp.startTelemetry(settings, registry, log);
}

/** @param hitBytes memory for answers about lists, of which those about records take a quarter more */
function followedTexts(data: DataStore, hitBytes: number): EntityTexts {
  const texts = new EntityTexts(hitBytes / 4);
  data.onChange((changes) => {
    texts.apply(changes);
  });
  return texts;
}

function connectionLimits(server: Config['server']): ConnectionLimits {
  return {
    // One body at least, whatever is set.
    bodiesBytesMax: Math.max(server.max_bodies_mb * MIB, server.max_body_bytes),
    answersBytesMax: server.max_answers_mb * MIB,
    bodyTimeoutMs: server.body_timeout,
    sendTimeoutMs: server.send_timeout,
    keepAliveMs: server.keep_alive_timeout,
    drainMs: server.shutdown_timeout * DRAIN_SHARE,
    quietMs: QUIET_MS,
  };
}

/** Which engine serves and why, as labels of a metric that is always 1. */
function registerEngine(registry: Registry, { name, why }: Pick<EngineChoice, 'name' | 'why'>): void {
  const help = 'The engine that speaks HTTP, uws or node, and why it was chosen';
  gauge(registry, 'furze_http_engine_info', help, () => [[{ engine: name, why }, 1]], ['engine', 'why']);
}
