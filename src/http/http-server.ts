import { FurzeError } from '../domain/furze-error.ts';
import { BoundedQueue } from '../platform/concurrency/bounded-queue.ts';
import { turns } from '../platform/concurrency/event-loop-turns.ts';
import { overloaded } from '../platform/concurrency/overload-error.ts';
import { BAD_FRAMING, type Engine, type TlsFiles, UNSURE_END } from './engine/engine.ts';
import type { EngineChoice } from './engine/engine-choice.ts';
import {
  type BodyOutcome,
  BodyReader,
  type BodyRules,
  isBeyondPassing,
  refusalByLength,
} from './flow/body-reader.ts';
import { Burst } from './flow/burst.ts';
import { ByteBudget } from './flow/byte-budget.ts';
import { Drain } from './flow/drain.ts';
import { asBytes, isLong, Outflow, type OutflowRules } from './flow/outflow.ts';
import { BYTES_PER_SECOND_MIN, PaceWatch } from './flow/pace-watch.ts';
import type { Exchange, RequestHead } from './pipeline/exchange.ts';
import { RequestPipeline, type RequestPipelineParts } from './pipeline/request-pipeline.ts';
import type { Query } from './route/query-parameters.ts';
import type { Reply } from './route/reply.ts';
import type { Route } from './route/route.ts';

/** Limits on the memory and time that connections take. */
export interface ConnectionLimits {
  /** Memory of all bodies of requests under way, bytes. */
  readonly bodiesBytesMax: number;
  /** Memory of all long answers that their peers have not taken yet, bytes. */
  readonly answersBytesMax: number;
  /** Time in which a body must go on arriving, milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Time in which a peer must go on taking its answer, milliseconds. */
  readonly sendTimeoutMs: number;
  /** Rest that a connection may take between two requests, milliseconds. */
  readonly keepAliveMs: number;
  /** Time that `close` waits for requests under way, milliseconds. */
  readonly drainMs: number;
  /** Time without a request after which `close` takes no pooled client to be about to send one, milliseconds. */
  readonly quietMs: number;
}

export interface HttpServerOptions extends RequestPipelineParts {
  readonly engine: EngineChoice;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Undefined for plain HTTP. */
  readonly tls: TlsFiles | undefined;
  readonly connections: ConnectionLimits;
}

/** Entries and filters that are asked for, and bytes of a body, from which on an answer may take the better part of a millisecond. */
const [MUCH, FILTERS, LONG_BODY_BYTES] = [256, 16, 16 * 1024];

/** Answers with many entries that are made at the same time, and that wait for it: each may take megabytes until it is made. */
const [WIDE_AT_WORK_MAX, WIDE_WAITING_MAX] = [16, 10_000];

/** True for routes whose answers may take as long whatever is asked for: of operators, of sessions, of all that somebody did. */
function isHeavy({ method, path, reads }: Route): boolean {
  return (
    reads === true || /^(\w+ \/api\/admin\/|GET .*(feedback|impressions|metrics))/.test(`${method} ${path}`)
  );
}

/** Entries that are asked for; a filter costs as much as some of them. */
function entriesOf({ n, offset, listed }: Query): number {
  return n + offset + listed * (MUCH / FILTERS);
}

/** A request whose answer is not sent whole in the tick of its head. */
interface Call {
  readonly res: object;
  readonly exchange: Exchange;
  /** True for the last request of its connection, because the next one may begin elsewhere than the engine thinks. */
  readonly isLast: boolean;
  /** True once it is answered or its peer is gone. */
  isOver: boolean;
  body: BodyReader | undefined;
  outflow: Outflow | undefined;
}

/** The HTTP server over either engine: what is under way, what it may take, how it ends. */
export class HttpServer {
  private readonly engine: Engine<object>;
  private readonly options: HttpServerOptions;
  private readonly pipeline: RequestPipeline;
  private readonly bodies: BodyRules;
  private readonly questions: BodyRules;
  private readonly outflows: OutflowRules;
  private readonly burst: Burst;
  private readonly wide = new BoundedQueue({
    atWorkMax: WIDE_AT_WORK_MAX,
    waitingMax: WIDE_WAITING_MAX,
    refusedFor: 'answers',
  });
  private readonly drain: Drain;
  /** By number of the route, whether any answer of it may take long. */
  private readonly isHeavy: readonly boolean[];
  /** Calls whose answers go on until their callers leave. */
  private readonly lasting = new Set<Call>();

