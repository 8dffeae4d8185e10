import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** Asks the running service over HTTP, like any caller, and reads the JSON answer. */
export type Caller = <T>(path: string, method?: 'GET' | 'POST') => Promise<T>;

/**
 * @param url the service's address without a path
 * @param apiKey what the service wants as X-API-Key; empty for nothing
 */
export function createCaller(url: string, apiKey: string): Caller {
  const headers: Record<string, string> = apiKey === '' ? {} : { 'X-API-Key': apiKey };
  return async <T>(path: string, method: 'GET' | 'POST' = 'GET'): Promise<T> => {
    // Not fetch, which takes a tenth of a second to load.
    const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'));
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url + path, { headers, method }, resolve)
        .on('error', reject)
        .end();
    });
    const body = await text(response);
    if (Math.trunc(response.statusCode! / 100) !== 2)
      throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${body}`);
    return JSON.parse(body) as T;
  };
}

/** The path of a user's recommendations. @param category of that alone; of all when absent */
export function recommendPath(userId: string, n: number, category?: string): string {
  const parts = category === undefined ? [userId] : [userId, category];
  return `/api/recommend/${parts.map(encodeURIComponent).join('/')}?n=${n}`;
}

/** The path of the items that are like an item. */
export function neighborsPath(itemId: string, n: number): string {
  return `/api/item/${encodeURIComponent(itemId)}/neighbors?n=${n}`;
}
