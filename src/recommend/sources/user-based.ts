import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import { itemsOfUsers, USERS_ASKED } from '../neighbors/items-of-users.ts';
import type { UserNeighbors } from '../neighbors/user-neighbors.ts';
import type { Ranked } from '../ranked.ts';
import type { Matcher } from './matcher.ts';
import { type Ask, NOTHING, type Source } from './source.ts';

/** Items liked by the users most like this one. */
export class UserBasedSource implements Source {
  private readonly parts: {
    readonly reads: LocalReads;
    readonly catalogue: Catalogue;
    readonly userNeighbors: UserNeighbors;
    readonly isPositive: TypeTest;
  };

  constructor(parts: UserBasedSource['parts']) {
    this.parts = parts;
  }

  async rank({ history, k, accept, caller }: Ask): Promise<Ranked> {
    if (history.userRow < 0) return NOTHING;
    const { reads, isPositive, catalogue, userNeighbors } = this.parts;
    const users = await userNeighbors.of(history, USERS_ASKED, caller?.signal);
    const isWanted = (row: number) => catalogue.isListable(row) && accept(row);
    return itemsOfUsers(users, reads, history.likes(isPositive), k, isWanted);
  }
}

/** A newcomer's few likes are not asked of others: whoever likes it is looked for when the list is made again. */
export const userBasedMatcher: Matcher = {
  lists: ({ world, settings, history, accept }) =>
    settings.user_based ? [world.userBased(history, accept)] : [],
  proposes: () => () => false,
};
