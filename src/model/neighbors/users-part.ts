import type { LearnedPart } from '../learned-part.ts';
import { createChunkCounter, type SharedTask } from '../shared-task.ts';
import { incidenceOfLabels, usersByItems } from './incidence.ts';
import { type PlacedSimilarity, placeSimilarity } from './memory.ts';
import { type NeighborPolicy, policyBytes } from './policy.ts';

export interface UserNeighborsOptions {
  readonly policy: NeighborPolicy;
  /** Users that will be asked for at most. */
  readonly k: number;
  /** Threads that will ask at once. */
  readonly slots: number;
}

/** Users to be compared by what they like and by labels; each where the policy needs it. */
export interface PlacedUsers {
  readonly byItems: PlacedSimilarity | undefined;
  readonly byLabels: PlacedSimilarity | undefined;
}

/** Users laid out so that those most like one are found fast. Nothing is computed ahead, and nothing is saved. */
export const userNeighborsPart: LearnedPart<
  UserNeighborsOptions,
  PlacedUsers & SharedTask,
  never,
  undefined,
  PlacedUsers,
  PlacedUsers
> = {
  stage: 'Indexing users',
  saving: undefined,
  memory(data, { policy, k, slots }, _threads, _serving, reads) {
    const { userCount, itemCount } = data.interactions;
    const compared = {
      rowCount: userCount,
      elementCount: itemCount,
      data,
      labels: () => reads.userLabels(),
    };
    const placed = policyBytes(policy, compared, { slots, listLengthMax: k, hasIndexRoom: false });
    // What is laid out is what serves; until then another one does.
    return { training: 0, models: 2 * placed };
  },
  place({ interactions }, { policy, k, slots }, _threads, { reads, allocate }) {
    const options = { listLengthMax: k, population: reads.userCount };
    const labels = () => incidenceOfLabels(reads.userLabels(), interactions.userCount);
    return {
      byItems:
        policy === 'similar'
          ? undefined
          : placeSimilarity(usersByItems(interactions), options, slots, allocate),
      byLabels: policy === 'related' ? undefined : placeSimilarity(labels(), options, slots, allocate),
      counter: createChunkCounter(),
    };
  },
  // biome-ignore lint/correctness/useYield: there is nothing to be done
  *course() {
    return undefined;
  },
  run: () => true,
  model: ({ byItems, byLabels }) => ({ byItems, byLabels }),
  serve: (users) => users,
};
