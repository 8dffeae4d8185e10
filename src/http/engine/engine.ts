import type { FurzeError } from '../../domain/furze-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { Exchange, RequestHead } from '../pipeline/exchange.ts';
import type { Reply } from '../route/reply.ts';

/** Which engine serves: uWebSockets.js or node:http. */
export type EngineName = 'uws' | 'node';

/** Stands for the length of a body where two readers of the request could find another end, or another host. */
export const BAD_FRAMING = -1;
/** Stands for the length of a body whose end the engine finds more loosely than others do. */
export const UNSURE_END = -2;

/** The certificate and key of a server that speaks TLS, as PEM files. */
export interface TlsFiles {
  readonly certPath: string;
  readonly keyPath: string;
}

export interface EngineOptions {
  readonly log: Logger;
  /** Undefined for plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** Rest that a connection may take between two requests, milliseconds, where the engine can be told. */
  readonly keepAliveMs: number;
  /** Time in which a peer must take some of its answers, milliseconds, where the engine can be told. */
  readonly sendTimeoutMs: number;
  /** Bytes that a peer must take in that time. */
  readonly sendBytesMin: number;
  /** Makes the answer to what never became a request, and counts it. */
  readonly refuse: (error: FurzeError) => Reply;
}

/**
 * Called once a request, as soon as its head is there. Must not throw.
 * @param lengthBytes the value of Content-Length, 0 without one, `BAD_FRAMING` or `UNSURE_END`
 */
export type OnRequest<Response> = (res: Response, head: RequestHead, lengthBytes: number) => void;

/** An answer that goes out in parts, as fast as its peer takes them. */
export interface Flow {
  /**
   * @param part bytes where the length of the whole is known, else either
   * @returns false when the peer is too slow: the next part waits for `onReady`
   */
  write(part: string | Uint8Array): boolean;
  /** Ends the answer after its last part. */
  end(): void;
  /** Set by whoever waits. */
  onReady: () => void;
}

/**
 * One way to move bytes. `Response` is the engine's own object for a request under way, handed through as it is so
 * that a request costs no wrapper. Nothing may be asked of a response that was sent whole or whose peer is gone.
 */
export interface Engine<Response> {
  readonly name: EngineName;
  /** The connection of a request, where a connection's requests wait for the answers to those before them; otherwise they end it. */
  connectionOf?(res: Response): object;
  /**
   * Sends a whole reply; at most once a request.
   * @param closeConnection ends the connection behind the reply
   * @param isLate in a tick after that of `onRequest`
   */
  send(res: Response, reply: Reply, exchange: Exchange, closeConnection: boolean, isLate: boolean): void;
  /** Sends a short reply while `onRequest` runs and closes the connection; nothing behind the request is read. */
  refuse(res: Response, reply: Reply, exchange: Exchange): void;
  /**
   * Sends the head of a reply whose body follows in parts; `onAborted` was asked for before.
   * @param totalBytes length of the body, -1 when only its end will tell
   */
  begin(res: Response, reply: Reply, exchange: Exchange, closeConnection: boolean, totalBytes: number): Flow;
  /** Tells when the peer is gone before the reply is out; asked for at most once a request, while `onRequest` runs. */
  onAborted(res: Response, handler: () => void): void;
  /** Hands out the body; a chunk is gone after the call. Asked for while `onRequest` runs, or never. */
  onData(res: Response, handler: (chunk: Uint8Array, isLast: boolean) => void): void;
  /** Closes the connection at once. */
  destroy(res: Response): void;
  /** Starts to listen on a port of its own. @returns the port @throws Error when the address cannot be had */
  listen(host: string, port: number): Promise<number>;
  /** Takes no more connections. Those that are there live on: a request may be under way on one that seems to rest. */
  stopListening(): void;
  close(): void;
}
