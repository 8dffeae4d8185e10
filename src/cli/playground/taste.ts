import type { Sample } from './sample.ts';

/** A film as the tour shows it. */
export interface Film {
  readonly title: string;
  readonly genres: readonly string[];
}

/** A user whose likes speak for themselves. */
export interface Taste {
  readonly userId: string;
  /** The genre that sets the user apart. */
  readonly genre: string;
  readonly likedItemId: string;
  readonly liked: readonly Film[];
}

/** Too few likes teach the model little, too many are never of one kind. */
const LIKES_MIN = 12;
const LIKES_MAX = 60;
/** Genres of which the sample has too few films to fill a list are left out. */
const FILMS_MIN = 250;
/** Liked films that are shown. */
const SHOWN = 6;

/**
 * The user whose likes lie furthest from everybody's: the largest difference between a genre's share of the user's
 * likes and its share of all likes. The same sample gives the same user.
 */
export function pickTaste(sample: Sample): Taste {
  const films = new Map(
    sample.items.map((item) => [item.ItemId, { title: item.Comment, genres: item.Labels }]),
  );
  const filmCounts = countGenres(films.values());
  const likes = sample.feedback.filter(({ FeedbackType }) => FeedbackType === 'like');
  const itemIdsByUser = new Map<string, string[]>();
  for (const { UserId, ItemId } of likes) {
    const itemIds = itemIdsByUser.get(UserId);
    if (itemIds === undefined) itemIdsByUser.set(UserId, [ItemId]);
    else itemIds.push(ItemId);
  }
  const likeCounts = countGenres(likes.map(({ ItemId }) => films.get(ItemId) as Film));

  let best = { lift: -1, userId: '', genre: '' };
  for (const [userId, itemIds] of itemIdsByUser) {
    if (itemIds.length < LIKES_MIN || itemIds.length > LIKES_MAX) continue;
    for (const [genre, count] of countGenres(itemIds.map((itemId) => films.get(itemId) as Film))) {
      if ((filmCounts.get(genre) ?? 0) < FILMS_MIN) continue;
      const lift = count / itemIds.length - (likeCounts.get(genre) ?? 0) / likes.length;
      if (lift > best.lift) best = { lift, userId, genre };
    }
  }
  const inGenre = (itemIdsByUser.get(best.userId) ?? []).filter((itemId) =>
    films.get(itemId)?.genres.includes(best.genre),
  );
  if (inGenre[0] === undefined) throw new Error('the sample has no user with enough likes');
  const liked = inGenre.slice(0, SHOWN).map((itemId) => films.get(itemId) as Film);
  return { userId: best.userId, genre: best.genre, likedItemId: inGenre[0], liked };
}

function countGenres(films: Iterable<Film>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { genres } of films) for (const genre of genres) counts.set(genre, (counts.get(genre) ?? 0) + 1);
  return counts;
}
