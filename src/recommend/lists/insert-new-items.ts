import type { UserList } from '../../store/cache-store.ts';
import type { History } from '../history/history.ts';
import type { ListMaker } from './maker/list-maker.ts';

/**
 * Puts items that became listable after a list was made into it, each at the place that its score gives it. The list
 * keeps its length; one that was shorter than lists may be grows.
 */
export function insertNewItems(
  maker: ListMaker,
  history: History,
  list: UserList,
  newRows: readonly number[],
): Pick<UserList, 'itemRows' | 'scores'> {
  const known = new Set(list.itemRows);
  const wanted = newRows.filter((row) => !known.has(row));
  const newcomers = maker
    .scoreNewcomers(history, wanted)
    .sort((a, b) => b.score - a.score || a.itemRow - b.itemRow);
  const length = Math.min(list.itemRows.length + newcomers.length, maker.listLength);
  const itemRows = new Uint32Array(length);
  const scores = new Float32Array(length);
  let next = 0;
  for (let at = 0; at < length; at++) {
    const old = at - next;
    const newcomer = newcomers[next];
    const isNewNext =
      newcomer !== undefined && (old >= list.itemRows.length || newcomer.score > list.scores[old]!);
    itemRows[at] = isNewNext ? newcomer.itemRow : list.itemRows[old]!;
    scores[at] = isNewNext ? newcomer.score : list.scores[old]!;
    if (isNewNext) next++;
  }
  return { itemRows, scores };
}
