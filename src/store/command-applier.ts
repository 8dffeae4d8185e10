import type { Feedback, Item, User } from '../domain/entities.ts';
import { EMPTY_ITEM, EMPTY_USER } from '../domain/entity-fields.ts';
import { FurzeError, noSuchItem, noSuchUser } from '../domain/furze-error.ts';
import type { LabelFields } from '../domain/labels.ts';
import {
  kindOf,
  type PositiveKind,
  readPositiveKinds,
  seenTypes,
} from '../domain/positive-feedback-types.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import type { ItemVector } from '../domain/vector-space.ts';
import type { CheckedCommand } from './check-command.ts';
import type { LocalReads, WriteResult } from './data-store.ts';
import { appended, type Journal, type JournalAppend } from './journals.ts';
import { EditKind, type FeedbackEdit, removalOf, type TypeRoles } from './pair-merge.ts';
import type { WriteRules } from './write-options.ts';

/** The numbers of feedback types. */
interface TypeNumbers {
  /** Gives numbers to those that have none. @throws FurzeError INVALID_BODY, before anything is written, when there are not enough */
  add(names: readonly string[]): void;
  numberOf(name: string): number | undefined;
}

type Command<Kind> = Extract<CheckedCommand, { kind: Kind }>;

/** State of the records after the commands before. */
export type Known = Pick<LocalReads, 'userRow' | 'itemRow' | 'findUser' | 'findItem' | 'journal'>;

/** Applies checked commands to the records, the same for all engines, over how each of them stores records by rows. */
export abstract class CommandApplier {
  protected readonly rules: WriteRules;
  protected readonly roles: TypeRoles;
  /** Of feedback: what of it is stored, and under which rows. */
  private readonly autoInsert: AutoInsert;
  private readonly known: Known;
  private readonly positive: readonly PositiveKind[];
  private readonly repeatedTypes: ReadonlySet<string>;

  constructor(rules: WriteRules, known: Known) {
    this.rules = rules;
    this.known = known;
    this.repeatedTypes = new Set(rules.repeatedTypes);
    this.positive = readPositiveKinds(rules.positiveFeedbackTypes);
    const seen = seenTypes(rules.positiveFeedbackTypes, rules.readFeedbackTypes);
    const nameOf = (type: number) => this.nameOf(type);
    this.roles = { nameOf, isReadOnly: (type) => seen.has(nameOf(type)) };
    this.autoInsert = new AutoInsert(
      rules,
      {
        find: (userId) => this.findUserRow(userId),
        add: (userId) => this.newUserRow(userId),
        store: (row, user) => this.storeUser(row, user),
      },
      {
        find: (itemId) => this.findItemRow(itemId),
        add: (itemId) => this.newItemRow(itemId),
        store: (row, item) => this.storeItem(row, item),
      },
    );
  }

  protected abstract nameOf(type: number): string;
  /** The row of a user whose feedback comes, negative for none. */
  protected abstract findUserRow(userId: string): number;
  protected abstract findItemRow(itemId: string): number;
  /** A new row for a user who has none. */
  protected abstract newUserRow(userId: string): number;
  protected abstract newItemRow(itemId: string): number;
  protected abstract storeUser(row: number, user: User): void;
  protected abstract storeItem(row: number, item: Item): void;
  /** @returns how many there were */
  protected abstract deleteUser(userId: string): number;
  protected abstract deleteItem(itemId: string): number;
  /** Edits feedback, that of one pair in its order. @returns how many were inserted or overwritten */
  protected abstract editFeedback(edits: readonly FeedbackEdit[]): number;
  protected abstract readonly types: TypeNumbers;
  /** Read feedback that positive feedback has taken the place of so far. */
  protected abstract get replacedReads(): number;
  /** The feedback of a pair, of one type or of all. */
  protected abstract readPair(userId: string, itemId: string, feedbackType: string | undefined): Feedback[];

  protected abstract storeVector(itemRow: number, space: string, vector: Float32Array): void;
  /** @returns how many there were */
  protected abstract removeVector(itemRow: number, space: string): number;
  protected abstract storeJournal(name: string, journal: Journal): void;

