import type { Feedback, Item, User } from '../domain/entities.ts';
import { EMPTY_ITEM, EMPTY_USER } from '../domain/entity-fields.ts';
import type { WriteRules } from './write-options.ts';

/** The users, or the items, of an engine, as the commands before have left them. */
export interface RecordsById<Stored> {
  /** @returns the id's row, negative for none */
  find(id: string): number;
  /** A new row for an id that has none. */
  add(id: string): number;
  store(row: number, record: Stored): void;
}

/** Treats feedback whose user or item is unknown: both are inserted with it, or it is skipped, as configured. */
export class AutoInsert {
  private readonly rules: Pick<WriteRules, 'autoInsertUser' | 'autoInsertItem'>;
  private readonly users: RecordsById<User>;
  private readonly items: RecordsById<Item>;

  constructor(rules: AutoInsert['rules'], users: RecordsById<User>, items: RecordsById<Item>) {
    this.rules = rules;
    this.users = users;
    this.items = items;
  }

  /** The feedback of a batch that is stored. Whoever is unknown before the batch is skipped in all of it. */
  accepted(feedback: readonly Feedback[]): readonly Feedback[] {
    const { users, items } = this;
    const { autoInsertUser, autoInsertItem } = this.rules;
    if (autoInsertUser && autoInsertItem) return feedback;
    return feedback.filter(
      ({ UserId, ItemId }) =>
        (autoInsertUser || users.find(UserId) >= 0) && (autoInsertItem || items.find(ItemId) >= 0),
    );
  }

  /** The row of the user of accepted feedback; one who is unknown is inserted. */
  userRow(UserId: string): number {
    const known = this.users.find(UserId);
    if (known >= 0) return known;
    const row = this.users.add(UserId);
    this.users.store(row, { ...EMPTY_USER, UserId });
    return row;
  }

  /** The row of the item of accepted feedback; one that is unknown is inserted. */
  itemRow(ItemId: string): number {
    const known = this.items.find(ItemId);
    if (known >= 0) return known;
    const row = this.items.add(ItemId);
    this.items.store(row, { ...EMPTY_ITEM, ItemId });
    return row;
  }
}
