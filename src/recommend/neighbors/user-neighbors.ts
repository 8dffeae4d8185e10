import type { LocalReads } from '../../store/data-store.ts';
import type { History, TypeTest } from '../history/history.ts';
import type { GenerationSlot } from '../models/generation.ts';
import type { Ranked } from '../ranked.ts';
import type { FindRelated, NeighborType } from './item-neighbors.ts';
import { askedUser, userRelation } from './items-of-users.ts';

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
