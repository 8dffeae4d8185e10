import type { Item, ScoredEntry } from '../../domain/entities.ts';
import { type Caller, neighborsPath, recommendPath } from './caller.ts';
import type { Film, Taste } from './tour-user.ts';

/** Entries in each list of the tour. */
export const TOUR_ENTRIES = 5;

/**
 * Things to try: three requests to paste, and the present answer of the first.
 * @param url the service's address without a path
 * @param withKey true when the requests must send the key
 */
export async function describeTour(
  ask: Caller,
  url: string,
  withKey: boolean,
  taste: Taste,
): Promise<string> {
  const { userId, genre, likedItemId } = taste;
  const recommend = recommendPath(userId, TOUR_ENTRIES, genre);
  const popularOfIt = `/api/popular/${encodeURIComponent(genre)}?n=${TOUR_ENTRIES}`;
  const filmsOf = (itemIds: readonly string[]) => Promise.all(itemIds.map((itemId) => askFilm(ask, itemId)));
  const recommended = await filmsOf(await ask<string[]>(recommend));
  const popular = await ask<ScoredEntry[]>(popularOfIt);
  const key = withKey ? ' -H "X-API-Key: $FURZE_SERVER_API_KEY"' : '';
  const paths = [recommend, neighborsPath(likedItemId, TOUR_ENTRIES), popularOfIt];
  return `
User ${userId} likes ${genre}. Some of the films the user liked:
${filmLines(taste.liked)}
What the service recommends to the user in that genre:
${filmLines(recommended)}
What is popular in it with everybody:
${filmLines(await filmsOf(popular.map(({ Id }) => Id)))}
Try it:
${paths.map((path) => `  curl '${url}${path}'${key}`).join('\n')}

Dashboard: ${url}/#/try/${encodeURIComponent(userId)}
API page: ${url}/apidocs
Stop with Ctrl-C.
`;
}

async function askFilm(ask: Caller, itemId: string): Promise<Film> {
  const { Comment, Labels } = await ask<Item>(`/api/item/${encodeURIComponent(itemId)}`);
  return { itemId, title: Comment, genres: Labels };
}

function filmLines(films: readonly Film[]): string {
  return films
    .map(({ itemId = '', title, genres }) => `  ${itemId.padEnd(8)} ${title} - ${genres.join(', ')}\n`)
    .join('');
}
