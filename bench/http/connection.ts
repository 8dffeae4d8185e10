import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('Content-Length: ');
/** `HTTP/1.1 ` stands before the status. */
const STATUS_AT = 9;
const EMPTY = Buffer.alloc(0);

/** Called with the number of answers that one read brought and with the body of the last. */
export type OnAnswers = (count: number, lastBody: Buffer) => void;

/**
 * A keep-alive connection that costs its client little: requests go out as ready bytes, answers are counted and not
 * kept. It reads answers that tell their Content-Length.
 */
export class Connection {
  private readonly socket: Socket;
  private readonly onAnswers: OnAnswers;
  private rest: Buffer = EMPTY;
  private isClosed = false;

  private constructor(socket: Socket, port: number, onAnswers: OnAnswers) {
    this.socket = socket;
    this.onAnswers = onAnswers;
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('close', () => {
      // Whoever waits for an answer would do so for ever, and the others would be a smaller load.
      if (!this.isClosed) throw new Error(`port ${port} closed a connection`);
    });
  }

  static async open(port: number, onAnswers: OnAnswers): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket, port, onAnswers);
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  close(): void {
    this.isClosed = true;
    this.socket.destroy();
  }

  /** @throws Error for an answer that is no 2xx: a bench of refusals measures nothing */
  private read(chunk: Buffer): void {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let at = 0;
    let count = 0;
    let body: Buffer = EMPTY;
    while (at < bytes.length) {
      const headEnd = bytes.indexOf(HEAD_END, at);
      if (headEnd < 0) break;
      const bodyAt = headEnd + HEAD_END.length;
      const end = bodyAt + numberAt(bytes, bytes.indexOf(LENGTH, at) + LENGTH.length);
      if (end > bytes.length) break;
      if (bytes[at + STATUS_AT] !== 0x32) throw new Error(`refused: ${bytes.subarray(at, end)}`);
      body = bytes.subarray(bodyAt, end);
      at = end;
      count++;
    }
    this.rest = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
    if (count > 0) this.onAnswers(count, body);
  }
}

/** Asks one request after the other over a connection of its own. */
export class Asker {
  private readonly connection: Connection;
  private answered: (body: Buffer) => void = () => {};

  private constructor(connection: Connection) {
    this.connection = connection;
  }

  static async open(port: number): Promise<Asker> {
    const asker: Asker = new Asker(await Connection.open(port, (_count, body) => asker.answered(body)));
    return asker;
  }

  /** @returns the body of the answer, which is good until the next question */
  ask(request: Uint8Array): Promise<Buffer> {
    return new Promise((resolve) => {
      this.answered = resolve;
      this.connection.send(request);
    });
  }

  async askJson<T>(request: Uint8Array): Promise<T> {
    return JSON.parse((await this.ask(request)).toString()) as T;
  }

  close(): void {
    this.connection.close();
  }
}

/** The decimal number that begins there. */
function numberAt(bytes: Buffer, from: number): number {
  let value = 0;
  for (let at = from; bytes[at]! >= 0x30 && bytes[at]! <= 0x39; at++) value = value * 10 + bytes[at]! - 0x30;
  return value;
}

/** A GET as bytes. */
export function getRequest(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
}

/** A POST of a value as JSON, as bytes. */
export function postRequest(path: string, value: unknown): Buffer {
  const body = JSON.stringify(value);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  return Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
