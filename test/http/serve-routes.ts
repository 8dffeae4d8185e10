import { DEFAULT_LIMITS, type Limits } from '../../src/domain/request-limits.ts';
import { chooseEngine } from '../../src/http/engine/engine-choice.ts';
import { type ConnectionLimits, HttpServer, type HttpServerOptions } from '../../src/http/http-server.ts';
import { createMetrics, type HttpMetrics } from '../../src/http/metrics/metrics.ts';
import type { AccessRules } from '../../src/http/pipeline/access.ts';
import type { Route } from '../../src/http/route/route.ts';
import type { Services } from '../../src/http/route/services.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { TEST_ENGINE } from './start.ts';

/** Limits that no test comes near unless it sets its own. */
export const WIDE: ConnectionLimits = {
  bodiesBytesMax: 2 ** 28,
  answersBytesMax: 2 ** 28,
  bodyTimeoutMs: 600_000,
  sendTimeoutMs: 600_000,
  keepAliveMs: 600_000,
  drainMs: 600_000,
  quietMs: 0,
};

/** No keys: everybody may do everything. */
export const OPEN_ACCESS: AccessRules = {
  key: {},
  api_key: '',
  api_keys: [],
  read_only_api_key: '',
  cors_origins: [],
  hosts: ['a'],
  host: '127.0.0.1',
};

/** The HTTP server over routes of a test's own, without a service behind it. */
export interface RoutesServer {
  readonly port: number;
  readonly base: string;
  /** Everything that was logged, a line each. */
  readonly lines: string[];
  readonly metrics: HttpMetrics;
  close(): Promise<void>;
}

export interface RoutesServerOptions extends Partial<Pick<HttpServerOptions, 'tls'>> {
  readonly connections?: Partial<ConnectionLimits>;
  readonly limits?: Partial<Limits>;
  /** Another engine than that of these tests. */
  readonly by?: typeof engine;
}

/** The engine that these tests run over. */
export const engine = chooseEngine(TEST_ENGINE, true);
/** True for the build of before 2024, which serves where glibc is older than 2.38: it answers nothing to what it cannot read. */
export const isOldNative = engine.why.endsWith(' of uws-node20');

/** Serves routes on a port that the system chooses. */
export async function serveRoutes(
  routes: readonly Route[],
  { connections, limits, tls, by = engine }: RoutesServerOptions = {},
): Promise<RoutesServer> {
  const lines: string[] = [];
  const metrics = createMetrics({
    routes,
    stats: () => Promise.resolve({ users: 0, items: 0, feedback: 0, bytes: 0 }),
  });
  const allLimits = { ...DEFAULT_LIMITS, ...limits };
  const server = new HttpServer({
    engine: by,
    routes,
    services: { defaultN: 10, limits: allLimits } as Services,
    host: '127.0.0.1',
    port: 0,
    tls,
    access: OPEN_ACCESS,
    errorFormat: 'problem',
    limits: allLimits,
    connections: { ...WIDE, ...connections },
    log: createLogger('debug', { write: (line: string) => void lines.push(line) }),
    metrics,
  });
  const { port } = await server.listen();
  return {
    port,
    base: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    lines,
    metrics,
    async close() {
      await server.close();
      metrics.close();
    },
  };
}
