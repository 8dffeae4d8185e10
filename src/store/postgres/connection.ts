import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';
import type { BufferReader } from 'pg-protocol/dist/buffer-reader.js';
import type { PostgresDsn } from '../dsn.ts';
import { NotLeadingError } from '../model-store.ts';
import { classified, DatabaseAwayError, isAway, sqlStateOf } from './database-away-error.ts';
import { Pulse } from './pulse.ts';

/** Time in which a server must take a connection, milliseconds. */
const CONNECT_MS_MAX = 5000;
/** Time in which a query of a `Link` must be answered; a host that is gone without a word would not end it for hours. */
const ANSWER_MS_MAX = 60_000;
/** Silence after which the system asks whether the server's host is there at all: an answer without a bound ends with it. */
const KEEP_ALIVE_MS = 60_000;
/** The same for the question whether it answers at all. */
const PULSE_MS_MAX = 2000;
/** Time that a server has to answer what was sent before the end of a connection. */
const CLOSE_MS_MAX = 3000;
/** A transaction that its client leaves open for so long is ended by the server: a paused node holds up nobody. */
const IDLE_IN_TRANSACTION_MS_MAX = 15_000;

/** Parts that the typings of the driver lack. */
interface PipelinedConfig extends ClientConfig {
  /** Queries are sent without waiting for the answers of those before them. */
  readonly pipeline: boolean;
}

/** The driver's own connection. */
interface DriverConnection {
  /** The stream that is read from: with TLS not the socket itself. */
  readonly stream: Socket;
  once(event: 'sslconnect', listener: () => void): void;
}

const INT8_OID = 20;

/** One connection to PostgreSQL. Queries are sent at once and answered in their order. */
export class Connection {
  private readonly client: Client;
  private readonly socket: Socket;
  private readonly pulse: Pulse | undefined;
  private failure: Error | undefined;

  private constructor(client: Client, socket: Socket, pulse: Pulse | undefined) {
    this.client = client;
    this.socket = socket;
    this.pulse = pulse;
    client.on('error', (error) => {
      this.failure ??= error;
    });
    client.on('end', () => {
      this.failure ??= new Error('the connection was closed');
    });
  }

  /**
   * Connects.
   * @param name what the server shows the connection as
   * @param answerMsMax time after which a query without an answer fails, and the connection with it; 0 for any time
   * @param pulse fails what the server leaves without an answer while it answers nothing else either
   * @throws DatabaseAwayError, or what the server refuses it with; messages hold no password
   */
  static async open({ url }: PostgresDsn, name: string, answerMsMax = 0, pulse?: Pulse): Promise<Connection> {
    // Loaded here, so that a service without PostgreSQL loads no driver.
    const [{ default: pg }, reading] = await Promise.all([
      import('pg'),
      import('pg-protocol/dist/buffer-reader.js'),
    ]);
    endReads(reading.BufferReader.prototype);
    const socket = new Socket();
    const config: PipelinedConfig = {
      stream: () => socket,
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: answerMsMax,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: true,
      types: {
        getTypeParser: (oid, format) =>
          oid === INT8_OID && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
      },
    };
    const client = new pg.Client(config);
    const connection = new Connection(client, socket, pulse);
    const { connection: driver } = client as unknown as { readonly connection: DriverConnection };
    guardReads(socket);
    driver.once('sslconnect', () => guardReads(driver.stream));
    try {
      await connection.watched(client.connect());
    } catch (error) {
      socket.destroy();
      throw classified(error);
    }
    // Not along with the connection, which PgBouncer refuses. A server that does not take it is as good without.
    connection.run(`SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS_MAX}`).catch(() => {});
    return connection;
  }

  /** False once the connection has failed or ended. */
  get isOpen(): boolean {
    return this.failure === undefined;
  }

  /** The rows of a query, each an array in the order of its columns. @throws DatabaseAwayError, or the server's refusal */
  async rows<T extends readonly unknown[]>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const query = { text, values: [...values], rowMode: 'array' } as const;
    const result = await this.asked(this.client.query<unknown[]>(query));
    return result.rows as unknown as T[];
  }

  /** Runs a statement, or several without values. */
  async run(text: string, values?: readonly unknown[]): Promise<void> {
    await this.asked(this.client.query(text, values && [...values]));
  }

  /** An answer, or an error that is classified; a connection that failed otherwise than by SQL takes no more. */
  private async asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await this.watched(answer);
    } catch (error) {
      const told = classified(error);
      if (told instanceof DatabaseAwayError && sqlStateOf(error) === undefined) {
        this.failure ??= told;
        this.socket.destroy();
      }
      throw told;
    }
  }

  private watched<T>(answer: Promise<T>): Promise<T> {
    const cut = () => this.socket.destroy(silent());
    return this.pulse === undefined ? answer : this.pulse.over(answer, cut);
  }

  /** Ends the connection once what was sent is answered; what the server does not answer soon fails. */
  async close(): Promise<void> {
    this.failure ??= new Error('the connection was closed');
    const timer = setTimeout(() => this.socket.destroy(), CLOSE_MS_MAX);
    await this.client.end().catch(() => {});
    clearTimeout(timer);
  }
}

