import { FurzeError, isProgramFault, messageOf } from '../../domain/furze-error.ts';

/** The database, or the way to it, is not there: what was asked of it may be asked again later: a 503 wherever nobody says more. */
export class DatabaseAwayError extends FurzeError {
  constructor(cause: unknown) {
    super('STORE_UNAVAILABLE', messageOf(cause));
    this.cause = cause;
    this.name = 'DatabaseAwayError';
  }
}

/**
 * Classes and codes of SQL errors that say that the server cannot do it now: connections, no resources, a server that stops or
 * starts, its input and output, transactions that others stood in the way of, one that was ended for being idle, a standby. A
 * server that lets this user in no more, or to what there is, does so until somebody mends it.
 */
const NOT_NOW = /^(08|28|3D|53|57|58|40|42501|55P03|25P03|25006)/;
const SQL_STATE = /^[0-9A-Z]{5}$/;

/**
 * The one classification of what a connection fails with. What the server refuses, and faults of this program, stay what they are;
 * everything else, be it of a socket, of TLS or of the driver, means that the database is away.
 */
export function classified(error: unknown): unknown {
  if (error instanceof DatabaseAwayError || isProgramFault(error)) return error;
  const state = sqlStateOf(error);
  return state === undefined || NOT_NOW.test(state) ? new DatabaseAwayError(error) : error;
}

/** The code of an error that the server has sent; undefined for any other. */
export function sqlStateOf(error: unknown): string | undefined {
  // Codes of the system, such as EPIPE, may look the same; what the server sends has a severity beside it.
  const { code, severity } = Object(error) as { readonly code?: unknown; readonly severity?: unknown };
  const isOfServer = typeof severity === 'string' && typeof code === 'string' && SQL_STATE.test(code);
  return isOfServer ? code : undefined;
}

/** True for an error that says that the database is away, not that it refused what it was asked. */
export function isAway(error: unknown): boolean {
  return error instanceof DatabaseAwayError;
}
