import type { Item, User } from '../domain/entities.ts';
import { kindOf, type PositiveKind } from '../domain/positive-feedback-types.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import type { Source } from '../exchange/copy-sources.ts';
import { eventsOfDetails, type FeedbackDetails } from '../store/feedback-details.ts';

/** All that a service was told, in columns: record `at` is of user `userRows[at]`, whose id is `userIds[userRow]`. */
export interface Past {
  readonly userIds: readonly string[];
  readonly itemIds: readonly string[];
  /** Records of users and items, by row; absent where nothing is known beside their feedback. */
  readonly users: readonly (User | undefined)[];
  readonly items: readonly (Item | undefined)[];
  readonly userRows: readonly number[];
  readonly itemRows: readonly number[];
  readonly timesMs: readonly number[];
  /** The feedback type of each record, and the value that it carries. */
  readonly types: readonly string[];
  readonly values: readonly number[];
  readonly isPositive: readonly boolean[];
  /** Records of an item's vectors by space; absent where there are no vectors. */
  readonly vectorsOf?: (itemId: string) => readonly (readonly [space: string, vector: object])[];
}

/** Gives rows to ids in the order in which they are met. */
class Rows {
  readonly ids: string[] = [];
  private readonly rows = new Map<string, number>();

  of(id: string): number {
    const known = this.rows.get(id);
    if (known !== undefined) return known;
    this.rows.set(id, this.ids.length);
    return this.ids.push(id) - 1;
  }
}

/**
 * Reads everything out of a store, each event of feedback that happened several times as a record where the source gives details.
 * @param kinds what counts as positive, as `readPositiveKinds` gives it
 */
export async function readFeedback(source: Source, kinds: readonly PositiveKind[]): Promise<Past> {
  const [users, items] = [new Rows(), new Rows()];
  const userRecords: (User | undefined)[] = [];
  const itemRecords: (Item | undefined)[] = [];
  for await (const { rows } of source('users')) {
    for (const user of rows as readonly User[]) userRecords[users.of(user.UserId)] = user;
  }
  for await (const { rows } of source('items')) {
    for (const item of rows as readonly Item[]) itemRecords[items.of(item.ItemId)] = item;
  }
  const columns = {
    userRows: [] as number[],
    itemRows: [] as number[],
    timesMs: [] as number[],
    types: [] as string[],
    values: [] as number[],
    isPositive: [] as boolean[],
  };
  for await (const { rows } of source('feedback')) {
    for (const row of rows as readonly FeedbackDetails[]) {
      for (const { UserId, ItemId, FeedbackType, Timestamp, Value = 0 } of eventsOfDetails(row)) {
        columns.userRows.push(users.of(UserId));
        columns.itemRows.push(items.of(ItemId));
        columns.timesMs.push(parseTimestamp(Timestamp));
        columns.types.push(FeedbackType);
        columns.values.push(Value);
        const takesBack = row.Occurrences !== undefined && Value < 0;
        columns.isPositive.push(!takesBack && kindOf(kinds, FeedbackType, Value) !== undefined);
      }
    }
  }
  return { userIds: users.ids, itemIds: items.ids, users: userRecords, items: itemRecords, ...columns };
}
