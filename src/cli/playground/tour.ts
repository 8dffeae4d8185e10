import type { Item } from '../../domain/entities.ts';
import type { Film, Taste } from './taste.ts';

/** Entries in each list of the tour. */
const SHOWN = 5;

/**
 * What to try: three requests to paste, and what the first of them answers just now, asked over HTTP like any caller.
 * @param url the service's address without a path
 * @param apiKey what the service wants as X-API-Key; empty for nothing
 */
export async function describeTour(url: string, apiKey: string, taste: Taste): Promise<string> {
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(url + path, { headers: apiKey === '' ? {} : { 'X-API-Key': apiKey } });
    if (!response.ok)
      throw new Error(`GET ${path} was answered with ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const recommend = `/api/recommend/${encodeURIComponent(taste.userId)}?n=${SHOWN}`;
  const itemIds = await ask<string[]>(recommend);
  const recommended = await Promise.all(
    itemIds.map((itemId) => ask<Item>(`/api/item/${encodeURIComponent(itemId)}`)),
  );
  const key = apiKey === '' ? '' : ` -H "X-API-Key: $FURZE_SERVER_API_KEY"`;
  const paths = [
    recommend,
    `/api/item/${encodeURIComponent(taste.likedItemId)}/neighbors?n=${SHOWN}`,
    `/api/popular/${encodeURIComponent(taste.genre)}?n=${SHOWN}`,
  ];
  return `
User ${taste.userId} likes ${taste.genre}. Some of the films the user liked:
${filmLines(taste.liked)}
What the service recommends to the user:
${filmLines(recommended.map(({ Comment, Labels }) => ({ title: Comment, genres: Labels })))}
Try it:
${paths.map((path) => `  curl '${url}${path}'${key}`).join('\n')}

API page: ${url}/apidocs
Stop with Ctrl-C.
`;
}

function filmLines(films: readonly Film[]): string {
  return films.map(({ title, genres }) => `  ${title} - ${genres.join(', ')}\n`).join('');
}
