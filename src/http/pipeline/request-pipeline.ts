import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { checkId, checkItemId } from '../../domain/field-checks.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Limits } from '../../domain/request-limits.ts';
import { overloaded } from '../../platform/concurrency/overload-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { ReadBarrier } from '../../store/data-store.ts';
import { type HttpMetrics, NO_ROUTE } from '../metrics/metrics.ts';
import { KeptQueries } from '../route/kept-queries.ts';
import { type ErrorFormat, type ErrorReply, errorReplyAs } from '../route/problem-details.ts';
import type { QueryName } from '../route/query-parameters.ts';
import type { Reply } from '../route/reply.ts';
import { type Method, type Route, readsData, writes } from '../route/route.ts';
import type { Services } from '../route/services.ts';
import type { Telemetry } from '../telemetry/spans.ts';
import { Access, type AccessRules, ANYBODY } from './access.ts';
import type { Exchange, RequestHead } from './exchange.ts';
import { HandledRequest } from './handled-request.ts';
import { type Match, Router } from './router.ts';
import { StartGate } from './start-gate.ts';

export interface RequestPipelineParts {
  /** Resolves when the models are read back, for which all requests wait that need them; absent where they are there. */
  readonly starting?: Promise<void> | undefined;
  /** The barrier that requests pass before they read data that is a copy. */
  readonly barrier?: ReadBarrier | undefined;
  readonly routes: readonly Route[];
  readonly services: Services;
  readonly access: AccessRules;
  readonly errorFormat: ErrorFormat;
  readonly limits: Limits;
  readonly metrics: HttpMetrics;
  /** Where spans of requests go; absent where none are asked for. */
  readonly telemetry?: Telemetry | undefined;
  readonly log: Logger;
}

const NO_NAMES: readonly QueryName[] = [];

const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/**
 * The service's HTTP behavior without a socket: `open` decides by the head, `answer` runs the handler. Neither throws.
 */
export class RequestPipeline {
  /** Answers an error in the configured format. */
  readonly errorReply: ErrorReply;
  private readonly router: Router;
  private readonly parts: RequestPipelineParts;
  private readonly access: Access;
  private readonly nextRequestId = createRequestIds();
  private readonly logsRequests: boolean;
  private readonly gate: StartGate | undefined;
  private readonly queries: KeptQueries;

  constructor(parts: RequestPipelineParts) {
    this.parts = parts;
    this.router = new Router(parts.routes);
    this.errorReply = errorReplyAs(parts.errorFormat);
    this.access = new Access(parts.access);
    this.queries = new KeptQueries(parts.services);
    this.logsRequests = parts.log.isLevelEnabled('debug');
    this.gate = parts.starting && new StartGate(parts.starting, parts.barrier);
  }

  /** Looks at the head: route, key, parameters. */
  open(head: RequestHead): Exchange {
    const requestId = this.nextRequestId(head.header('x-request-id'));
    const startMs = performance.now();
    const traceParent = this.parts.telemetry === undefined ? '' : head.header('traceparent');
    const begun = { requestId, method: head.method, startMs, traceParent };
    let routeNumber = NO_ROUTE;
    try {
      this.access.checkHost(head);
      const found = this.find(head);
      if (!('route' in found)) return refused(begun, routeNumber, found);
      routeNumber = found.routeNumber;
      const { route, params } = found;
      const bearer = route.bearer === true;
      const caller = route.open === true ? ANYBODY : this.access.callerOf(head, bearer);
      if (caller === undefined) {
        const reply = this.access.unauthorized(this.errorReply, bearer);
        return refused(begun, routeNumber, reply);
      }
      this.checkParams(params);
      const query = this.queries.read(head.query, routeNumber, route.query ?? NO_NAMES);
      if (writes(route)) this.access.checkWrite(head, caller, route.needs ?? 'write');
      else if (query.writeBackType !== undefined) this.access.checkWrite(head, caller, 'write');
      return {
        requestId,
        method: head.method,
        startMs,
        traceParent,
        routeNumber,
        refusal: undefined,
        match: found,
        query,
        caller,
        apiVersion: route.versioned === true ? head.header('x-api-version') : '',
        request: undefined,
      };
    } catch (error) {
      const reply = this.toReply(error, requestId, `${head.method} (head)`);
      return refused(begun, routeNumber, reply);
    }
  }

