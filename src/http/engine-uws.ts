import { STATUS_CODES } from 'node:http';
import type { Exchange, RequestHead } from './edge.ts';
import { type Engine, type OnRequest, SEVERAL_LENGTHS } from './engine.ts';
import { byteLengthOf, COMMON_HEADERS, type Reply } from './reply.ts';
import type { Uws, UwsListenSocket, UwsRequest, UwsResponse } from './uws-api.ts';

/** Listen option of µSockets: fail when the port is taken instead of sharing it with its holder. */
const EXCLUSIVE_PORT = 1;

/**
 * HTTP over native uWebSockets.js, whose rules live here alone: a request is dead after its handler returns, so its
 * head is copied at once; an aborted response must not be touched; what is written in a later tick is corked.
 */
export function createUwsEngine(uws: Uws, onRequest: OnRequest<UwsResponse>): Engine<UwsResponse> {
  const app = uws.App();
  let listenSocket: UwsListenSocket | undefined;
  // Most requests are GETs, and asking the engine for the method costs as much as any other call into it.
  app.get('/*', (res, req) => onRequest(res, new UwsHead(req, 'GET'), lengthOf(req)));
  app.any('/*', (res, req) => onRequest(res, new UwsHead(req, req.getMethod().toUpperCase()), lengthOf(req)));
  return {
    name: 'uws',
    send(res, reply, exchange, closeConnection, isLate) {
      if (isLate) res.cork(() => write(res, reply, exchange, closeConnection));
      else write(res, reply, exchange, closeConnection);
    },
    onAborted: (res, handler) => void res.onAborted(handler),
    onData: (res, handler) => void res.onData((chunk, isLast) => handler(new Uint8Array(chunk), isLast)),
    destroy: (res) => void res.close(),
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        app.listen(host, port, EXCLUSIVE_PORT, (socket) => {
          if (socket === false)
            return reject(new Error(`cannot listen on ${host}:${port}; is the port taken?`));
          listenSocket = socket;
          resolve(uws.us_socket_local_port(socket));
        });
      }),
    stopListening() {
      if (listenSocket !== undefined) uws.us_listen_socket_close(listenSocket);
      listenSocket = undefined;
    },
    close: () => void app.close(),
  };
}

/** The head of a request, its headers read when they are asked for: each is a call into the engine. */
class UwsHead implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  private readonly req: UwsRequest;

  constructor(req: UwsRequest, method: string) {
    this.req = req;
    this.method = method;
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
  }

  get requestId(): string {
    return this.req.getHeader('x-request-id');
  }

  get apiKey(): string {
    return this.req.getHeader('x-api-key');
  }

  get authorization(): string {
    return this.req.getHeader('authorization');
  }

  get origin(): string {
    return this.req.getHeader('origin');
  }

  get host(): string {
    return this.req.getHeader('host');
  }

  get fetchSite(): string {
    return this.req.getHeader('sec-fetch-site');
  }
}

/** Two lengths, even equal ones, are how a request is smuggled past a proxy; the engine lets them through. */
function lengthOf(req: UwsRequest): number {
  const text = req.getHeader('content-length');
  if (text === '') return 0;
  let count = 0;
  req.forEach((name) => {
    if (name === 'content-length') count++;
  });
  if (count > 1) return SEVERAL_LENGTHS;
  const length = Number(text);
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function write(res: UwsResponse, reply: Reply, exchange: Exchange, closeConnection: boolean): void {
  if (reply.status !== 200) res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status]}`);
  res.writeHeader('X-Request-ID', exchange.requestId + commonHeaders(reply.contentType));
  if (reply.headers !== undefined) for (const [name, value] of reply.headers) res.writeHeader(name, value);
  if (exchange.method !== 'HEAD' && reply.status !== 204) {
    res.end(reply.body, closeConnection);
    return;
  }
  // The engine waits for a body when it is told a length here, so the length goes out as a header of ours.
  if (reply.status !== 204) res.writeHeader('Content-Length', String(byteLengthOf(reply.body)));
  if (closeConnection) res.writeHeader('Connection', 'close');
  res.endWithoutBody();
}

/** By content type, the headers of every reply behind the value of X-Request-ID. */
const headersByType = new Map<string, string>();

/**
 * The headers that every reply has. The engine takes a value as it is, so all go out in one call: an id is checked for
 * what it holds before it gets here, and the rest is ours.
 */
function commonHeaders(contentType: string): string {
  let more = headersByType.get(contentType);
  if (more === undefined) {
    more = COMMON_HEADERS.map(([name, value]) => `\r\n${name}: ${value}`).join('');
    if (contentType !== '') more += `\r\nContent-Type: ${contentType}`;
    headersByType.set(contentType, more);
  }
  return more;
}
