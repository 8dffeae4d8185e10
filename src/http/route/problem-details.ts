import type { Problem } from '../../domain/api-schemas.ts';
import { ERRORS, type ErrorCode, type FurzeError } from '../../domain/furze-error.ts';
import type { Reply, ReplyHeaders } from './reply.ts';

/** Where the service describes its errors; a problem's `type` is this page and the code as fragment. */
export const ERRORS_PATH = '/apidocs/errors';

/** Seconds after which a caller may try again; stands beside every 503. */
export const RETRY_AFTER = ['Retry-After', '1'] as const;

/** An error as problem details (RFC 9457). */
function problemReply(error: FurzeError, headers: ReplyHeaders = []): Reply {
  const { status, title } = ERRORS[error.code];
  const problem: Problem = {
    type: problemType(error.code),
    title,
    status,
    detail: error.message,
    code: error.code,
    ...(error.places.length > 0 && { errors: error.places.map(({ path, message }) => ({ path, message })) }),
  };
  return {
    status,
    contentType: 'application/problem+json; charset=utf-8',
    body: JSON.stringify(problem),
    headers: status === 503 ? [...headers, RETRY_AFTER] : headers,
  };
}

/** The form of an answer to an error, as in `[server] error_format`. */
export type ErrorFormat = 'problem' | 'text';

/** Makes the answer to an error. */
export type ErrorReply = (error: FurzeError, headers?: ReplyHeaders) => Reply;

/** The maker of answers to errors in one format. */
export function errorReplyAs(format: ErrorFormat): ErrorReply {
  return format === 'problem' ? problemReply : textReply;
}

/** An error as a sentence, for clients that show the body as it is. */
function textReply(error: FurzeError, headers: ReplyHeaders = []): Reply {
  return { ...problemReply(error, headers), contentType: 'text/plain; charset=utf-8', body: error.message };
}

/** The `type` of a problem, relative to the server. */
export function problemType(code: ErrorCode): string {
  return `${ERRORS_PATH}#${code}`;
}
