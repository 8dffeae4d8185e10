import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { Exchange, RequestHead } from '../pipeline/exchange.ts';
import { byteLengthOf, commonHeaders, type Reply } from '../route/reply.ts';
import {
  BAD_FRAMING,
  type Engine,
  type EngineOptions,
  type Flow,
  type OnRequest,
  type TlsFiles,
} from './engine.ts';

/** Time for a request's head to arrive, milliseconds. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Time for a whole request to arrive, whether its body is asked for or passed over, milliseconds. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Time that nothing may happen on a connection, a request under way or not, milliseconds. */
const SILENCE_MS = 300_000;
/** Requests of a connection that may wait for the answers to those before them. */
const QUEUED_MAX = 100;
/** Time between two looks at who is late, milliseconds. */
const LOOK_MS = 2000;

/** A response with what is to be told when its connection goes before it. */
interface NodeResponse extends ServerResponse<IncomingMessage> {
  onGone?: () => void;
  /** The head as it goes out, once it is made; see `endWith`. */
  _header?: unknown;
}

/** HTTP over node:http, the fallback where no native engine loads. Its parser refuses what could smuggle a request. */
export function createNodeEngine(
  onRequest: OnRequest<NodeResponse>,
  { log, tls, keepAliveMs, sendTimeoutMs, sendBytesMin, refuse }: EngineOptions,
): Engine<NodeResponse> {
  const options = {
    noDelay: true,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: LOOK_MS,
  };
  const serve = (req: IncomingMessage, res: NodeResponse) => {
    const { socket } = req;
    if (socket.destroyed) return;
    if (isOneTooMany(socket, res)) {
      socket.destroy();
      stopParsing(socket);
    } else onRequest(res, new NodeHead(req), lengthOf(req));
  };
  const server =
    tls === undefined ? createServer(options, serve) : createTlsServer({ ...options, ...read(tls) }, serve);
  watchOver(server, serve);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseOn(socket, error, refuse));
  return {
    name: 'node',
    connectionOf: ({ req }) => req.socket,
    send(res, reply, exchange, closeConnection) {
      write(res, reply, exchange, closeConnection);
      const { socket } = res.req;
      if (socket.writableLength > 0) watchSlowReader(socket, sendTimeoutMs, sendBytesMin);
    },
    refuse(res, reply, exchange) {
      write(res, reply, exchange, true);
      closeAfter(res.req.socket);
    },
    begin: (res, reply, exchange, closeConnection, totalBytes) => {
      res.writeHead(reply.status, headOf(reply, exchange, closeConnection, totalBytes));
      return new NodeFlow(res);
    },
    onAborted(res, handler) {
      res.onGone = handler;
      res.once('close', tellGone);
    },
    onData(res, handler) {
      // Chunks go out as they come; the last call carries none.
      res.req.on('data', (chunk: Buffer) => handler(chunk, false));
      res.req.on('end', () => handler(NOTHING, true));
    },
    destroy: (res) => void res.destroy(),
    listen: (host, port) => listen(server, host, port, log),
    stopListening() {
      // The server's own `close` ends connections at rest, too.
      NetServer.prototype.close.call(server);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Ends what rests for long, and serves what node:http answers by itself otherwise, whatever its head holds beside. */
function watchOver(server: Server, serve: (req: IncomingMessage, res: NodeResponse) => void): void {
  server.timeout = SILENCE_MS;
  server.on('checkExpectation', serve);
}

function read({ certPath, keyPath }: TlsFiles) {
  return { cert: readFileSync(certPath), key: readFileSync(keyPath) };
}

interface CountedSocket extends Socket {
  /** Requests that wait for the answers to those before them. */
  queued?: number;
}

/** True when a connection has sent more requests ahead of their answers than a client does that reads them. */
function isOneTooMany(socket: CountedSocket, res: NodeResponse): boolean {
  if (res.socket !== null) return false;
  socket.queued = (socket.queued ?? 0) + 1;
  // It is given the socket when its turn has come.
  res.once('socket', leaveQueue);
  return socket.queued > QUEUED_MAX;
}

function leaveQueue(socket: CountedSocket): void {
  socket.queued!--;
}

/** A result that stops node:http's parser in the middle of a chunk: the rest is another protocol's. */
const UPGRADE = 2;

/**
 * Parses nothing more of a connection that is about to end. The rest of a chunk would be served otherwise, or end in an
 * error for each request: hundreds a connection, in one turn. `parser` is no documented part of a socket; where it is not
 * there, that is what happens.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: () => number } };
  if (parser !== undefined) parser.onIncoming = () => UPGRADE;
}

/** An answer in parts; node:http keeps what the socket does not take and says so. */
class NodeFlow implements Flow {
  onReady = () => {};
  private readonly res: NodeResponse;

  constructor(res: NodeResponse) {
    this.res = res;
    res.on('drain', () => this.onReady());
  }

  write(part: string | Uint8Array): boolean {
    return this.res.write(part);
  }

  end(): void {
    this.res.end();
  }
}

const NOTHING = new Uint8Array(0);

function listen(server: Server, host: string, port: number, log: Logger): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (error) => {
      // Once it listens, what fails is taking a connection, for want of file handles: the next may be taken again.
      if (server.listening) log.warn({ err: error }, 'a connection could not be accepted');
      else reject(new Error(`cannot listen on ${host}:${port}; is the port taken?`, { cause: error }));
    });
    server.listen({ host, port, exclusive: true }, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Shared by all responses: tells an abort, and nothing once the reply is out. */
function tellGone(this: NodeResponse): void {
  if (!this.writableFinished && !this.writableEnded) this.onGone?.();
}

/** The head of a request over what the parser has read; of a header sent several times the first counts, as with uWebSockets.js. */
class NodeHead implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  private readonly raw: readonly string[];

  constructor(req: IncomingMessage) {
    const url = req.url!;
    const mark = url.indexOf('?');
    this.method = req.method!;
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.raw = req.rawHeaders;
  }

  header(name: string): string {
    return headerIn(this.raw, name);
  }
}

/**
 * The first header of that name, `''` when there is none.
 * @param raw names and values in turn
 * @param name in lower case
 */
function headerIn(raw: readonly string[], name: string): string {
  for (let at = 0; at < raw.length; at += 2) {
    const sent = raw[at]!;
    if (sent.length === name.length && (sent === name || sent.toLowerCase() === name)) return raw[at + 1]!;
  }
  return '';
}

/** The length of a body: the parser refuses several lengths and one beside a coding, and takes several codings and hosts. */
function lengthOf({ rawHeaders }: IncomingMessage): number {
  if (countIn(rawHeaders, 'host') > 1) return BAD_FRAMING;
  const codings = countIn(rawHeaders, 'transfer-encoding');
  if (codings > 1) return BAD_FRAMING;
  if (codings > 0 && headerIn(rawHeaders, 'transfer-encoding').toLowerCase() !== 'chunked')
    return BAD_FRAMING;
  const text = headerIn(rawHeaders, 'content-length');
  if (text === '') return 0;
  const length = Number(text);
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

/** Headers of that name. @param raw names and values in turn @param name in lower case */
function countIn(raw: readonly string[], name: string): number {
  return raw.filter((sent, at) => at % 2 === 0 && sent.toLowerCase() === name).length;
}

function write(res: NodeResponse, reply: Reply, exchange: Exchange, closeConnection: boolean): void {
  const { body, status } = reply;
  const length = status === 204 || reply.parts !== undefined ? -1 : byteLengthOf(body);
  res.writeHead(status, headOf(reply, exchange, closeConnection, length));
  if (exchange.method === 'HEAD' || length <= 0) res.end();
  else if (typeof body === 'string' && body.length === length) endWith(res, body);
  else res.end(body);
}

/**
 * Ends an answer whose body has one byte a character. Given a body, node:http writes it and an empty end as two parts,
 * which takes as long as all the rest of an answer; what stands in the head goes out in one piece. `_header` is no
 * documented part of a response; where it is not there, there are two parts.
 */
function endWith(res: NodeResponse, body: string): void {
  if (typeof res._header !== 'string') {
    res.end(body, 'latin1');
    return;
  }
  res._header += body;
  res.end();
}

/** By content type, the headers that every reply has, names and values in turn. */
const headersByType = new Map<string, readonly string[]>();

/** The headers of a reply, names and values in turn. @param length of the body, -1 when it is not told */
function headOf(reply: Reply, exchange: Exchange, closeConnection: boolean, length: number): string[] {
  let common = headersByType.get(reply.contentType);
  if (common === undefined) {
    common = commonHeaders(reply.contentType).flat();
    headersByType.set(reply.contentType, common);
  }
  const head = ['X-Request-ID', exchange.requestId, ...common];
  if (reply.headers !== undefined) for (const [name, value] of reply.headers) head.push(name, value);
  if (closeConnection) head.push('Connection', 'close');
  if (length >= 0) head.push('Content-Length', String(length));
  return head;
}

/** Connections that a refusal has gone out over: their parser may refuse the request, too. */
const refused = new WeakSet<Duplex>();

function closeAfter(socket: Socket): void {
  refused.add(socket);
  stopParsing(socket);
}

/** Answers what the parser refuses, which reaches no handler. */
function refuseOn(socket: Duplex, error: NodeJS.ErrnoException, refuse: EngineOptions['refuse']): void {
  if (refused.has(socket)) {
    socket.end();
    return;
  }
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, contentType, body } = refuse(refusalOf(error.code));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${contentType}\r\n` +
      `Content-Length: ${byteLengthOf(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function refusalOf(code: string | undefined): FurzeError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new FurzeError('HEADERS_TOO_LARGE', 'The head of the request is longer than 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new FurzeError('REQUEST_TIMEOUT', 'The request did not arrive in time.');
  }
  return new FurzeError('BAD_REQUEST', 'The request is not HTTP, or tells several lengths of its body.');
}

/** Looks in the time that a peer has; it is too slow when all of them say so. */
const LOOKS = 4;

/** A socket that is watched while it holds back what its peer does not take. */
interface WatchedSocket extends Socket {
  isWatched?: boolean;
}

/**
 * Ends a connection whose peer takes its short answers too slowly: they wait in the socket, and those of further requests
 * behind them.
 * @param socket one that has not got rid of all it was given
 * @param timeoutMs time in which a peer must take `bytesMin` bytes, or all that there is
 */
function watchSlowReader(socket: WatchedSocket, timeoutMs: number, bytesMin: number): void {
  if (socket.isWatched === true) return;
  socket.isWatched = true;
  let before = takenOf(socket);
  let lateLooks = 0;
  const timer = setInterval(() => {
    const taken = takenOf(socket) - before;
    before += taken;
    const isLate = socket.writableLength > 0 && taken < bytesMin / LOOKS;
    // One look may come upon a short answer that is on its way.
    lateLooks = isLate ? lateLooks + 1 : 0;
    if (lateLooks === LOOKS) socket.destroy();
    if (socket.writableLength > 0 && !socket.destroyed) return;
    clearInterval(timer);
    socket.isWatched = false;
  }, timeoutMs / LOOKS).unref();
}

/** Bytes that the peer's side of the connection has taken. */
function takenOf({ bytesWritten, writableLength }: Socket): number {
  return bytesWritten - writableLength;
}
