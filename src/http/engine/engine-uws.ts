import { STATUS_CODES } from 'node:http';
import type { Exchange, RequestHead } from '../pipeline/exchange.ts';
import { byteLengthOf, commonHeaders, type Reply } from '../route/reply.ts';
import {
  BAD_FRAMING,
  type Engine,
  type EngineOptions,
  type OnRequest,
  type TlsFiles,
  UNSURE_END,
} from './engine.ts';
import type { Uws, UwsApp, UwsListenSocket, UwsRequest, UwsResponse } from './uws-api.ts';
import { UwsChunkedFlow, UwsFlow } from './uws-flow.ts';

/** Listen option of µSockets: fail when the port is taken instead of sharing it with its holder. */
const EXCLUSIVE_PORT = 1;
/** Bytes that the engine gathers before it writes; a larger answer goes past them. */
const CORK_BYTES = 16 * 1024;
const TOO_LARGE = 413;
/** One short answer in so many asks whether its connection takes what it is sent. A power of two. */
const SAMPLE = 16;

/**
 * HTTP over native uWebSockets.js, whose rules live here and in its flows alone: a request is dead after its handler
 * returns, so its head is copied at once; an aborted response must not be touched; what is written in a later tick is
 * corked; a request that comes while another of its connection is unanswered ends the connection.
 */
