import type { TSchema } from 'typebox';
import type { ErrorCode } from '../../domain/furze-error.ts';
import type { Role } from '../../domain/roles.ts';
import type { Query, QueryName } from './query-parameters.ts';
import type { Reply } from './reply.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The names between braces in a path, as the keys of an object. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name | keyof ParamsOf<Rest>]: string }
  : Readonly<Record<never, string>>;

/** A request as a handler sees it: parsed and checked, free of any transport. */
export interface RouteRequest<Params> {
  /** Path parameters by name, decoded. */
  readonly params: Params;
  readonly query: Query;
  /** The body as it came; empty on a route without one. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The value of `X-API-Version` on a route that is `versioned`, else `''`. */
  readonly apiVersion: string;
  /** The holder of the key: its name, `''` where none is asked for, and what it may do. */
  readonly caller: { readonly name: string; readonly role: Role };
  /** Aborted when the caller is gone before the answer; made when it is first asked for, so ask for it at once. */
  readonly signal: AbortSignal;
}

export type EarlyHandler<Params> = (
  request: RouteRequest<Params>,
  services: Services,
) => Reply | Promise<Reply> | undefined;

export type Handler<Params> = (request: RouteRequest<Params>, services: Services) => Reply | Promise<Reply>;

/**
 * Everything that is said about a route. Registration, checks, the OpenAPI document, the labels of metrics and the
 * docs page all read it.
 */
export interface Route {
  readonly method: Method;
  /** With parameters in braces, as in `/api/user/{user-id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly QueryName[];
  /** The body that the route takes, JSON unless it says otherwise; without it a body is ignored. */
  readonly body?: { readonly contentType?: string; readonly schema: TSchema; readonly example: unknown };
  readonly response: RouteResponse;
  /** Errors of the route beside those of every route of its shape. */
  readonly errors?: readonly ErrorCode[];
  /** Needs no API key. */
  readonly open?: boolean;
  /** Stores nothing although its method is none that reads. */
  readonly reads?: boolean;
  /** The role that a key needs where the route writes; `write` when absent. What takes `own` the log of changes tells. */
  readonly needs?: Role;
  /** Answers otherwise by `X-API-Version`, as Gorse does. */
  readonly versioned?: boolean;
  /** Takes the API key as `Authorization: Bearer` too. */
  readonly bearer?: boolean;
  readonly handler: Handler<Readonly<Record<string, string>>>;
  /** Asks no model: answered by the handler while they are still read back at a start. */
  readonly needsNoModel?: boolean;
  /** Answers without models while they are read back at a start; undefined for a request that waits until they are. */
  readonly early?: EarlyHandler<Readonly<Record<string, string>>>;
}

export interface RouteResponse {
  readonly description: string;
  /** `application/json` when absent. */
  readonly contentType?: string;
  readonly schema?: TSchema;
  readonly example?: unknown;
  /** Statuses besides 200 that carry the same body, with what they mean. */
  readonly also?: Readonly<Record<number, string>>;
  /** Headers that only this route answers, with what they mean. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route with its handler typed by the parameters in its path. */
type TypedRoute<Path extends string> = Omit<Route, 'path' | 'handler' | 'early'> & {
  readonly path: Path;
  readonly handler: Handler<ParamsOf<Path>>;
  readonly early?: EarlyHandler<ParamsOf<Path>>;
};

export function route<const Path extends string>(definition: TypedRoute<Path>): Route {
  return definition as unknown as Route;
}

/** The definition of the routes of a tag. */
export function routesOf(tag: string) {
  return <const Path extends string>(
    method: Method,
    path: Path,
    definition: Omit<TypedRoute<Path>, 'method' | 'path' | 'tag'>,
  ): Route => ({ ...definition, method, path, tag }) as unknown as Route;
}

/** True when a request of the route may store something, whatever its query says. */
export function writes({ method, reads }: Route): boolean {
  return method !== 'GET' && reads !== true;
}

/** True when what the route answers is made of the data: not health, metrics or the pages' own files. */
export function readsData(route: Route): boolean {
  return !writes(route) && route.open !== true && route.bearer !== true;
}

/** The names of a path's parameters, in order. */
export function paramNames(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]!);
}