  constructor(options: HttpServerOptions) {
    const { connections, limits, log, tls } = options;
    this.options = options;
    this.drain = new Drain(connections.quietMs);
    this.pipeline = new RequestPipeline(options);
    this.isHeavy = options.routes.map(isHeavy);
    this.bodies = {
      bytesMax: limits.bodyBytesMax,
      budget: new ByteBudget(connections.bodiesBytesMax),
      paces: new PaceWatch(connections.bodyTimeoutMs),
    };
    this.questions = { ...this.bodies, bytesMax: Math.min(limits.bodyBytesMax, limits.sessionBytesMax) };
    this.outflows = {
      budget: new ByteBudget(connections.answersBytesMax),
      paces: new PaceWatch(connections.sendTimeoutMs),
    };
    const refuse = (error: FurzeError) => this.pipeline.refuse(error);
    this.engine = options.engine.create((res, head, lengthBytes) => this.serve(res, head, lengthBytes), {
      log,
      tls,
      keepAliveMs: connections.keepAliveMs,
      sendTimeoutMs: connections.sendTimeoutMs,
      sendBytesMin: (BYTES_PER_SECOND_MIN * connections.sendTimeoutMs) / 1000,
      refuse,
    });
    this.burst = new Burst(this.engine.connectionOf !== undefined);
  }

