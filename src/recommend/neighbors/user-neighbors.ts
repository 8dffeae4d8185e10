import { isByLabels, type NeighborType } from '../../domain/neighbor-type.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import type { AskedUser } from '../../model/neighbors/similar-users.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { History } from '../history/history.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import type { FindRelated } from './item-neighbors.ts';
import type { Relation } from './neighbors-from-store.ts';

/** Likes that a user is compared by at most, the latest: nobody is better told by more. */
const LIKES_COMPARED_MAX = 5000;
/** The relation that users are compared by. */
export function userRelation(type: NeighborType, hasLabels: boolean): Relation {
  return isByLabels(type, hasLabels) ? 'users-by-labels' : 'users-by-items';
}

/** The user as somebody whose like are looked for. */
export function askedUser(history: History, relation: Relation, isPositive: TypeTest): AskedUser {
  const { userRow } = history;
  if (relation === 'users-by-labels') return { userRow, likedRows: undefined };
  return { userRow, likedRows: Uint32Array.from(history.positiveRows(isPositive, LIKES_COMPARED_MAX)) };
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
      (await generations.similarUsers?.(asked, k, signal)) ??
      (await findRelated(relation, userRow, k, signal))
    );
  }
}
