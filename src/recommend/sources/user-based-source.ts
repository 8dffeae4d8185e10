import { NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import { readAhead } from '../history/histories.ts';
import { itemsOfUsers, SUMS_MAX, USERS_ASKED } from '../neighbors/items-of-users.ts';
import { likesInStore } from '../neighbors/kept-likes.ts';
import type { UserNeighbors } from '../neighbors/user-neighbors.ts';
import type { Matcher } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** Items liked by the users most like this one. */
export class UserBasedSource implements Source {
  private readonly parts: {
    readonly reads: LocalReads;
    readonly catalogue: Catalogue;
    readonly userNeighbors: UserNeighbors;
    readonly isPositive: TypeTest;
  };

  private readonly queue = new BoundedQueue({ atWorkMax: SUMS_MAX, refusedFor: 'neighbors' });

  constructor(parts: UserBasedSource['parts']) {
    this.parts = parts;
  }

  /** @throws FurzeError OVERLOADED when too many wait; the reason of the caller's signal once it is aborted */
  async rank(ask: Ask): Promise<Ranked> {
    if (ask.history.userRow < 0) return NOTHING;
    return this.queue.run(() => this.ranked(ask), ask.caller?.signal);
  }

  private async ranked({ history, k, accept, caller }: Ask): Promise<Ranked> {
    const { reads, isPositive, catalogue, userNeighbors } = this.parts;
    const users = await userNeighbors.of(history, USERS_ASKED, caller?.signal);
    const isWanted = (row: number) => catalogue.isListable(row) && accept(row);
    for (const row of users.rows) await readAhead(reads, row);
    const likesOf = likesInStore(reads, history.likes(isPositive));
    return inTurns(itemsOfUsers(users, likesOf, reads.itemRowCount, k, isWanted), caller?.signal);
  }
}

/** A newcomer's few likes are not asked of others: whoever likes it is looked for when the list is made again. */
export const userBasedMatcher: Matcher = {
  lists: ({ inputs, settings, history, accept }) =>
    settings.user_based ? [inputs.userBased(history, accept)] : [],
  proposes: () => () => false,
};
