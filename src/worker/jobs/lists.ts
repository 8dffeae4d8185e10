import { typeTest } from '../../recommend/feedback-types.ts';
import { History } from '../../recommend/history.ts';
import { ListMaker, type ListWorld } from '../../recommend/list-maker.ts';
import { relatedRows } from '../../recommend/related.ts';
import type { Generation } from '../../recommend/serving-model.ts';
import { similarItems } from '../../recommend/similar-items.ts';
import { itemsOfUsers, USERS_ASKED, userRelation } from '../../recommend/user-based.ts';
import type { UserList } from '../../store/cache-store.ts';
import type { LocalReads } from '../../store/data-store.ts';
import { openGeneration } from '../generation.ts';
import type { ListPlan, ListsJob } from '../messages.ts';
import { cacheAt, withReads } from './stores.ts';
import { findSimilarUsers } from './users.ts';

/** See `ListsJob`. A user for whom no recommender has anything gets no list. */
export async function makeLists(job: ListsJob): Promise<number> {
  const { plan, madeMs, untilMs } = job;
  const lists = withReads(plan.dataPath, (reads) => {
    const isPositive = typeTest(plan.positiveTypes, () => reads.feedbackTypes());
    const history = new History(reads, plan.positiveTtlMs);
    const maker = new ListMaker(
      plan.settings,
      copiedWorld(plan, generationOf(job, reads), job.slot, reads, isPositive),
      isPositive,
    );
    const made: UserList[] = [];
    for (let userRow = job.fromUserRow; userRow < job.toUserRow; userRow++) {
      if (reads.userIdAt(userRow) === undefined) continue;
      history.load(userRow, untilMs);
      const list = maker.make(history);
      if (list === undefined) continue;
      const itemRows = Uint32Array.from(list.rows);
      const scores = Float32Array.from(list.scores);
      made.push({ userRow, generation: plan.generation.number, madeMs, itemRows, scores });
    }
    return made;
  });
  await cacheAt(plan.cachePath).putLists(lists);
  return lists.length;
}

/** The generation of the blocks at work, which takes longer to open than many lists to make. */
let opened: { readonly planId: number; readonly slot: number; readonly generation: Generation } | undefined;

function generationOf({ plan, slot }: ListsJob, reads: LocalReads): Generation {
  if (opened?.planId !== plan.id || opened.slot !== slot) {
    const itemLabelsOf = (row: number) => reads.itemAt(row)?.Labels ?? [];
    opened = { planId: plan.id, slot, generation: openGeneration(plan.generation, slot, itemLabelsOf) };
  }
  return opened.generation;
}

/** What lists are made of, as of the moment at which the pass began. */
export function copiedWorld(
  plan: ListPlan,
  generation: Generation,
  slot: number,
  reads: LocalReads,
  isPositive: (type: number) => boolean,
): ListWorld {
  const { listable, latestRows, popularRows, settings, userNeighborType } = plan;
  const labelsOf = (userRow: number) => reads.userAt(userRow)?.Labels ?? [];
  return {
    generation,
    trends: plan.trends,
    coldItems: plan.coldItems,
    latestRows: () => latestRows,
    popularRows: () => popularRows,
    isListable: (row) => (((listable[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1,
    similarItems: (likedRows) => similarItems(generation.itemNeighbors, likedRows),
    userBased(history, accept) {
      const { userRow } = history;
      const relation = userRelation(userNeighborType, labelsOf(userRow).length > 0);
      const placed = plan.generation.users;
      const users =
        (placed && findSimilarUsers(placed, userRow, relation === 'users-by-labels', slot)) ??
        relatedRows(reads, relation, userRow, USERS_ASKED, isPositive);
      return itemsOfUsers(users, reads, isPositive, settings.cacheSize, accept).rows;
    },
    labelsOf,
  };
}