  /** Runs the handler; stays synchronous when the handler is. @param body the whole body, or none */
  answer(exchange: Exchange, body: Uint8Array<ArrayBuffer> = NOTHING): Reply | Promise<Reply> {
    const { refusal, match, query, caller, requestId } = exchange;
    if (refusal !== undefined) return refusal;
    const { route, params } = match!;
    const fail = (error: unknown) =>
      // What was ended because nobody waits for it is no fault.
      exchange.request?.isAbandoned
        ? this.errorReply(overloaded('abandoned'))
        : this.toReply(error, requestId, `${route.method} ${route.path}`);
    try {
      const request = new HandledRequest(params, query!, body, exchange.apiVersion, caller);
      exchange.request = request;
      const reply = this.gate?.isClosed
        ? this.answerEarly(this.gate, route, request)
        : this.handle(route, request);
      const noted = route.needs === 'own' ? this.noted(route, request, reply) : reply;
      return noted instanceof Promise ? noted.catch(fail) : noted;
    } catch (error) {
      return fail(error);
    }
  }

  /** Answers what can be answered before the models are there, and the rest when they are. */
  private answerEarly(gate: StartGate, route: Route, request: HandledRequest): Reply | Promise<Reply> {
    if (route.needsNoModel === true) return this.handle(route, request);
    const early = route.early?.(request, this.parts.services);
    return early ?? gate.pass(request.signal).then(() => this.handle(route, request));
  }

  /** Runs the handler, once the data is as fresh as it has to be. */
  private handle(route: Route, request: HandledRequest): Reply | Promise<Reply> {
    const { services, barrier } = this.parts;
    if (barrier !== undefined && readsData(route)) {
      const passed = barrier.pass(usersOf(request));
      if (passed !== undefined || barrier.isUnsure)
        return answerFresh(barrier, passed, () => route.handler(request, services));
    }
    return route.handler(request, services);
  }

  /** The answer to what staff do, which the log of changes tells once it is done. */
  private async noted(
    { method, path }: Route,
    { caller }: HandledRequest,
    answer: Reply | Promise<Reply>,
  ): Promise<Reply> {
    const reply = await answer;
    if (reply.status < 400) this.parts.services.admin.audit.note(caller.name, `${method} ${path}`);
    return reply;
  }

  /** Tells the handler that its caller is gone. */
  abandon(exchange: Exchange): void {
    exchange.request?.abandon();
  }

  /** Makes and counts the answer to what never became a request. */
  refuse(error: FurzeError): Reply {
    const reply = this.errorReply(error);
    this.parts.metrics.record(NO_ROUTE, 'any', reply.status, 0);
    return reply;
  }

  /** Counts an answer that went out. */
  record(exchange: Exchange, status: number): void {
    const endMs = performance.now();
    const { routeNumber, method, requestId, startMs, traceParent } = exchange;
    const latencyMs = endMs - startMs;
    const { metrics, telemetry } = this.parts;
    metrics.record(routeNumber, method === 'HEAD' ? 'GET' : method, status, latencyMs);
    if (telemetry !== undefined) {
      const route = this.parts.routes[routeNumber]?.path ?? 'none';
      telemetry.note({ traceParent, method, route, status, requestId, startMs, endMs });
    }
    if (this.logsRequests) {
      const { log } = this.parts;
      const route = this.parts.routes[routeNumber]?.path;
      log.debug({ requestId, method, route, status, latencyMs }, 'request');
    }
  }

