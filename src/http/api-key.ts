import { createHash, timingSafeEqual } from 'node:crypto';

/** The headers that can carry a key, `""` when absent. */
export interface KeyHeaders {
  readonly apiKey: string;
  readonly authorization: string;
}

/**
 * Makes the check of the API key. Both sides are hashed, so the comparison takes the same time whatever the length
 * and the content of what was sent.
 * @param apiKey the secret, or `""` when no key is needed
 * @returns tells whether a request may pass; `bearer` when `Authorization: Bearer` counts too
 */
export function createKeyCheck(apiKey: string): (headers: KeyHeaders, bearer: boolean) => boolean {
  if (apiKey === '') return () => true;
  const expected = digest(apiKey);
  const fits = (sent: string) => timingSafeEqual(digest(sent), expected);
  return (headers, bearer) => {
    const viaKey = fits(headers.apiKey);
    const token = /^bearer +(.*)$/i.exec(headers.authorization)?.[1] ?? '';
    return viaKey || (bearer && fits(token));
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
