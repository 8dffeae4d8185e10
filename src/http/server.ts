import { FurzeError } from '../domain/errors.ts';
import type { Limits } from '../domain/limits.ts';
import type { Logger } from '../domain/log.ts';
import type { AccessRules } from './access.ts';
import { readBody } from './body.ts';
import { Edge, type Exchange, type RequestHead } from './edge.ts';
import { SEVERAL_LENGTHS } from './engine.ts';
import type { EngineChoice } from './engine-choice.ts';
import type { HttpMetrics } from './metrics.ts';
import type { ErrorFormat } from './problem.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';

export interface HttpServerOptions {
  readonly engine: EngineChoice;
  readonly routes: readonly Route[];
  readonly services: Services;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly access: AccessRules;
  readonly errorFormat: ErrorFormat;
  readonly limits: Limits;
  readonly log: Logger;
  readonly metrics: HttpMetrics;
  /** How long `close` waits for requests in flight. */
  readonly drainMs?: number;
}

export interface HttpServer {
  /** Starts to listen. @throws Error when the address cannot be had */
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops to listen, waits for the requests in flight and ends all connections. */
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;

/** A request whose answer comes later. */
interface Call {
  readonly res: object;
  readonly exchange: Exchange;
  aborted: boolean;
}

/** The HTTP server over either engine: what is in flight, which connections close behind their answer, how it ends. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { host, port, limits, log, drainMs = DRAIN_MS } = options;
  const edge = new Edge(options);
  const engine = options.engine.create(serve, { log });
  let inFlight = 0;
  let state: 'open' | 'draining' | 'closed' = 'open';
  let onIdle = () => {};

  function serve(res: object, head: RequestHead, lengthBytes: number): void {
    try {
      take(res, head, lengthBytes);
    } catch (error) {
      // What leaves a handler of an engine ends the process.
      log.error({ err: error }, 'a request failed in the adapter');
      engine.destroy(res);
    }
  }

  function take(res: object, head: RequestHead, lengthBytes: number): void {
    const exchange = edge.open(head);
    if (lengthBytes === SEVERAL_LENGTHS) {
      const error = new FurzeError('BAD_REQUEST', 'The request has several Content-Length headers.');
      send(res, exchange, edge.errorReply(error), true, false);
      return;
    }
    if (state === 'closed') {
      const error = new FurzeError('STORE_UNAVAILABLE', 'The service has shut down.');
      send(res, exchange, edge.errorReply(error), true, false);
      return;
    }
    if (exchange.refusal === undefined && exchange.match?.route.body !== undefined) {
      const call = open(res, exchange);
      readBody(
        { onData: (handler) => engine.onData(res, handler) },
        lengthBytes,
        limits.bodyBytesMax,
        (body) => {
          if (body !== undefined) return finish(call, edge.answer(exchange, body));
          const detail = `A body has at most ${limits.bodyBytesMax} bytes.`;
          finish(call, edge.errorReply(new FurzeError('BODY_TOO_LARGE', detail)));
        },
      );
      return;
    }
    const reply = edge.answer(exchange);
    if (reply instanceof Promise) finish(open(res, exchange), reply);
    else send(res, exchange, reply, state !== 'open', false);
  }

  function open(res: object, exchange: Exchange): Call {
    const call: Call = { res, exchange, aborted: false };
    inFlight++;
    engine.onAborted(res, () => {
      call.aborted = true;
      settle();
    });
    return call;
  }

  function settle(): void {
    inFlight--;
    if (inFlight === 0) onIdle();
  }

  function finish(call: Call, reply: Reply | Promise<Reply>): void {
    if (reply instanceof Promise) {
      reply.then((late) => finish(call, late));
      return;
    }
    if (call.aborted) return;
    send(call.res, call.exchange, reply, state !== 'open', true);
    settle();
  }

  function send(
    res: object,
    exchange: Exchange,
    reply: Reply,
    closeConnection: boolean,
    isLate: boolean,
  ): void {
    engine.send(res, reply, exchange, closeConnection, isLate);
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

  return {
    listen: async () => ({ host, port: await engine.listen(host, port) }),
    async close() {
      state = 'draining';
      engine.stopListening();
      if (inFlight > 0) await drained();
      state = 'closed';
      engine.close();
    },
  };
}
