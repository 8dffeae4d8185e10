import { isByLabels, type NeighborType } from '../../domain/neighbor-type.ts';
import { viewOf } from '../../memory/array-layout.ts';
import { placeOf } from '../../memory/binary-search.ts';
import type { PlacedSimilarity } from '../../model/neighbors/memory-layout.ts';
import type { PlacedUsers } from '../../model/neighbors/train-and-serve-users.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { History } from '../history/history.ts';
import type { AskedUser, GenerationSlot } from '../models/generation.ts';
import type { Ranked } from '../rows/ranked-rows.ts';
import type { FindRelated } from './item-neighbors.ts';
import type { Relation } from './neighbors-from-store.ts';

/** Likes that a user is compared by at most, the latest: nobody is better told by more. */
const LIKES_COMPARED_MAX = 5000;
/**
 * Additions that one comparison may come to: some ten milliseconds. A like costs as many as there are users who have it,
 * so a user with very many likes of popular items is compared by the latest of them.
 */
const ADDITIONS_MAX = 2 ** 23;

/** What users are compared by. */
export function userRelation(type: NeighborType, hasLabels: boolean): Relation {
  return isByLabels(type, hasLabels) ? 'users-by-labels' : 'users-by-items';
}

/** The user as somebody whose like are looked for. */
export function askedUser(history: History, relation: Relation, isPositive: TypeTest): AskedUser {
  const { userRow } = history;
  if (relation === 'users-by-labels') return { userRow, likedRows: undefined };
  return { userRow, likedRows: Uint32Array.from(history.positiveRows(isPositive, LIKES_COMPARED_MAX)) };
}

/** The places of those of the liked items that were laid out, the latest first, as many as may be compared; one at least. */
export function comparedItems(
  { rows }: PlacedUsers,
  { memory, layout }: PlacedSimilarity,
  likedRows: Uint32Array,
  additionsMax = ADDITIONS_MAX,
): number[] {
  const starts = viewOf(memory, layout, 'elementStarts', 'u32');
  const places: number[] = [];
  let additions = 0;
  for (const row of likedRows) {
    const place = placeOf(rows.items, row);
    if (place < 0) continue;
    additions += starts[place + 1]! - starts[place]!;
    if (additions > additionsMax && places.length > 0) break;
    places.push(place);
  }
  return places;
}

/** Users like a user: compared in what the last fit laid out, else by a walk through the store. */
export class UserNeighbors {
  private readonly parts: {
    readonly reads: LocalReads;
    readonly generations: GenerationSlot;
    readonly findRelated: FindRelated;
    readonly isPositive: TypeTest;
    readonly type: NeighborType;
  };

  constructor(parts: UserNeighbors['parts']) {
    this.parts = parts;
  }

  /** The `k` users most like the one of the history, best first; some may be gone. */
  async of(history: History, k: number, signal?: AbortSignal): Promise<Ranked> {
    const { reads, generations, findRelated, isPositive, type } = this.parts;
    const { userRow } = history;
    const relation = userRelation(type, (reads.userAt(userRow)?.Labels.length ?? 0) > 0);
    const asked = askedUser(history, relation, isPositive);
    return (
      (await generations.current?.similarUsers?.(asked, k, signal)) ??
      (await findRelated(relation, userRow, k, signal))
    );
  }
}
