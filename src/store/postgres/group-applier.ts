import type { Feedback, Item, User } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/errors.ts';
import { kindOf, type PositiveKind, readPositiveKinds } from '../../domain/positive-kinds.ts';
import { formatTimestamp, parseTimestamp } from '../../domain/time.ts';
import { type CheckedCommand, mayRemove, patched, wrote } from '../checked-command.ts';
import type { WriteResult } from '../data-store.ts';
import type { Effects, FeedbackEffect } from '../effects.ts';
import { EditKind, PairMerge, wasStored } from '../pair-merge.ts';
import type { WriteRules } from '../write-rules.ts';
import type { Entity, GroupState, Pair, Stored } from './group-state.ts';

/** Effects in the making. */
interface Part extends Effects {
  readonly deletedUserIds: string[];
  readonly deletedItemIds: string[];
  readonly users: [number, User][];
  readonly items: [number, Item][];
  readonly feedback: FeedbackEffect[];
}

/** One edit of a pair. */
interface Edit {
  readonly kind: EditKind;
  readonly type: number;
  readonly record: Stored;
  readonly isPositive: boolean;
}

const NOTHING: Stored = { timeMs: 0, comment: '', value: 0 };
const REMOVE_ALL: Edit = { kind: EditKind.removeAll, type: 0, record: NOTHING, isPositive: false };

/** Carries out checked commands on what was read of the store, and notes what they did. */
export class GroupApplier {
  private readonly state: GroupState;
  private readonly rules: WriteRules;
  private readonly positive: readonly PositiveKind[];
  private readonly merge: PairMerge;
  private readonly parts: Part[] = [];
  private part: Part = newPart();
  /** True when something went away in this part, so that what follows must not be told in the same breath. */
  private hasRemovals = false;

  constructor(state: GroupState, rules: WriteRules) {
    this.state = state;
    this.rules = rules;
    this.positive = readPositiveKinds(rules.positiveFeedbackTypes);
    const positiveTypes = new Set(this.positive.map(({ feedbackType }) => feedbackType));
    const read = new Set(rules.readFeedbackTypes.filter((name) => !positiveTypes.has(name)));
    const nameOf = (type: number) => state.types.nameOf(type);
    this.merge = new PairMerge({ nameOf, isReadOnly: (type) => read.has(nameOf(type)) });
  }

  /** What was done so far, in its order. */
  finish(): Effects[] {
    this.endPart();
    return this.parts;
  }

  /** @throws FurzeError before anything is changed */
  apply(command: CheckedCommand): WriteResult {
    if (mayRemove(command, this.rules) || this.hasRemovals) this.endPart();
    switch (command.kind) {
      case 'putUsers':
        return this.putUsers(command.users);
      case 'patchUser': {
        const { row, value } = this.find(this.state.users, command.userId, 'USER_NOT_FOUND', 'user');
        this.storeUser(row, patched(value!, command.patch));
        return wrote(1);
      }
      case 'deleteUser':
        return wrote(this.deleteUser(command.userId));
      case 'putItems':
        return this.putItems(command.items);
      case 'patchItem': {
        const { row, value } = this.findItem(command.itemId);
        this.storeItem(row, patched(value!, command.patch));
        return wrote(1);
      }
      case 'deleteItem':
        return wrote(this.deleteItem(command.itemId));
      case 'addCategory':
        return this.changeCategories(command.itemId, (all) =>
          all.includes(command.category) ? all : [...all, command.category],
        );
      case 'removeCategory':
        return this.changeCategories(command.itemId, (all) =>
          all.includes(command.category) ? all.filter((each) => each !== command.category) : all,
        );
      case 'putFeedback':
        return this.putFeedback(command.feedback, command.overwrite);
      case 'deleteFeedback':
        return this.deleteFeedback(command.feedbackType, command.userId, command.itemId);
    }
  }

  private endPart(): void {
    if (!isEmpty(this.part)) this.parts.push(this.part);
    this.part = newPart();
    this.hasRemovals = false;
  }

