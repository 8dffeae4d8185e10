import { getOrPut } from '../../domain/get-or-put.ts';
import type { Sample } from './sample.ts';

export interface Film {
  readonly itemId: string;
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

export interface Answers {
  /** Films that it recommends to a user, as ids, best first. */
  recommended(userId: string): Promise<readonly string[]>;
  /** The same of a genre. */
  ofGenre(userId: string, genre: string): Promise<readonly string[]>;
  /** Similarity of the films that are most like a film. */
  likeness(itemId: string): Promise<readonly number[]>;
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
/** Users of each genre with the most marked taste, of all of whom the clearest is taken. */
const CANDIDATES = 10;
/** The films that so many like most, of all or of a genre, would be shown to everybody. */
const POPULAR = 200;
const POPULAR_OF_GENRE = 10;
/** The title of a film that fewer like says nothing to most people. */
const KNOWN_MIN = 3;
const SHOWN = 5;
const TASTES = 2;

/**
 * The users and the films for the tour. First the users whose likes lie furthest from everybody's; of them, for each genre,
 * the one to whom most films of that taste are recommended, in the list of all and in that of the genre, that are known and not
 * popular anyway: a person sees at a glance that they are personal. Of these the clearest two. Then the film of each that the
 * films beside it are most alike to. The same sample and the same model give the same users and films.
 * @returns the clearest first
 */
export async function pickTastes(sample: Sample, answers: Answers): Promise<Taste[]> {
  const films = new Map(
    sample.items.map(({ ItemId, Comment, Labels }): [string, Film] => [
      ItemId,
      { itemId: ItemId, title: Comment, genres: Labels },
    ]),
  );
  const likes = sample.feedback.filter(({ FeedbackType }) => FeedbackType === 'like');
  const likesByUser = new Map<string, string[]>();
  for (const { UserId, ItemId } of likes) getOrPut(likesByUser, UserId, () => []).push(ItemId);
  const counts = countBy(likes.map(({ ItemId }) => ItemId));
  const mostLiked = [...films.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const isOf = (itemId: string, genre: string) => films.get(itemId)?.genres.includes(genre) ?? false;
  const popular = new Set(mostLiked.slice(0, POPULAR));

  const clearest: { readonly candidate: Candidate; readonly clarity: number }[] = [];
  for (const [genre, candidates] of candidatesByGenre(films, likesByUser)) {
    const popularOfIt = mostLiked.filter((itemId) => isOf(itemId, genre)).slice(0, POPULAR_OF_GENRE);
    const isTelling = (itemId: string) =>
      isOf(itemId, genre) &&
      !popular.has(itemId) &&
      !popularOfIt.includes(itemId) &&
      (counts.get(itemId) ?? 0) >= KNOWN_MIN;
    for (const candidate of candidates) {
      const { userId, lift } = candidate;
      const lists = [await answers.recommended(userId), await answers.ofGenre(userId, genre)];
      const shares = lists.map((itemIds) => itemIds.filter(isTelling).length / Math.max(1, itemIds.length));
      clearest.push({ candidate, clarity: shares.reduce((sum, share) => sum + share, lift) });
    }
  }
  clearest.sort((a, b) => b.clarity - a.clarity);
  const tastes: Taste[] = [];
  for (const { candidate } of clearest) {
    const { userId, genre } = candidate;
    if (tastes.some((taste) => taste.userId === userId || taste.genre === genre)) continue;
    const liked = likesByUser.get(userId)!.filter((itemId) => isOf(itemId, genre));
    const likedItemId = await mostTelling(liked, counts, answers);
    const shown = liked.slice(0, SHOWN).map((itemId) => films.get(itemId)!);
    tastes.push({ userId, genre, likedItemId, liked: shown });
    if (tastes.length === TASTES) break;
  }
  if (tastes.length === 0) throw new Error('the sample has no user with enough likes');
  return tastes;
}

/** By genre the users whose likes lie furthest from everybody's, the furthest first. */
function candidatesByGenre(
  films: ReadonlyMap<string, Film>,
  likesByUser: ReadonlyMap<string, readonly string[]>,
): Map<string, Candidate[]> {
  const genresOf = (itemIds: readonly string[]) =>
    itemIds.flatMap((itemId) => films.get(itemId)?.genres ?? []);
  const all = [...likesByUser.values()].flat();
  const common = countBy(genresOf(all));
  const byGenre = new Map<string, Candidate[]>();
  for (const [genre, count] of countBy(genresOf([...films.keys()])))
    if (count >= FILMS_MIN) byGenre.set(genre, []);
  for (const [userId, itemIds] of likesByUser) {
    if (itemIds.length < LIKES_MIN || itemIds.length > LIKES_MAX) continue;
    for (const [genre, count] of countBy(genresOf(itemIds))) {
      const lift = count / itemIds.length - common.get(genre)! / all.length;
      byGenre.get(genre)?.push({ userId, genre, lift });
    }
  }
  for (const [genre, candidates] of byGenre)
    byGenre.set(genre, candidates.sort((a, b) => b.lift - a.lift).slice(0, CANDIDATES));
  return byGenre;
}

/** The film whose neighbors are most like it; of several the one that most people like. */
async function mostTelling(
  itemIds: readonly string[],
  counts: ReadonlyMap<string, number>,
  { likeness }: Answers,
): Promise<string> {
  const known = itemIds.toSorted((a, b) => counts.get(b)! - counts.get(a)!);
  let best = { itemId: '', sum: Number.NEGATIVE_INFINITY };
  for (const itemId of known) {
    const sum = (await likeness(itemId)).reduce((total, score) => total + score, 0);
    if (sum > best.sum) best = { itemId, sum };
  }
  return best.itemId;
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
