import type { Sample } from './sample.ts';

/** A film as the tour shows it. */
export interface Film {
  /** Absent where an older playground has loaded the sample. */
  readonly itemId?: string;
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

/** What the service answers, as item ids. */
export interface Answers {
  recommended(userId: string): Promise<readonly string[]>;
  /** What everybody likes. */
  popular(): Promise<readonly string[]>;
}

interface Candidate {
  readonly userId: string;
  readonly genre: string;
  /** The genre's share of the user's likes less its share of all likes, up to 1. */
  readonly lift: number;
}

/** Too few likes teach the model little, too many are seldom of one kind. */
const LIKES_MIN = 12;
const LIKES_MAX = 60;
/** Genres of which the sample has too few films to fill a list are left out. */
const FILMS_MIN = 250;
/** Users with the most marked taste, of whom the clearest is taken. */
const CANDIDATES = 100;
/** Liked films that are shown. */
const SHOWN = 6;

/**
 * The user for the tour. First the users whose likes lie furthest from everybody's; of them the one whose
 * recommendations follow that taste most with films that are not what everybody likes, so that a person sees at a
 * glance that they are personal. The same sample and the same model give the same user.
 */
export async function pickTaste(sample: Sample, answers: Answers): Promise<Taste> {
  const films = new Map(
    sample.items.map(({ ItemId, Comment, Labels }): [string, Film] => [
      ItemId,
      { itemId: ItemId, title: Comment, genres: Labels },
    ]),
  );
  const filmsOf = (itemIds: readonly string[]) => itemIds.flatMap((itemId) => films.get(itemId) ?? []);
  const likes = sample.feedback.filter(({ FeedbackType }) => FeedbackType === 'like');
  const likesByUser = new Map<string, string[]>();
  for (const { UserId, ItemId } of likes) {
    const itemIds = likesByUser.get(UserId);
    if (itemIds === undefined) likesByUser.set(UserId, [ItemId]);
    else itemIds.push(ItemId);
  }
  const common = shares(filmsOf(likes.map(({ ItemId }) => ItemId)));
  const filmCounts = countGenres(films.values());

  const candidates: Candidate[] = [];
  for (const [userId, itemIds] of likesByUser) {
    if (itemIds.length < LIKES_MIN || itemIds.length > LIKES_MAX) continue;
    for (const [genre, share] of shares(filmsOf(itemIds))) {
      if ((filmCounts.get(genre) ?? 0) < FILMS_MIN) continue;
      candidates.push({ userId, genre, lift: share - (common.get(genre) ?? 0) });
    }
  }
  candidates.sort((a, b) => b.lift - a.lift);

  const popular = new Set(await answers.popular());
  let best: Candidate | undefined;
  let bestClarity = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates.slice(0, CANDIDATES)) {
    const { userId, genre, lift } = candidate;
    const itemIds = await answers.recommended(userId);
    const personal = filmsOf(itemIds.filter((itemId) => !popular.has(itemId)));
    const fitting = personal.filter(({ genres }) => genres.includes(genre)).length;
    const clarity = lift + fitting / Math.max(1, itemIds.length);
    if (clarity > bestClarity) [best, bestClarity] = [candidate, clarity];
  }
  if (best === undefined) throw new Error('the sample has no user with enough likes');
  const { userId, genre } = best;
  const likedItemIds = (likesByUser.get(userId) ?? []).filter((itemId) =>
    films.get(itemId)?.genres.includes(genre),
  );
  return { userId, genre, likedItemId: likedItemIds[0] ?? '', liked: filmsOf(likedItemIds.slice(0, SHOWN)) };
}

/** Each genre's share of the films, 0 to 1. */
function shares(films: readonly Film[]): Map<string, number> {
  return new Map(Array.from(countGenres(films), ([genre, count]) => [genre, count / films.length]));
}

function countGenres(films: Iterable<Film>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { genres } of films) for (const genre of genres) counts.set(genre, (counts.get(genre) ?? 0) + 1);
  return counts;
}
