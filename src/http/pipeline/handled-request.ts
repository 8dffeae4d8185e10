import type { Query } from '../route/query-parameters.ts';
import type { RouteRequest } from '../route/route.ts';
import { ANYBODY, type Caller } from './access.ts';

/** A request in the hands of its handler. */
export class HandledRequest implements RouteRequest<Readonly<Record<string, string>>> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly apiVersion: string;
  readonly caller: Caller;
  private controller: AbortController | undefined;

  constructor(
    params: Readonly<Record<string, string>>,
    query: Query,
    body: Uint8Array<ArrayBuffer>,
    apiVersion: string,
    caller = ANYBODY,
  ) {
    this.params = params;
    this.query = query;
    this.body = body;
    this.apiVersion = apiVersion;
    this.caller = caller;
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  /** True once nobody waits for the answer. */
  get isAbandoned(): boolean {
    return this.controller?.signal.aborted === true;
  }

  /** Tells whoever asked for the signal, or asks later on. */
  abandon(): void {
    this.controller ??= new AbortController();
    this.controller.abort();
  }
}