export function createUwsEngine(
  uws: Uws,
  onRequest: OnRequest<UwsResponse>,
  { tls }: EngineOptions,
): Engine<UwsResponse> {
  const app = tls === undefined ? uws.App() : startTls(uws, tls);
  let listenSocket: UwsListenSocket | undefined;
  // Most requests are GETs, and asking the engine for the method costs as much as any other call into it.
  app.get('/*', (res, req) => onRequest(res, new UwsHead(req, 'GET'), lengthOfGet(req)));
  app.any('/*', (res, req) =>
    onRequest(res, new UwsHead(req, req.getMethod().toUpperCase()), bodyLengthOf(req)),
  );
  return {
    name: 'uws',
    send(res, reply, exchange, closeConnection, isLate) {
      if (isLate && closeConnection && exchange.method === 'HEAD') closeBehindHead(res, reply, exchange);
      else if (isLate) res.cork(() => write(res, reply, exchange, closeConnection));
      else write(res, reply.status === TOO_LARGE ? pastTheCork(reply) : reply, exchange, closeConnection);
    },
    refuse(res, reply, exchange) {
      writeLast(res, reply, exchange);
      res.close();
    },
    begin(res, reply, exchange, closeConnection, totalBytes) {
      res.cork(() => {
        writeHead(res, reply, exchange);
        if (closeConnection) res.writeHeader('Connection', 'close');
      });
      return totalBytes < 0 || closeConnection
        ? new UwsChunkedFlow(res, closeConnection)
        : new UwsFlow(res, totalBytes);
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

function startTls(uws: Uws, { certPath, keyPath }: TlsFiles): UwsApp {
  return uws.SSLApp!({ cert_file_name: certPath, key_file_name: keyPath });
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

  header(name: string): string {
    return this.req.getHeader(headerKey(name));
  }
}

/** Answers so far, to know which one is a sample. */
let answers = 0;

function write(res: UwsResponse, reply: Reply, exchange: Exchange, closeConnection: boolean): void {
  const { body } = reply;
  writeHead(res, reply, exchange);
  if (exchange.method === 'HEAD' || reply.status === 204) {
    writeHeadOnly(res, reply, closeConnection);
    return;
  }
  answers++;
  const isSample = body.length > 1024 || (answers & (SAMPLE - 1)) === 0;
  if (isSample && !closeConnection && body.length > 0) endOrWait(res, body);
  else res.end(body, closeConnection);
}

/** Ends an answer that has no body. */
function writeHeadOnly(res: UwsResponse, { status, parts, body }: Reply, closeConnection: boolean): void {
  const length = parts === undefined ? byteLengthOf(body) : 0;
  if (closeConnection && status === 204) {
    res.end('', true);
    return;
  }
  if (closeConnection) res.writeHeader('Connection', 'close');
  // The engine waits for a body when it is told a length here, so the length goes out as a header of ours.
  if (status !== 204 && parts === undefined) res.writeHeader('Content-Length', String(length));
  res.endWithoutBody();
}

/**
 * Sends the answer to a HEAD request and closes the connection. Told a length and to close, the engine waits for a body,
 * so the head is ended by a line break of ours.
 */
function closeBehindHead(res: UwsResponse, reply: Reply, exchange: Exchange): void {
  const length = reply.parts === undefined ? `\r\nContent-Length: ${byteLengthOf(reply.body)}` : '';
  res.cork(() => {
    writeHead(res, reply, exchange);
    res.writeHeader('Connection', `close${length}\r\n`);
  });
  res.close();
}

/**
 * Ends an answer, or keeps it until the socket takes it. A peer that sends requests and reads no answers is thus found
 * out before the engine has gathered much for it: its next request comes while this one waits, and ends the connection.
 */
function endOrWait(res: UwsResponse, body: string | Uint8Array): void {
  const bytes = byteLengthOf(body);
  if (res.tryEnd(body, bytes)[0]) return;
  const rest = typeof body === 'string' ? Buffer.from(body) : body;
  res.onAborted(() => {});
  res.onWritable((offset) => res.tryEnd(rest.subarray(offset), bytes)[0]);
}

function writeHead(res: UwsResponse, reply: Reply, exchange: Exchange): void {
  if (reply.status !== 200) res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status]}`);
  let rest = headersOf(reply.contentType);
  if (reply.headers !== undefined) for (const [name, value] of reply.headers) rest += `\r\n${name}: ${value}`;
  res.writeHeader('X-Request-ID', exchange.requestId + rest);
}

/**
 * Sends a reply as one value of a header, because the engine goes on to the next request before it sends an answer that
 * it is told to end. Its length counts the line break that the engine adds.
 */
function writeLast(res: UwsResponse, reply: Reply, exchange: Exchange): void {
  const { body } = pastTheCork(reply);
  const head = `close\r\nContent-Length: ${byteLengthOf(body) + 2}`;
  writeHead(res, reply, exchange);
  res.writeHeader('Connection', `${head}\r\n\r\n${body}`);
}

/**
 * A reply with blanks behind it, which JSON and text do not mind, so that it goes past the cork. The engine refuses
 * some requests after their handler has answered, such as one of a gigabyte, and drops what is in the cork.
 */
function pastTheCork(reply: Reply): Reply {
  return { ...reply, body: String(reply.body).padEnd(CORK_BYTES) };
}

/** By content type, the headers of every reply behind the value of X-Request-ID. */
const headersByType = new Map<string, string>();

/**
 * The headers that every reply has. The engine takes a value as it is, so all go out in one call, with those of one reply
 * behind them: an id is checked for what it holds before it gets here, and the rest is ours.
 */
function headersOf(contentType: string): string {
  let more = headersByType.get(contentType);
  if (more === undefined) {
    more = commonHeaders(contentType)
      .map(([name, value]) => `\r\n${name}: ${value}`)
      .join('');
    headersByType.set(contentType, more);
  }
  return more;
}

/** Names of headers as bytes. */
const keys = new Map<string, ArrayBuffer>();
const CONTENT_LENGTH = headerKey('content-length');
const TRANSFER_ENCODING = headerKey('transfer-encoding');

/** More digits than the longest body has, and few enough to stay exact. */
const LENGTH = /^\d{1,15}$/;

/**
 * Tells the length of a body. The engine reads the first `Content-Length` and the first `Transfer-Encoding` and lets
 * pass what a proxy may read otherwise, which is how a request is smuggled past it: further ones, other codings, several
 * hosts. It reads chunks loosely, too, so the place where a chunked body ends is unsure.
 * @returns bytes, 0 for no body, `BAD_FRAMING` or `UNSURE_END`
 */
function bodyLengthOf(req: UwsRequest): number {
  let [hosts, ends] = [0, 0];
  req.forEach((name) => {
    if (name === 'host') hosts++;
    else if (name === 'content-length' || name === 'transfer-encoding') ends++;
  });
  if (hosts > 1 || ends > 1) return BAD_FRAMING;
  return ends === 0 ? 0 : framedLength(req.getHeader(CONTENT_LENGTH), req.getHeader(TRANSFER_ENCODING));
}

/** The same for a GET, most of which have no body: to go through its headers takes a microsecond of ten. */
function lengthOfGet(req: UwsRequest): number {
  const isPlain = req.getHeader(CONTENT_LENGTH) === '' && req.getHeader(TRANSFER_ENCODING) === '';
  return isPlain ? 0 : bodyLengthOf(req);
}

function framedLength(length: string, coding: string): number {
  if (coding !== '') return coding.toLowerCase() === 'chunked' ? UNSURE_END : BAD_FRAMING;
  return LENGTH.test(length) ? Number(length) : BAD_FRAMING;
}

/** The name of a header as bytes, which the engine looks up in half the time of a string. @param name in lower case */
function headerKey(name: string): ArrayBuffer {
  let key = keys.get(name);
  if (key === undefined) keys.set(name, (key = Uint8Array.from(Buffer.from(name)).buffer));
  return key;
}