  /** Starts to listen. @throws Error when the address cannot be had */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.options;
    return { host, port: await this.engine.listen(host, port) };
  }

  /** Stops to listen, waits for the requests under way and ends all connections. */
  async close(): Promise<void> {
    this.drain.begin();
    this.engine.stopListening();
    for (const call of this.lasting) this.cutOff(call);
    await this.drain.end(this.options.connections.drainMs);
    this.engine.close();
  }

  private serve(res: object, head: RequestHead, lengthBytes: number): void {
    try {
      this.take(res, head, lengthBytes);
    } catch (error) {
      // What leaves a handler of an engine ends the process.
      this.options.log.error({ err: error }, 'a request failed in the adapter');
      this.engine.destroy(res);
    }
  }

  private take(res: object, head: RequestHead, lengthBytes: number): void {
    const { pipeline } = this;
    const exchange = pipeline.open(head);
    this.drain.hear(exchange.startMs);
    const refusal = this.refusalOf(lengthBytes, this.bodiesOf(exchange).bytesMax);
    if (refusal !== undefined) {
      this.refuse(res, exchange, refusal, lengthBytes);
    } else if (exchange.refusal === undefined && exchange.match?.route.body !== undefined) {
      this.readBody(res, exchange, lengthBytes);
    } else if (lengthBytes === UNSURE_END || this.takesLong(exchange)) {
      void this.putOff(this.open(res, exchange, lengthBytes === UNSURE_END), turns.take());
    } else this.answerNow(res, exchange);
  }

  /** Answers a request at once, unless too many come. */
  private answerNow(res: object, exchange: Exchange): void {
    const fate = this.burst.count(exchange.startMs);
    if (fate === 'put off')
      void this.putOff(this.open(res, exchange), this.burst.turn(this.engine.connectionOf!(res)));
    else if (fate === 'refuse') this.cutShort(res, exchange, overloaded('pipelined'));
    else {
      const reply = this.pipeline.answer(exchange);
      if (reply instanceof Promise || isLong(reply)) this.finish(this.open(res, exchange), reply);
      else this.send(res, exchange, reply, this.drain.hasBegun, false);
    }
  }

  /** Answers a request when it is its turn; an engine that keeps order holds back the next one of its connection. */
  private async putOff(call: Call, turn: Promise<void>, body?: Uint8Array<ArrayBuffer>): Promise<void> {
    await turn;
    const { exchange } = call;
    const isWide = exchange.query !== undefined && entriesOf(exchange.query) > MUCH;
    const answer = async () => {
      if (!call.isOver) this.finish(call, await this.pipeline.answer(exchange, body));
    };
    if (!isWide) await answer();
    else
      await this.wide
        .run(answer, undefined, { kind: String(exchange.routeNumber), user: 0 })
        .catch((error) => this.finish(call, this.pipeline.errorReply(error)));
  }

  /**
   * True for a request that is answered in a turn of the event loop of its own: many of them in one would keep everybody waiting
   * for as long as all of them take.
   */
  private takesLong({ routeNumber, query }: Exchange, bodyBytes = 0): boolean {
    if (query === undefined) return false;
    return this.isHeavy[routeNumber]! || bodyBytes > LONG_BODY_BYTES || entriesOf(query) > MUCH;
  }

  /** Why a request is refused whatever it asks for. */
  private refusalOf(lengthBytes: number, bytesMax: number): FurzeError | undefined {
    if (this.drain.isOver) return new FurzeError('STORE_UNAVAILABLE', 'The service has shut down.');
    return refusalByLength(lengthBytes, bytesMax);
  }

  /** The limits of bodies: those that are read on this thread are short. */
  private bodiesOf({ match }: Exchange): BodyRules {
    return match?.route.reads === true ? this.questions : this.bodies;
  }

  /** Refuses a request whatever it asks for. */
  private refuse(res: object, exchange: Exchange, refusal: FurzeError, lengthBytes: number): void {
    if (lengthBytes === BAD_FRAMING || isBeyondPassing(lengthBytes)) this.cutShort(res, exchange, refusal);
    else this.send(res, exchange, this.pipeline.errorReply(refusal), this.drain.hasBegun, false);
  }

  /** Refuses a request and all that its connection has sent behind it. */
  private cutShort(res: object, exchange: Exchange, refusal: FurzeError): void {
    const reply = this.pipeline.errorReply(refusal);
    this.engine.refuse(res, reply, exchange);
    this.pipeline.record(exchange, reply.status);
  }

  private readBody(res: object, exchange: Exchange, lengthBytes: number): void {
    const call = this.open(res, exchange, lengthBytes === UNSURE_END);
    const body = new BodyReader(this.bodiesOf(exchange), lengthBytes, (outcome) =>
      this.answer(call, outcome),
    );
    call.body = body;
    this.engine.onData(res, (chunk, isLast) => body.take(chunk, isLast));
  }

  private answer(call: Call, body: BodyOutcome): void {
    if (body instanceof FurzeError) {
      this.finish(call, this.pipeline.errorReply(body), body.code === 'REQUEST_TIMEOUT');
    } else if (this.takesLong(call.exchange, body.length)) {
      void this.putOff(call, turns.take(), body);
    } else {
      this.finish(call, this.pipeline.answer(call.exchange, body));
    }
  }

  private open(res: object, exchange: Exchange, isLast = false): Call {
    const call: Call = { res, exchange, isLast, isOver: false, body: undefined, outflow: undefined };
    this.drain.enter();
    this.engine.onAborted(res, () => this.abandon(call));
    return call;
  }

  private abandon(call: Call): void {
    if (call.isOver) return;
    this.settle(call);
    this.pipeline.abandon(call.exchange);
  }

  private settle(call: Call): void {
    // An engine that closes the connection itself may have told so.
    if (call.isOver) return;
    call.isOver = true;
    call.body?.end();
    call.outflow?.end();
    this.lasting.delete(call);
    this.drain.leave();
  }

  private finish(call: Call, reply: Reply | Promise<Reply>, closeConnection = false): void {
    if (reply instanceof Promise) {
      reply.then((late) => this.finish(call, late));
      return;
    }
    // While the answer is not out, the engine ends a connection that goes on to another request.
    if (call.isLast) setImmediate(() => this.conclude(call, reply, true));
    else this.conclude(call, reply, closeConnection || this.drain.hasBegun);
  }

  private conclude(call: Call, reply: Reply, closes: boolean): void {
    if (call.isOver) {
      reply.discard?.();
      return;
    }
    if (isLong(reply) && call.exchange.method !== 'HEAD') {
      this.flow(call, asBytes(reply), closes);
    } else {
      reply.discard?.();
      this.send(call.res, call.exchange, reply, closes, true);
      this.settle(call);
    }
  }

  /** Sends a long answer, or refuses it when too many are under way. */
  private async flow(call: Call, reply: Reply, closeConnection: boolean): Promise<void> {
    const { res, exchange } = call;
    const ends = reply.lasts && this.drain.hasBegun;
    const outflow = ends ? undefined : Outflow.open(this.outflows, reply, () => this.cutOff(call));
    if (outflow === undefined) {
      reply.discard?.();
      if (ends) this.cutOff(call);
      else this.finish(call, this.pipeline.errorReply(overloaded('answers')), closeConnection);
      return;
    }
    call.outflow = outflow;
    if (reply.lasts) this.lasting.add(call);
    this.pipeline.record(exchange, reply.status);
    try {
      if (await outflow.send(this.engine, res, reply, exchange, closeConnection)) this.settle(call);
    } catch (error) {
      this.options.log.error(
        { err: error, requestId: exchange.requestId },
        'a response was cut off by an error',
      );
      this.cutOff(call);
    }
  }

  /** Closes the connection of a call that can come to no good end. */
  private cutOff(call: Call): void {
    if (call.isOver) return;
    this.abandon(call);
    this.engine.destroy(call.res);
  }

  private send(
    res: object,
    exchange: Exchange,
    reply: Reply,
    closeConnection: boolean,
    isLate: boolean,
  ): void {
    this.engine.send(res, reply, exchange, closeConnection, isLate);
    this.pipeline.record(exchange, reply.status);
  }
}
