/**
 * The parts of uWebSockets.js that furze uses, in types of its own: the package is optional, and none of the builds that may
 * stand in for it has to be there when the sources are checked.
 */
export interface UwsRequest {
  /** In lower case. */
  getMethod(): string;
  getUrl(): string;
  /** Undefined when there is no question mark. */
  getQuery(): string | undefined;
  /** `''` when absent. @param name in lower case, as `headerKey` makes it */
  getHeader(name: ArrayBuffer): string;
  forEach(each: (name: string, value: string) => void): void;
}

export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  /** Sends a chunk; what the socket does not take is kept. @returns false when some of it had to be */
  write(chunk: string | Uint8Array): boolean;
  /**
   * Sends as much of a body of known length as the socket takes, and ends the answer with the last byte.
   * @returns whether all that was given is taken, and whether the answer is complete
   */
  tryEnd(part: string | Uint8Array, totalBytes: number): [taken: boolean, complete: boolean];
  /** Bytes of the body that are taken. */
  getWriteOffset(): number;
  /** Tells when the socket takes more. @param handler returns whether what it sent was taken */
  onWritable(handler: (offset: number) => boolean): UwsResponse;
  endWithoutBody(): UwsResponse;
  /** Closes the connection at once. */
  close(): UwsResponse;
  /** Gathers all that `write` sends into as few calls of the system as can be. */
  cork(write: () => void): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  /** The chunk is gone after the call. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
}

export type UwsHandler = (res: UwsResponse, req: UwsRequest) => void;

/** A listening socket, which only the engine looks into. */
export type UwsListenSocket = object;

export interface UwsApp {
  get(pattern: string, handler: UwsHandler): UwsApp;
  any(pattern: string, handler: UwsHandler): UwsApp;
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: UwsListenSocket | false) => void,
  ): UwsApp;
  /** Closes the listening socket and every connection. */
  close(): UwsApp;
}

/** Exports of a native build. */
export interface Uws {
  App(): UwsApp;
  /** Missing in builds without TLS. */
  SSLApp?(files: { readonly cert_file_name: string; readonly key_file_name: string }): UwsApp;
  us_socket_local_port(socket: UwsListenSocket): number;
  us_listen_socket_close(socket: UwsListenSocket): void;
}
