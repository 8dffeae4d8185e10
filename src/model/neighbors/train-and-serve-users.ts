import type { TrainingData, TrainingReads } from '../../dataset/training-data.ts';
import type { NeighborType } from '../../domain/neighbor-type.ts';
import { createChunkCounter, type SharedTask } from '../part/chunks-for-threads.ts';
import type { LearnedPart } from '../part/learned-part.ts';
import { type ComparedRows, comparedRows } from './compared-rows.ts';
import { incidenceOfLabels, usersByItems } from './incidence.ts';
import { countLabels, policyBytes } from './memory-estimate.ts';
import { placeSimilarity } from './memory-layout.ts';
import { type PlacedUsers, SimilarUsers } from './similar-users.ts';

/** Users that one question finds at most. */
const USERS_FOUND_MAX = 10_000;

export interface UserNeighborsOptions {
  readonly policy: NeighborType;
  /** Users that will be asked for at most. */
  readonly k: number;
  /** Threads that will ask at once. */
  readonly slots: number;
}

function comparedUsers(
  { rows, userRowCount }: TrainingData,
  policy: NeighborType,
  reads: TrainingReads,
): ComparedRows {
  return comparedRows(policy, rows.users, userRowCount, () => reads.userLabels());
}

/** Users laid out so that those most like one are found fast. Nothing is computed ahead, and nothing is saved. */
export const userNeighborsPart: LearnedPart<
  UserNeighborsOptions,
  PlacedUsers & SharedTask,
  never,
  undefined,
  PlacedUsers,
  PlacedUsers,
  SimilarUsers
> = {
  title: 'user neighbors',
  stage: 'Indexing users',
  saving: undefined,
  memory(data, { policy, k, slots }, _threads, _serving, reads) {
    const { rows } = comparedUsers(data, policy, reads);
    const { itemCount: elementCount, count } = data.interactions;
    const labels = policy === 'related' ? undefined : countLabels(reads.userLabels(), rows);
    const compared = { rowCount: rows.length, elementCount, count, labels };
    const { all } = policyBytes(policy, compared, { slots, listLengthMax: k, hasIndexRoom: false });
    // What is laid out is what serves; until then another one does.
    return { training: 0, models: 2 * all };
  },
  prepare(data, { policy, k, slots }, _threads, { reads, allocate }) {
    const options = { listLengthMax: k, population: reads.userCount };
    const { rows, spread } = comparedUsers(data, policy, reads);
    const labelsOf = reads.userLabels();
    const labels = () => incidenceOfLabels((row) => labelsOf(rows[row]!), rows.length);
    return {
      rows: { users: rows, items: data.rows.items },
      byItems:
        policy === 'similar'
          ? undefined
          : placeSimilarity(spread(usersByItems(data.interactions)), options, slots, allocate),
      byLabels: policy === 'related' ? undefined : placeSimilarity(labels(), options, slots, allocate),
      counter: createChunkCounter(),
    };
  },
  *course() {
    // What `prepare` laid out is all there is to it.
    yield* [];
    return undefined;
  },
  run: () => true,
  model: ({ byItems, byLabels, rows }) => ({ byItems, byLabels, rows }),
  serve: (users) => users,
  open: (users, opening) => new SimilarUsers(users, opening),
  features: {},
  training: {
    options: ({ userNeighborType: policy }, { slots }) => ({ policy, k: USERS_FOUND_MAX, slots }),
    isAlwaysWanted: true,
    isOnDemand: true,
  },
};
