import uws, { type HttpRequest, type HttpResponse, type us_listen_socket } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { FurzeError } from '../domain/errors.ts';
import type { Limits } from '../domain/limits.ts';
import type { Logger } from '../domain/log.ts';
import { readBody } from './body.ts';
import { Edge, type Exchange, type RequestHead } from './edge.ts';
import type { HttpMetrics } from './metrics.ts';
import { problemReply } from './problem.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  readonly services: Services;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** `""` when no key is needed. */
  readonly apiKey: string;
  readonly limits: Limits;
  readonly log: Logger;
  readonly metrics: HttpMetrics;
  /** How long `close` waits for requests in flight. */
  readonly drainMs?: number;
}

export interface HttpServer {
  /** Starts to listen. @throws Error when the address cannot be had */
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops to listen and waits for the requests in flight. */
  close(): Promise<void>;
}

/** Listen option of µSockets: fail when the port is taken instead of sharing it with its holder. */
const EXCLUSIVE_PORT = 1;

const DRAIN_MS = 10_000;

/**
 * The HTTP server over uWebSockets.js, whose rules live here alone: a request is dead after the first await, so its
 * head is copied at once; an aborted response must not be touched; what is written after an await is corked.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { host, port, limits, log, drainMs = DRAIN_MS } = options;
  const hasKey = options.apiKey !== '';
  const edge = new Edge(options);
  const app = uws.App();
  let listenSocket: us_listen_socket | undefined;
  let inFlight = 0;
  let state: 'open' | 'draining' | 'closed' = 'open';
  let onIdle = () => {};

  function settle(): void {
    inFlight--;
    if (inFlight === 0) onIdle();
  }

  function serve(res: HttpResponse, req: HttpRequest, method: string): void {
    const exchange = edge.open(copyHead(req, method, hasKey));
    const duplicate = hasSeveralLengths(req);
    const hasBody = exchange.refusal === undefined && exchange.match?.route.body !== undefined;
    if (duplicate) {
      const error = new FurzeError('BAD_REQUEST', 'The request has several Content-Length headers.');
      send(res, exchange, problemReply(error), true);
      return;
    }
    if (state === 'closed') {
      const error = new FurzeError('STORE_UNAVAILABLE', 'The service has shut down.');
      send(res, exchange, problemReply(error), true);
      return;
    }
    if (hasBody) {
      const length = lengthOf(req);
      inFlight++;
      res.onAborted(() => abort(res));
      readBody(res, length, limits.bodyBytesMax, (body) => {
        if (body !== undefined) return finish(res, exchange, edge.answer(exchange, body));
        const detail = `A body has at most ${limits.bodyBytesMax} bytes.`;
        finish(res, exchange, problemReply(new FurzeError('BODY_TOO_LARGE', detail)));
      });
      return;
    }
    const reply = edge.answer(exchange);
    if (!(reply instanceof Promise)) {
      send(res, exchange, reply, state !== 'open');
      return;
    }
    inFlight++;
    res.onAborted(() => abort(res));
    finish(res, exchange, reply);
  }

  function finish(res: HttpResponse, exchange: Exchange, reply: Reply | Promise<Reply>): void {
    if (reply instanceof Promise) {
      reply.then((late) => finish(res, exchange, late));
      return;
    }
    if (res.aborted === true) return;
    res.cork(() => send(res, exchange, reply, state !== 'open'));
    settle();
  }

  function abort(res: HttpResponse): void {
    res.aborted = true;
    settle();
  }

  function send(res: HttpResponse, exchange: Exchange, reply: Reply, closeConnection: boolean): void {
    writeReply(res, reply, exchange, closeConnection);
    edge.record(exchange, reply.status);
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, drainMs);
      onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function guard(res: HttpResponse, req: HttpRequest, method: string): void {
    try {
      serve(res, req, method);
    } catch (error) {
      // What leaves a handler of the engine ends the process.
      log.error({ err: error }, 'a request failed in the adapter');
      res.close();
    }
  }

  // Most requests are GETs, and asking the engine for the method costs as much as any other call into it.
  app.get('/*', (res, req) => guard(res, req, 'GET'));
  app.any('/*', (res, req) => guard(res, req, req.getMethod().toUpperCase()));

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        warnOfImitation(log);
        const onListen = (socket: us_listen_socket | false) => {
          if (socket === false)
            return reject(new Error(`cannot listen on ${host}:${port}; is the port taken?`));
          listenSocket = socket;
          resolve({ host, port: uws.us_socket_local_port(socket as never) });
        };
        // The typings know a host or options, the engine takes both.
        (app.listen as (...args: unknown[]) => void)(host, port, EXCLUSIVE_PORT, onListen);
      }),
    async close() {
      state = 'draining';
      if (listenSocket !== undefined) uws.us_listen_socket_close(listenSocket);
      listenSocket = undefined;
      if (inFlight > 0) await drained();
      state = 'closed';
    },
  };
}

/** False when the engine's package has no binary for this Node and falls back to an imitation in JavaScript. */
const IS_NATIVE = Function.prototype.toString.call(uws.App).includes('[native code]');

