import type { Ranked } from '../../memory/ranked-rows.ts';
import type { FindRelated } from '../../recommend/neighbors/item-neighbors.ts';
import { askedUser } from '../../recommend/neighbors/user-neighbors.ts';
import type { Recommendation } from '../../recommend/start-recommendation.ts';
import type { Questions } from '../../store/cluster.ts';
import type { DataStore } from '../../store/data-store.ts';

type Question = Pick<Parameters<FindRelated>, 0 | 1 | 2>;

/** Finds rows most like one by asking a node that has a copy of all data, where this one has none: rows mean the same there. */
export function relatedElsewhere(questions: Questions, data: Pick<DataStore, 'barrier'>): FindRelated {
  return async (relation, row, k, signal) => {
    const found = (await questions.ask([relation, row, k], signal)) as Ranked;
    // Who they are is here once they are asked for.
    if (relation !== 'items-by-users') await data.barrier?.pass([...found.rows]);
    return found;
  };
}

/** Answers such questions of others. */
export function answerOthers(
  questions: Questions,
  data: DataStore,
  { generations, histories, live, findRelated }: Recommendation & { readonly findRelated: FindRelated },
): void {
  questions.answer(async (question) => {
    const { 0: relation, 1: row, 2: k } = question as Question;
    await data.barrier?.pass();
    const asked =
      relation === 'items-by-users'
        ? undefined
        : histories.useNow(row, (history) => askedUser(history, relation, live.isPositive));
    const laidOut = asked && (await generations.similarUsers?.(asked, k));
    const { rows, scores } = laidOut ?? (await findRelated(relation, row, k));
    return { rows: [...rows], scores: [...scores] };
  });
}
