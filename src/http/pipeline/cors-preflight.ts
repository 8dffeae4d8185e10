import type { Reply } from '../route/reply.ts';

const CORS_HEADERS = 'Content-Type, X-API-Key, X-API-Version, Authorization, X-Request-ID';

/** The answer to a browser that asks what pages of other origins may send. @param allow methods of the path */
export function preflight(allow: string): Reply {
  return {
    status: 204,
    contentType: '',
    body: '',
    headers: [
      ['Allow', allow],
      ['Access-Control-Allow-Methods', allow],
      ['Access-Control-Allow-Headers', CORS_HEADERS],
      ['Access-Control-Max-Age', '86400'],
    ],
  };
}