function warnOfImitation(log: Logger): void {
  if (IS_NATIVE) return;
  log.warn(
    `NO NATIVE HTTP ENGINE: uWebSockets.js has no binary for Node ${process.version} on ${process.platform} ${process.arch} ` +
      'and runs as a slow imitation in JavaScript; use Node 20 or swap in a release that has one (see the README)',
  );
}

/** What Content-Length says, or 0 when it says nothing of use. */
function lengthOf(req: HttpRequest): number {
  const length = Number(req.getHeader('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

/** @param withKey false when no key is asked for: each header read is a call into the engine */
function copyHead(req: HttpRequest, method: string, withKey: boolean): RequestHead {
  return {
    method,
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    requestId: req.getHeader('x-request-id'),
    apiKey: withKey ? req.getHeader('x-api-key') : '',
    authorization: withKey ? req.getHeader('authorization') : '',
  };
}

/** Two lengths, even equal ones, are how a request is smuggled past a proxy; the engine lets them through. */
function hasSeveralLengths(req: HttpRequest): boolean {
  if (req.getHeader('content-length') === '') return false;
  let count = 0;
  req.forEach((name) => {
    if (name === 'content-length') count++;
  });
  return count > 1;
}

function writeReply(res: HttpResponse, reply: Reply, exchange: Exchange, closeConnection: boolean): void {
  if (reply.status !== 200) res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status]}`);
  writeCommonHeaders(res, exchange.requestId, reply.contentType);
  if (reply.headers !== undefined) for (const [name, value] of reply.headers) res.writeHeader(name, value);
  if (exchange.method !== 'HEAD' && reply.status !== 204) {
    res.end(reply.body, closeConnection);
    return;
  }
  // The engine waits for a body when it is told a length here, so the length goes out as a header of ours.
  if (reply.status !== 204) res.writeHeader('Content-Length', String(byteLength(reply.body)));
  if (closeConnection) res.writeHeader('Connection', 'close');
  res.endWithoutBody();
}

/** By content type, the headers of every reply behind the value of X-Request-ID. */
const headersByType = new Map<string, string>();

/**
 * The headers that every reply has. The native engine takes a value as it is, so all go out in one call: an id is
 * checked for what it holds before it gets here, and the rest is ours. The imitation checks each value.
 */
function writeCommonHeaders(res: HttpResponse, requestId: string, contentType: string): void {
  if (!IS_NATIVE) {
    res.writeHeader('X-Request-ID', requestId).writeHeader('Access-Control-Allow-Origin', '*');
    if (contentType !== '') res.writeHeader('Content-Type', contentType);
    return;
  }
  let more = headersByType.get(contentType);
  if (more === undefined) {
    more = '\r\nAccess-Control-Allow-Origin: *';
    if (contentType !== '') more += `\r\nContent-Type: ${contentType}`;
    headersByType.set(contentType, more);
  }
  res.writeHeader('X-Request-ID', requestId + more);
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}
