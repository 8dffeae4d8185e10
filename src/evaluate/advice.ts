import type { EvaluationRow } from '../domain/evaluation-schemas.ts';
import { counted, groupDigits } from '../domain/group-digits.ts';
import { findRivals, inWords } from './conclusion.ts';
import type { Trial } from './hold-out-protocol.ts';

const TYPES_NAMED = 5;
/** With fewer users of several items than this share of all, that is what is missing first. */
const FEW_SHARE = 0.5;

/** Counts of the data that personal lists are made of, before the held-out part. */
export interface DataFacts {
  /** Users with positive feedback, and those of them with it on two items or more. */
  readonly users: number;
  readonly usersOfSeveral: number;
  /** Items with positive feedback, and those of them with it from two users or more. */
  readonly items: number;
  readonly itemsOfSeveral: number;
  /** Records that are not positive by their types, most first. */
  readonly otherTypes: readonly (readonly [type: string, records: number])[];
  /** Users who were asked about, and whether there would have been more. */
  readonly asked: number;
  readonly isLimited: boolean;
}

/** Counts what there is to learn from. @param asked users of the test @param usersMax how many it could have had */
export function countFacts({ liked, past, known }: Trial, asked: number, usersMax: number): DataFacts {
  const others = new Map<string, number>();
  for (const at of known) {
    if (past.isPositive[at]) continue;
    const type = past.types[at]!;
    others.set(type, (others.get(type) ?? 0) + 1);
  }
  return {
    users: rowsFrom(liked.byUser.indptr, 1),
    usersOfSeveral: rowsFrom(liked.byUser.indptr, 2),
    items: rowsFrom(liked.byItem.indptr, 1),
    itemsOfSeveral: rowsFrom(liked.byItem.indptr, 2),
    otherTypes: [...others].sort(([, one], [, other]) => other - one),
    asked,
    isLimited: asked >= usersMax,
  };
}

/** Rows with so many entries or more. */
function rowsFrom(indptr: Uint32Array, least: number): number {
  let count = 0;
  for (let row = 1; row < indptr.length; row++) if (indptr[row]! - indptr[row - 1]! >= least) count++;
  return count;
}

/**
 * Says what the data lacks where the served lists do not beat all simple ways by more than the noise. Not to serve what did
 * better at one moment: only a replay tells whether it would.
 * @returns sentences, each of its own; none where there is nothing to mend
 */
export function advise(rows: readonly EvaluationRow[], facts: DataFacts): string[] {
  const { first } = findRivals(rows);
  const { mean, halfWidth } = first.againstServed;
  if (mean < -halfWidth) return [];
  const outcome =
    mean > halfWidth
      ? `On this data ${inWords(first)} did better than the lists that are served.`
      : `Whether the lists that are served are better than ${inWords(first)}, ${counted(facts.asked, 'users')} do not tell${facts.isLimited ? '; ask about more with --users' : ''}.`;
  return [outcome, ...describeData(facts)];
}

function describeData({ users, usersOfSeveral, items, itemsOfSeveral, otherTypes }: DataFacts): string[] {
  const share = Math.round((100 * usersOfSeveral) / users);
  const told = [
    `Personal lists are made of what users and items have in common: before what was held out, ${groupDigits(usersOfSeveral)} of ${counted(users, 'users')} (${share} %) have positive feedback on two items or more, and ${groupDigits(itemsOfSeveral)} of ${counted(items, 'items')} have it from two users or more.`,
  ];
  if (usersOfSeveral < FEW_SHARE * users)
    told.push(
      'Most users have it on one item alone. Older feedback, and further signs of interest such as filling a cart, make histories longer.',
    );
  if (otherTypes.length > 0) {
    const named = otherTypes
      .slice(0, TYPES_NAMED)
      .map(([type, records]) => `${type} (${groupDigits(records)})`);
    told.push(
      `Not positive is ${named.join(', ')}. What of it says that a user wants an item belongs in [recommend.data_source] positive_feedback_types.`,
    );
  }
  return told;
}
