import type { Config } from '../../config/config.ts';
import type { Feedback, ScoredEntry } from '../../domain/entities.ts';
import type { ListName } from '../../store/shown-log.ts';
import type { ItemWishes } from '../catalogue/item-filter.ts';
import type { Discovery } from '../models/feature-names.ts';
import type { Caller } from './source.ts';

/** The question of a list endpoint; counts are after hidden, read and filtered items are left out. */
export interface ListQuery {
  readonly n: number;
  readonly offset: number;
  /** Only items that have all of these. */
  readonly categories: readonly string[];
  /** The name of the placement whose rules hold. */
  readonly placement?: string | undefined;
  /** In place of what is configured; see `withDiscovery`. */
  readonly discovery?: Discovery | undefined;
  /** Leave out what this user has feedback on that is in effect. */
  readonly userId?: string;
  readonly caller?: Caller | undefined;
}

/** The question of a search by vectors. */
export interface NearQuery extends ListQuery {
  /** Further conditions on the items. */
  readonly wishes?: ItemWishes | undefined;
}

export interface RecommendQuery extends Omit<ListQuery, 'userId'> {
  /** Further conditions on the items. */
  readonly wishes?: ItemWishes | undefined;
  /** Rules in place of those that the placement has, to see what they do. */
  readonly draft?: Config['placement'][string] | undefined;
  /** The item that the page is about, for placements of kinds that go by one. */
  readonly item?: string | undefined;
  /** Answer an object with score, source and reason of each item. */
  readonly details?: boolean | undefined;
  /** Write a feedback of this type for each item answered. */
  readonly writeBackType?: string;
  /** Added to the time of the answer to make the written feedback's Timestamp. */
  readonly writeBackDelayMs?: number;
  /** Answer scored entries in place of ids. */
  readonly scored?: boolean;
}

/** An answer as JSON text, ready to send. */
export interface Answered {
  readonly text: string;
  /** Recommenders that made it: names of `sourceOf`. */
  readonly source: string;
  /** Claims of the token of a placement's list; absent without a placement. */
  readonly claims?: Claims;
  /** Its token, where that was made before. */
  readonly token?: string;
  /** Id of the item that the list goes by; absent for none. */
  readonly seed?: string | undefined;
}

/** The name of a list that is answered now, for its token. */
export type NameList = (placement: string, claims: Claims, tookMs?: number) => ListName;

/** Facts of a list beside its placement. */
export type Claims = Pick<ListName, 'variant' | 'edition' | 'plan'>;

/** What made an answer, for `X-Furze-Source`, in the order in which they stand in it: the user's own list, recommenders, pins. */
export function sourceOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

/** Every list the service answers with. Unknown users, items and categories give empty or fall-back lists, never errors. */
export interface Recommender {
  latest(query: ListQuery): Promise<ScoredEntry[]>;
  popular(query: ListQuery): Promise<ScoredEntry[]>;
  itemNeighbors(itemId: string, query: ListQuery): Promise<ScoredEntry[]> | ScoredEntry[];
  userNeighbors(userId: string, query: ListQuery): Promise<ScoredEntry[]>;
  /** Items whose vectors in a space are most like that of an item; none for an item without. @throws FurzeError SPACE_NOT_FOUND */
  itemsLike(itemId: string, space: string, query: NearQuery): Promise<ScoredEntry[]>;
  /** Items whose vectors in a space are most like one of its dimensions. @throws FurzeError SPACE_NOT_FOUND */
  itemsNear(vector: Float32Array, space: string, query: NearQuery): Promise<ScoredEntry[]>;
  /** The answer is an array of item ids, or of scored entries if asked for. */
  recommend(userId: string, query: RecommendQuery): Promise<Answered> | Answered;
  /** The same where a list that is at hand has all of it, so that no model is asked; undefined otherwise. */
  recommendReady(userId: string, query: RecommendQuery): Answered | undefined;
  /** Token by which a placement's list is recognized later, and in an experiment how long it took; the list's own if it has one. */
  tokenOf(
    userId: string,
    placement: string,
    answer: Pick<Answered, 'claims' | 'token'>,
    tookMs?: number,
  ): string;
  /** The list of an experiment that could not be made for a user just now; undefined where none runs. */
  failed(userId: string, placement: string): ListName | undefined;
  session(
    feedback: readonly Feedback[],
    query: ListQuery,
  ): Promise<{ readonly entries: ScoredEntry[]; readonly source: string }>;
}
