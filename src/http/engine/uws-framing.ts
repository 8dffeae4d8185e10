import { BAD_FRAMING, UNSURE_END } from './engine.ts';
import type { UwsRequest } from './uws-api.ts';
import { headerKey } from './uws-header-key.ts';

const CONTENT_LENGTH = headerKey('content-length');
const TRANSFER_ENCODING = headerKey('transfer-encoding');

/** More digits than the longest body has, and few enough to stay exact. */
const LENGTH = /^\d{1,15}$/;

/**
 * Tells the length of a body. The engine reads the first `Content-Length` and the first `Transfer-Encoding` and lets
 * pass what a proxy may read otherwise, which is how a request is smuggled past it: further ones, other codings. It
 * reads chunks loosely, too, so the place where a chunked body ends is unsure.
 * @returns bytes, 0 for no body, `BAD_FRAMING` or `UNSURE_END`
 */
export function bodyLengthOf(req: UwsRequest): number {
  const length = req.getHeader(CONTENT_LENGTH);
  const coding = req.getHeader(TRANSFER_ENCODING);
  return length === '' && coding === '' ? 0 : framedLength(req, length, coding);
}

function framedLength(req: UwsRequest, length: string, coding: string): number {
  let headers = 0;
  req.forEach((name) => {
    if (name === 'content-length' || name === 'transfer-encoding') headers++;
  });
  if (headers !== 1) return BAD_FRAMING;
  if (coding !== '') return coding.toLowerCase() === 'chunked' ? UNSURE_END : BAD_FRAMING;
  return LENGTH.test(length) ? Number(length) : BAD_FRAMING;
}
