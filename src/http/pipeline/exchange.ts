import type { Query } from '../route/query-parameters.ts';
import type { Reply } from '../route/reply.ts';
import type { Caller, Headers } from './access.ts';
import type { HandledRequest } from './handled-request.ts';
import type { Match } from './router.ts';

export interface RequestHead extends Headers {
  /** In capitals. */
  readonly method: string;
  /** Encoded, without the query. */
  readonly path: string;
  /** Encoded, without the question mark. */
  readonly query: string;
}

/** A request between its head and its answer. */
export interface Exchange {
  readonly requestId: string;
  readonly method: string;
  readonly startMs: number;
  /** The trace that the request belongs to, `''` for none and where nobody asks for traces. */
  readonly traceParent: string;
  readonly routeNumber: number;
  /** The answer that the head alone decided, or undefined when the handler is to run. */
  readonly refusal: Reply | undefined;
  readonly match: Match | undefined;
  readonly query: Query | undefined;
  readonly caller: Caller;
  /** Which version of Gorse's API the caller has asked for; `''` on a route that is the same in all. */
  readonly apiVersion: string;
  /** The request as its handler has it, once it runs. */
  request: HandledRequest | undefined;
}