  private find(head: RequestHead): Match | Reply {
    const isHead = head.method === 'HEAD';
    let found: Match | readonly Method[] | undefined;
    try {
      found = this.router.find(isHead ? 'GET' : head.method, head.path);
    } catch {
      return this.errorReply(new FurzeError('BAD_REQUEST', 'The path is not percent-encoded UTF-8.'));
    }
    if (found === undefined) {
      return this.errorReply(
        new FurzeError('ROUTE_NOT_FOUND', 'No route has this path; /apidocs lists them all.'),
      );
    }
    if ('route' in found) return found;
    const methods = found.includes('GET') ? [...found, 'HEAD'] : [...found];
    const allow = [...methods, 'OPTIONS'].join(', ');
    if (head.method === 'OPTIONS') return preflight(allow);
    const detail = `This path has ${allow}.`;
    return this.errorReply(new FurzeError('METHOD_NOT_ALLOWED', detail), [['Allow', allow]]);
  }

  private checkParams(params: Readonly<Record<string, string>>): void {
    for (const name in params) {
      const check = name === 'item-id' ? checkItemId : checkId;
      check(params[name]!, name, this.parts.limits, 'INVALID_PARAMETER');
    }
  }

  private toReply(error: unknown, requestId: string, where: string): Reply {
    if (error instanceof FurzeError && error.code !== 'INTERNAL') return this.errorReply(error);
    this.parts.log.error({ err: error, requestId, where }, 'a request failed by a bug');
    const detail = 'The request failed; the log has the reason under its request id.';
    return this.errorReply(new FurzeError('INTERNAL', detail));
  }
}

type BegunExchange = Pick<Exchange, 'requestId' | 'method' | 'startMs' | 'traceParent'>;

/** An exchange that its head has decided. */
function refused(begun: BegunExchange, routeNumber: number, refusal: Reply): Exchange {
  return {
    ...begun,
    routeNumber,
    refusal,
    match: undefined,
    query: undefined,
    caller: ANYBODY,
    apiVersion: '',
    request: undefined,
  };
}

const CORS_HEADERS = 'Content-Type, X-API-Key, X-API-Version, Authorization, X-Request-ID';

/** The answer to a browser that asks what pages of other origins may send. @param allow methods of the path */
function preflight(allow: string): Reply {
  return {
    status: 204,
    contentType: '',
    body: '',
    headers: [
      ['Allow', allow],
      ['Access-Control-Allow-Methods', allow],
      ['Access-Control-Allow-Headers', CORS_HEADERS],
      ['Access-Control-Max-Age', '86400'],
    ],
  };
}

/** On answers of which it is not known whether they show what other nodes have stored: the database does not answer. */
const STALE: readonly [string, string] = ['X-Furze-Stale', 'true'];

/** Answers once reads have passed the barrier, and says where they may not be as fresh as they are to be. */
async function answerFresh(
  barrier: ReadBarrier,
  passed: Promise<void> | undefined,
  answer: () => Reply | Promise<Reply>,
): Promise<Reply> {
  await passed;
  const { isUnsure } = barrier;
  const reply = await answer();
  return isUnsure ? { ...reply, headers: [...(reply.headers ?? []), STALE] } : reply;
}

/** Ids of the users whom a request asks for. */
function usersOf({ params, query }: HandledRequest): string[] {
  const asked = [params['user-id'], query.userId];
  return asked.filter((userId) => userId !== undefined);
}

const SANE = /^[\w.:+/=@-]{1,128}$/;

/** Base of the digits that an id counts with. */
const RADIX = 36;
/** The last two digits of an id, ready made: only every 1296th id writes a number out. */
const ENDINGS = Array.from({ length: RADIX * RADIX }, (_, at) => at.toString(RADIX).padStart(2, '0'));

/** Makes the source of request ids: the caller's own when it is sane, otherwise one that no other process gives. */
export function createRequestIds(): (sent: string) => string {
  const prefix = randomBytes(6).toString('hex');
  let round = 0;
  let head = `${prefix}-0`;
  let at = 0;
  return (sent) => {
    if (sent !== '' && SANE.test(sent)) return sent;
    if (at === ENDINGS.length) {
      at = 0;
      head = `${prefix}-${(++round).toString(RADIX)}`;
    }
    return head + ENDINGS[at++]!;
  };
}