  /** @throws FurzeError before anything is written */
  protected carryOut(command: CheckedCommand): WriteResult {
    switch (command.kind) {
      case 'putUsers':
        return this.putUsers(command.users);
      case 'patchUser':
        return this.patchUser(command.userId, command.patch);
      case 'deleteUser':
        return wrote(this.deleteUser(command.userId));
      case 'putItems':
        return this.putItems(command.items);
      case 'patchItem':
        return this.patchItem(command.itemId, command.patch);
      case 'deleteItem':
        return wrote(this.deleteItem(command.itemId));
      case 'addCategory':
      case 'removeCategory':
        return this.changeCategories(command);
      case 'putFeedback':
        return this.writeFeedback(command);
      case 'deleteFeedback':
        return this.deleteFeedback(command);
      case 'putVectors':
        return this.putVectors(command.space, command.vectors);
      case 'deleteVector': {
        const row = this.findItemRow(command.itemId);
        return wrote(row < 0 ? 0 : this.removeVector(row, command.space));
      }
      case 'writeJournals':
        return this.writeJournals(command.appends);
    }
  }

  /** Effect of a written feedback of a type. */
  private editKindOf(feedbackType: string, overwrite: boolean): EditKind {
    if (overwrite) return EditKind.overwrite;
    const isCounted = this.rules.countsAllRepeats === true || this.repeatedTypes.has(feedbackType);
    return isCounted ? EditKind.count : EditKind.insert;
  }

  private isPositive(feedbackType: string, value: number): boolean {
    return kindOf(this.positive, feedbackType, value) !== undefined;
  }

  private putUsers(users: readonly User[]): WriteResult {
    const last = new Map(users.map((user) => [user.UserId, user]));
    for (const user of last.values()) {
      const row = this.known.userRow(user.UserId);
      this.storeUser(row < 0 ? this.newUserRow(user.UserId) : row, user);
    }
    return wrote(last.size);
  }

  private putItems(items: readonly Item[]): WriteResult {
    const last = new Map(items.map((item) => [item.ItemId, item]));
    for (const item of last.values()) {
      const row = this.known.itemRow(item.ItemId);
      this.storeItem(row < 0 ? this.newItemRow(item.ItemId) : row, item);
    }
    return wrote(last.size);
  }

  private putVectors(space: string, vectors: readonly ItemVector[]): WriteResult {
    const last = new Map(
      vectors.map(({ ItemId, Vector }) => {
        const row = this.findItemRow(ItemId);
        if (row < 0) throw noSuchItem(ItemId);
        return [row, Vector];
      }),
    );
    for (const [row, vector] of last) this.storeVector(row, space, vector);
    return wrote(last.size);
  }

  private writeJournals(appends: readonly JournalAppend[]): WriteResult {
    const changed = new Map<string, Journal>();
    for (const each of appends) {
      const before = changed.get(each.journal) ?? this.known.journal(each.journal);
      changed.set(each.journal, appended(before, each));
    }
    for (const [name, journal] of changed) this.storeJournal(name, journal);
    return wrote(appends.length);
  }

  private patchUser(userId: string, patch: Partial<User>): WriteResult {
    const user = this.known.findUser(userId);
    if (user === undefined) throw noSuchUser(userId);
    this.storeUser(this.known.userRow(userId), patched(user, patch));
    return wrote(1);
  }

  private patchItem(itemId: string, patch: Partial<Item>): WriteResult {
    this.replaceItem(patched(this.findItem(itemId), patch));
    return wrote(1);
  }

  /** A category that is there already, or not there to be removed, leaves the item as it is. */
  private changeCategories(command: Command<'addCategory' | 'removeCategory'>): WriteResult {
    const { kind, itemId, category } = command;
    const item = this.findItem(itemId);
    const isThere = item.Categories.includes(category);
    if (isThere === (kind === 'addCategory')) return wrote(0);
    const Categories = isThere
      ? item.Categories.filter((each) => each !== category)
      : [...item.Categories, category];
    const { labelsMax } = this.rules.limits;
    if (Categories.length > labelsMax)
      throw new FurzeError('INVALID_PARAMETER', `An item has at most ${labelsMax} categories.`);
    this.replaceItem({ ...item, Categories });
    return wrote(1);
  }

