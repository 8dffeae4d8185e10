/**
 * The one catalogue of errors a caller can meet. Each has a stable code, an HTTP status and a title;
 * docs/errors.md documents every one (a test checks that it does).
 */
export const ERRORS = {
  INVALID_JSON: { status: 400, title: 'The body is not valid JSON' },
  INVALID_BODY: { status: 400, title: 'The body does not fit its schema' },
  INVALID_PARAMETER: { status: 400, title: 'A path or query parameter is not valid' },
  INVALID_CURSOR: { status: 400, title: 'The cursor was not made by this server' },
  BATCH_TOO_LARGE: { status: 413, title: 'The batch holds too many records' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The head of the request is too large' },
  BAD_REQUEST: { status: 400, title: 'The request is not valid' },
  UNAUTHORIZED: { status: 401, title: 'The API key is missing or wrong' },
  READ_ONLY_KEY: { status: 403, title: 'The API key may only read' },
  ROLE_LACKS: { status: 403, title: 'The API key has a role that may not do this' },
  FOREIGN_ORIGIN: { status: 403, title: 'Pages of this origin may not write' },
  FOREIGN_HOST: { status: 421, title: 'The service does not answer by this name' },
  ROUTE_NOT_FOUND: { status: 404, title: 'There is no such route' },
  USER_NOT_FOUND: { status: 404, title: 'There is no such user' },
  ITEM_NOT_FOUND: { status: 404, title: 'There is no such item' },
  FEEDBACK_NOT_FOUND: { status: 404, title: 'There is no such feedback' },
  PLACEMENT_NOT_FOUND: { status: 404, title: 'There is no such placement' },
  EXPERIMENT_NOT_FOUND: { status: 404, title: 'There is no such experiment' },
  SPACE_NOT_FOUND: { status: 404, title: 'There is no such vector space' },
  VECTOR_NOT_FOUND: { status: 404, title: 'The item has no such vector' },
  MODEL_NOT_FOUND: { status: 404, title: 'There is no such model' },
  CHANGED_MEANWHILE: { status: 409, title: 'It was changed meanwhile' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The route does not have this method' },
  STORE_UNAVAILABLE: { status: 503, title: 'The store is not available' },
  OVERLOADED: { status: 503, title: 'The service is shedding load' },
  INTERNAL: { status: 500, title: 'Internal error' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** One place in the input that is wrong; `path` is a JSON pointer into the body, or the parameter's name. */
export interface ErrorPlace {
  readonly path: string;
  readonly message: string;
}

/** An error that a caller is told of. It crosses threads as its plain fields (see `toPlain`). */
export class FurzeError extends Error {
  readonly code: ErrorCode;
  readonly places: readonly ErrorPlace[];

  /** @param detail one sentence for the caller; never holds a secret. */
  constructor(code: ErrorCode, detail: string, places: readonly ErrorPlace[] = []) {
    super(detail);
    this.name = 'FurzeError';
    this.code = code;
    this.places = places;
  }

  /** The error as an object that survives structured cloning. */
  toPlain(): PlainError {
    return { code: this.code, detail: this.message, places: this.places };
  }

  static fromPlain(plain: PlainError): FurzeError {
    return new FurzeError(plain.code, plain.detail, plain.places);
  }
}

export function noSuchUser(userId: string): FurzeError {
  return new FurzeError('USER_NOT_FOUND', `There is no user ${JSON.stringify(userId)}.`);
}

export function noSuchItem(itemId: string): FurzeError {
  return new FurzeError('ITEM_NOT_FOUND', `There is no item ${JSON.stringify(itemId)}.`);
}

export interface PlainError {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly places: readonly ErrorPlace[];
}

/** Message of an error, for people; that of a host with several addresses has a code alone. */
export function messageOf(error: unknown): string {
  const { message, code } = Object(error) as { readonly message?: string; readonly code?: unknown };
  return message || String(code ?? error);
}

/** Errors of LMDB and of the system beneath have their number as a code. */
export function isEngineError(error: unknown): boolean {
  return typeof (error as { code?: unknown } | undefined)?.code === 'number';
}

/** Errors of the language come of faults in a program, never of a disk or a network; errors of the system that are of these classes have a code. */
export function isProgramFault(error: unknown): boolean {
  const isOfLanguage = [TypeError, RangeError, SyntaxError, ReferenceError].some(
    (each) => error instanceof each,
  );
  return isOfLanguage && Object(error).code === undefined;
}

/** Saved state that is sound, but of another version or configuration; it is made anew. */
export class OtherForm extends FurzeError {
  constructor(message: string) {
    super('INTERNAL', message);
  }
}