/** Readers of the driver that end. */
const ended = new WeakSet<BufferReader>();

/** Has the driver's reader throw behind the last byte: in an error message without an end it would read for ever (pg-protocol 1.16). */
function endReads(reader: BufferReader): void {
  if (ended.has(reader)) return;
  ended.add(reader);
  const read = reader.string;
  reader.string = function (length) {
    const text = read.call(this, length);
    if (text === '' && length > 0) throw new Error('the server sent a message without an end');
    return text;
  };
}

/** Has a stream fail where its reader throws, as the driver does at what is not PostgreSQL's protocol: it would end the process. */
function guardReads(stream: Socket): void {
  const emit = stream.emit.bind(stream) as (event: string, ...values: unknown[]) => boolean;
  stream.emit = (event: string, ...values: unknown[]) => {
    try {
      return emit(event, ...values);
    } catch (error) {
      if (event !== 'data') throw error;
      stream.destroy(new DatabaseAwayError(error));
      return true;
    }
  };
}

/** The server is there, or was, and answers nothing. */
const silent = () => new DatabaseAwayError('the database does not answer');

/** A pulse of the server itself, not of what gives its connections to several. */
export function pulseOf(dsn: PostgresDsn): Pulse {
  return new Pulse(async () => {
    const server = { ...dsn, url: dsn.sessionUrl };
    const connection = await Connection.open(server, 'furze pulse', PULSE_MS_MAX);
    await connection.run('SELECT 1').finally(() => connection.close());
  });
}

/** This program has closed its link, so there will be no other connection. */
class LinkClosedError extends DatabaseAwayError {
  constructor() {
    super('the link to the database was closed');
    this.name = 'LinkClosedError';
  }
}

/** A connection that is opened when it is first needed, and anew when it has failed. */
export class Link {
  private readonly dsn: PostgresDsn;
  private readonly name: string;
  private readonly answerMsMax: number;
  private readonly pulse: Pulse | undefined;
  private current: Promise<Connection> | undefined;
  private isClosed = false;

  /**
   * @param answerMsMax time in which each query must be answered
   * @param pulse refuses and fails what is asked while the server answers nothing
   */
  constructor(dsn: PostgresDsn, name: string, answerMsMax = ANSWER_MS_MAX, pulse?: Pulse) {
    this.dsn = dsn;
    this.name = name;
    this.answerMsMax = answerMsMax;
    this.pulse = pulse;
  }

  /** @throws Error when the server does not take the connection, or this is closed */
  async connect(): Promise<Connection> {
    if (this.isClosed) throw new LinkClosedError();
    if (this.pulse?.isSilent) throw silent();
    const opening = this.current;
    if (opening !== undefined) {
      const connection = await opening;
      if (connection.isOpen) return connection;
      if (this.current === opening) this.current = undefined;
      void connection.close();
      return this.connect();
    }
    const next = Connection.open(this.dsn, this.name, this.answerMsMax, this.pulse);
    this.current = next;
    next.catch(() => {
      if (this.current === next) this.current = undefined;
    });
    return next;
  }

  /** As `Connection.rows`, by a connection that is open. */
  async rows<T extends readonly unknown[]>(text: string, values?: readonly unknown[]): Promise<T[]> {
    return (await this.connect()).rows<T>(text, values);
  }

  /** As `Connection.run` likewise. */
  async run(text: string, values?: readonly unknown[]): Promise<void> {
    return (await this.connect()).run(text, values);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const connection = await this.current?.catch(() => undefined);
    await connection?.close();
  }
}

/** Pause before work is tried again for which the database was away, and how long it is, milliseconds. */
const RETRY_MS = 1000;
const RETRIES_MAX = 300;

/**
 * Does work that took hours to come to; while the database is away it waits for it, for five minutes.
 * @param isGivenUp asked after each try: whether to wait no longer
 * @param onWait told why, when the waiting begins
 */
export async function persist<T>(
  work: () => Promise<T>,
  isGivenUp: () => boolean,
  onWait?: (error: unknown) => void,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isFinal = error instanceof NotLeadingError || error instanceof LinkClosedError || !isAway(error);
      if (isFinal || tries >= RETRIES_MAX || isGivenUp()) throw error;
      if (tries === 0) onWait?.(error);
      await sleep(RETRY_MS);
      if (isGivenUp()) throw error;
    }
  }
}