  private deleteFeedback({ feedbackType, userId, itemId }: Command<'deleteFeedback'>): WriteResult {
    const removed = this.readPair(userId, itemId, feedbackType);
    if (removed.length > 0) {
      const all = removalOf(this.findUserRow(userId), this.findItemRow(itemId));
      const type = feedbackType === undefined ? undefined : this.types.numberOf(feedbackType)!;
      this.editFeedback([type === undefined ? all : { ...all, kind: EditKind.removeType, type }]);
      return { rowAffected: removed.length, removed };
    }
    if (feedbackType === undefined) return wrote(0);
    throw new FurzeError('FEEDBACK_NOT_FOUND', 'There is no feedback of this type, user and item.');
  }

  private writeFeedback({ feedback, overwrite }: Command<'putFeedback'>): WriteResult {
    const before = this.replacedReads;
    const result = wrote(this.putFeedback(feedback, overwrite));
    const replacedReads = this.replacedReads - before;
    const credited = feedback.filter(({ Recommendation }) => Recommendation !== undefined);
    return {
      ...result,
      ...(replacedReads > 0 && { replacedReads }),
      ...(credited.length > 0 && { credited }),
    };
  }

  private putFeedback(feedback: readonly Feedback[], overwrite: boolean): number {
    const { autoInsert, types } = this;
    const stored = autoInsert.accepted(feedback);
    types.add(stored.map(({ FeedbackType }) => FeedbackType));
    const edits = stored.map(
      ({ FeedbackType, UserId, ItemId, Timestamp, isUntimed, Comment, Value = 0 }) => ({
        kind: this.editKindOf(FeedbackType, overwrite),
        userRow: autoInsert.userRow(UserId),
        itemRow: autoInsert.itemRow(ItemId),
        type: types.numberOf(FeedbackType)!,
        timeMs: parseTimestamp(Timestamp),
        isUntimed,
        comment: Comment,
        value: Value,
        isPositive: this.isPositive(FeedbackType, Value),
      }),
    );
    return this.editFeedback(edits);
  }

  private findItem(itemId: string): Item {
    const item = this.known.findItem(itemId);
    if (item === undefined) throw noSuchItem(itemId);
    return item;
  }

  private replaceItem(item: Item): void {
    this.storeItem(this.known.itemRow(item.ItemId), item);
  }
}

/** Labels of a patch take the place of those there were in every form. */
function patched<T extends LabelFields>(entity: T, patch: Partial<T>): T {
  return { ...entity, ...(patch.Labels !== undefined && { LabelsAsGiven: undefined }), ...patch };
}

/** The result of a command that removed no feedback by name. */
function wrote(rowAffected: number): WriteResult {
  return { rowAffected, removed: [] };
}

/** The users, or the items, of an engine, as the commands before have left them. */
interface RecordsById<Stored> {
  /** @returns the id's row, negative for none */
  find(id: string): number;
  /** A new row for an id that has none. */
  add(id: string): number;
  store(row: number, record: Stored): void;
}

/** Treats feedback whose user or item is unknown: both are inserted with it, or it is skipped, as configured. */
class AutoInsert {
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
    return known >= 0 ? known : inserted(this.users, UserId, { ...EMPTY_USER, UserId });
  }

  /** The row of the item of accepted feedback; one that is unknown is inserted. */
  itemRow(ItemId: string): number {
    const known = this.items.find(ItemId);
    return known >= 0 ? known : inserted(this.items, ItemId, { ...EMPTY_ITEM, ItemId });
  }
}

function inserted<Stored>(records: RecordsById<Stored>, id: string, record: Stored): number {
  const row = records.add(id);
  records.store(row, record);
  return row;
}