  private putUsers(users: readonly User[]): WriteResult {
    const last = new Map(users.map((user) => [user.UserId, user]));
    for (const user of last.values()) this.storeUser(this.userRow(user.UserId), user);
    return wrote(last.size);
  }

  private putItems(items: readonly Item[]): WriteResult {
    const last = new Map(items.map((item) => [item.ItemId, item]));
    for (const item of last.values()) this.storeItem(this.itemRow(item.ItemId), item);
    return wrote(last.size);
  }

  private deleteUser(userId: string): number {
    const { state, part } = this;
    const user = state.users.get(userId);
    if (user === undefined) return 0;
    state.users.delete(userId);
    state.pairs.delete(user.row);
    if (user.row < state.storedRows.users) state.deletedUserRows.push(user.row);
    part.deletedUserIds.push(userId);
    this.hasRemovals = true;
    return 1;
  }

  private deleteItem(itemId: string): number {
    const { state, part } = this;
    const item = state.items.get(itemId);
    if (item === undefined) return 0;
    state.items.delete(itemId);
    for (const pairs of state.pairs.values()) pairs.delete(item.row);
    if (item.row < state.storedRows.items) state.deletedItemRows.push(item.row);
    part.deletedItemIds.push(itemId);
    this.hasRemovals = true;
    return 1;
  }

  private changeCategories(
    itemId: string,
    change: (all: readonly string[]) => readonly string[],
  ): WriteResult {
    const { row, value } = this.findItem(itemId);
    const Categories = change(value!.Categories);
    if (Categories === value!.Categories) return wrote(0);
    const { labelsMax } = this.rules.limits;
    if (Categories.length > labelsMax)
      throw new FurzeError('INVALID_PARAMETER', `An item has at most ${labelsMax} categories.`);
    this.storeItem(row, { ...value!, Categories });
    return wrote(1);
  }

  private putFeedback(feedback: readonly Feedback[], overwrite: boolean): WriteResult {
    const { state } = this;
    const { autoInsertUser, autoInsertItem } = this.rules;
    // Whoever is unknown before the batch is skipped in all of it.
    const stored = feedback.filter(
      ({ UserId, ItemId }) =>
        (autoInsertUser || state.users.has(UserId)) && (autoInsertItem || state.items.has(ItemId)),
    );
    state.types.add(stored.map(({ FeedbackType }) => FeedbackType));
    const kind = overwrite ? EditKind.overwrite : EditKind.insert;
    const edits = new Map<Pair, { userRow: number; itemRow: number; edits: Edit[] }>();
    for (const { FeedbackType, UserId, ItemId, Timestamp, Comment, Value = 0 } of stored) {
      const userRow = this.insertUser(UserId);
      const itemRow = this.insertItem(ItemId);
      const pair = state.pairOf(userRow, itemRow);
      let ofPair = edits.get(pair);
      if (ofPair === undefined) edits.set(pair, (ofPair = { userRow, itemRow, edits: [] }));
      ofPair.edits.push({
        kind,
        type: state.types.find(FeedbackType)!,
        record: { timeMs: parseTimestamp(Timestamp), comment: Comment, value: Value },
        isPositive: kindOf(this.positive, FeedbackType, Value) !== undefined,
      });
    }
    let written = 0;
    for (const [pair, each] of edits) written += this.edit(each.userRow, each.itemRow, pair, each.edits);
    return wrote(written);
  }

