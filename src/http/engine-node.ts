import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { FurzeError } from '../domain/errors.ts';
import type { Logger } from '../domain/log.ts';
import type { Exchange, RequestHead } from './edge.ts';
import type { Engine, EngineOptions, OnRequest } from './engine.ts';
import { problemReply } from './problem.ts';
import { byteLengthOf, COMMON_HEADERS, type Reply } from './reply.ts';

/** Time for a request's head to arrive, and for a connection to rest between two requests, milliseconds. */
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 10_000;

/** A response with what is to be told when its connection goes before it. */
interface NodeResponse extends ServerResponse<IncomingMessage> {
  onGone?: () => void;
}

/** HTTP over node:http, the fallback where no native engine loads. Its parser refuses what could smuggle a request. */
export function createNodeEngine(
  onRequest: OnRequest<NodeResponse>,
  { log }: EngineOptions,
): Engine<NodeResponse> {
  const server = createServer(
    { noDelay: true, headersTimeout: HEADERS_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS },
    (req, res) => onRequest(res, new NodeHead(req), lengthOf(req)),
  );
  server.on('clientError', refuse);
  return {
    name: 'node',
    send: (res, reply, exchange, closeConnection) => write(res, reply, exchange, closeConnection),
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
      server.close();
      server.closeIdleConnections();
    },
    close: () => server.closeAllConnections(),
  };
}

const NOTHING = new Uint8Array(0);

function listen(server: Server, host: string, port: number, log: Logger): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (error) => {
      // Once it listens, what fails is taking a connection, for want of file handles: the next may be taken again.
      if (server.listening) log.warn({ err: error }, 'a connection was not taken');
      else reject(new Error(`cannot listen on ${host}:${port}; is the port taken?`, { cause: error }));
    });
    server.listen({ host, port, exclusive: true }, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Shared by all responses: tells an abort, and nothing once the reply is out. */
function tellGone(this: NodeResponse): void {
  if (!this.writableFinished && !this.writableEnded) this.onGone?.();
}

/** The head of a request over what the parser has made of it. */
class NodeHead implements RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  private readonly headers: IncomingMessage['headers'];

  constructor(req: IncomingMessage) {
    const url = req.url!;
    const mark = url.indexOf('?');
    this.method = req.method!;
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.headers = req.headers;
  }

  get requestId(): string {
    return this.header('x-request-id');
  }

  get apiKey(): string {
    return this.header('x-api-key');
  }

  get authorization(): string {
    return this.header('authorization');
  }

  get origin(): string {
    return this.header('origin');
  }

  get host(): string {
    return this.header('host');
  }

  get fetchSite(): string {
    return this.header('sec-fetch-site');
  }

  /** `''` when absent. @param name in lower case */
  private header(name: string): string {
    const value = this.headers[name];
    return typeof value === 'string' ? value : '';
  }
}

/** The parser refuses several lengths, so there is one at most. */
function lengthOf(req: IncomingMessage): number {
  const length = Number(req.headers['content-length'] ?? 0);
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function write(res: NodeResponse, reply: Reply, exchange: Exchange, closeConnection: boolean): void {
  const { body, status } = reply;
  const hasBody = status !== 204;
  const head = ['X-Request-ID', exchange.requestId, ...COMMON_HEADERS.flat()];
  if (reply.contentType !== '') head.push('Content-Type', reply.contentType);
  if (reply.headers !== undefined) for (const [name, value] of reply.headers) head.push(name, value);
  if (closeConnection) head.push('Connection', 'close');
  if (!hasBody) {
    res.writeHead(status, head);
    res.end();
    return;
  }
  const length = byteLengthOf(body);
  head.push('Content-Length', String(length));
  res.writeHead(status, head);
  // A string of one byte a character goes out in one write together with the head.
  if (exchange.method === 'HEAD') res.end();
  else if (typeof body === 'string' && body.length === length) res.end(body, 'latin1');
  else res.end(body);
}

/** Answers what the parser refuses, which reaches no handler. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, contentType, body } = problemReply(new FurzeError('BAD_REQUEST', REFUSAL));
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\nContent-Type: ${contentType}\r\n` +
      `Content-Length: ${byteLengthOf(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const REFUSAL =
  'The request is not HTTP, tells several lengths of its body, or its head is too long or too slow.';