  private deleteFeedback(feedbackType: string | undefined, userId: string, itemId: string): WriteResult {
    const { users, items, types, pairs } = this.state;
    const userRow = users.get(userId)?.row ?? -1;
    const itemRow = items.get(itemId)?.row ?? -1;
    const pair: Pair = pairs.get(userRow)?.get(itemRow) ?? new Map();
    const removed: Feedback[] = [];
    for (const type of [...pair.keys()].sort((a, b) => a - b)) {
      const { now } = pair.get(type)!;
      const FeedbackType = types.nameOf(type);
      if (now === undefined || (feedbackType !== undefined && FeedbackType !== feedbackType)) continue;
      const { timeMs, comment: Comment, value } = now;
      const record = {
        FeedbackType,
        UserId: userId,
        ItemId: itemId,
        Timestamp: formatTimestamp(timeMs),
        Comment,
      };
      removed.push(value === 0 ? record : { ...record, Value: value });
    }
    if (removed.length === 0) {
      if (feedbackType === undefined) return wrote(0);
      throw new FurzeError('FEEDBACK_NOT_FOUND', 'There is no feedback of this type, user and item.');
    }
    const type = feedbackType === undefined ? undefined : types.find(feedbackType);
    const edit = type === undefined ? REMOVE_ALL : { ...REMOVE_ALL, kind: EditKind.removeType, type };
    this.edit(userRow, itemRow, pair, [edit]);
    return { rowAffected: removed.length, removed };
  }

  /** Applies the edits of one pair in their order. @returns how many records were inserted or overwritten */
  private edit(userRow: number, itemRow: number, pair: Pair, edits: readonly Edit[]): number {
    const { merge, part, state } = this;
    merge.clear();
    for (const [type, { now }] of pair) if (now !== undefined) merge.store(type, now.timeMs);
    for (const [at, { kind, type, record, isPositive }] of edits.entries())
      merge.apply(kind, type, record.timeMs, at, isPositive);
    let written = 0;
    for (const record of merge.records) {
      const { type, alive } = record;
      if (record.written) written++;
      if (alive ? !record.written : !wasStored(record)) continue;
      const now = alive ? edits[record.position]!.record : undefined;
      pair.set(type, { stored: pair.get(type)?.stored, now });
      const { timeMs, comment, value } = now ?? { ...NOTHING, timeMs: Number.NaN };
      part.feedback.push({ userRow, itemRow, type: state.types.nameOf(type), timeMs, comment, value });
      if (wasStored(record)) this.hasRemovals = true;
    }
    return written;
  }

  private insertUser(UserId: string): number {
    const known = this.state.users.get(UserId);
    if (known !== undefined) return known.row;
    const row = this.userRow(UserId);
    this.storeUser(row, { UserId, Labels: [], Comment: '', Subscribe: [] });
    return row;
  }

  private insertItem(ItemId: string): number {
    const known = this.state.items.get(ItemId);
    if (known !== undefined) return known.row;
    const row = this.itemRow(ItemId);
    this.storeItem(row, { ItemId, IsHidden: false, Categories: [], Timestamp: '', Labels: [], Comment: '' });
    return row;
  }

  /** The row of a user, a new one for who has none. */
  private userRow(userId: string): number {
    return this.state.users.get(userId)?.row ?? this.state.nextUserRow++;
  }

  private itemRow(itemId: string): number {
    return this.state.items.get(itemId)?.row ?? this.state.nextItemRow++;
  }

  private storeUser(row: number, value: User): void {
    this.state.users.set(value.UserId, { row, value, isChanged: true });
    this.part.users.push([row, value]);
  }

  private storeItem(row: number, value: Item): void {
    this.state.items.set(value.ItemId, { row, value, isChanged: true });
    this.part.items.push([row, value]);
  }

  private findItem(itemId: string): Entity<Item> {
    return this.find(this.state.items, itemId, 'ITEM_NOT_FOUND', 'item');
  }

  private find<T>(
    known: ReadonlyMap<string, Entity<T>>,
    id: string,
    code: 'USER_NOT_FOUND' | 'ITEM_NOT_FOUND',
    noun: string,
  ): Entity<T> {
    const entity = known.get(id);
    if (entity === undefined) throw new FurzeError(code, `There is no ${noun} with this id.`);
    return entity;
  }
}

function newPart(): Part {
  return { deletedUserIds: [], deletedItemIds: [], users: [], items: [], feedback: [] };
}

function isEmpty({ deletedUserIds, deletedItemIds, users, items, feedback }: Part): boolean {
  return deletedUserIds.length + deletedItemIds.length + users.length + items.length + feedback.length === 0;
}
