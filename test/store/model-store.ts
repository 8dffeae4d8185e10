import {
  decodeFeedback,
  decodeItemPatch,
  decodeItems,
  decodeUserPatch,
  decodeUsers,
} from '../../src/domain/decode-bodies.ts';
import type { Feedback, Item, Page, User } from '../../src/domain/entities.ts';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { FurzeError } from '../../src/domain/furze-error.ts';
import type {
  ChangeSet,
  DataStore,
  StoreStats,
  TableStats,
  WriteCommand,
  WriteResult,
} from '../../src/store/data-store.ts';
import type { WriteRules } from '../../src/store/lmdb/tables/writer-messages.ts';

/** The data store's rules over plain maps: what the LMDB store must agree with. Pages are whole, rows do not exist. */
export class ModelStore implements DataStore {
  get local(): never {
    throw new Error('records are not kept by row here');
  }
  getItemUsers(): never {
    return this.local;
  }
  readonly users = new Map<string, User>();
  readonly items = new Map<string, Item>();
  /** By the triple as JSON. */
  readonly feedback = new Map<string, Feedback>();
  private readonly rules: WriteRules;
  private readonly nowMs: number;

  constructor(rules: WriteRules, nowMs: number) {
    this.rules = rules;
    this.nowMs = nowMs;
  }

  async write(command: WriteCommand): Promise<WriteResult> {
    const { limits } = this.rules;
    switch (command.kind) {
      case 'putUsers':
        return this.putAll(this.users, decodeUsers(command.batch, limits), (user) => user.UserId);
      case 'putItems':
        return this.putAll(this.items, decodeItems(command.batch, limits), (item) => item.ItemId);
      case 'patchUser': {
        const user = this.users.get(command.userId);
        if (!user) throw new FurzeError('USER_NOT_FOUND', '');
        this.users.set(command.userId, { ...user, ...decodeUserPatch(command.json, limits) });
        return wrote(1);
      }
      case 'patchItem': {
        const item = this.findItem(command.itemId);
        this.items.set(command.itemId, { ...item, ...decodeItemPatch(command.json, limits) });
        return wrote(1);
      }
      case 'deleteUser':
        this.removeFeedback(({ UserId }) => UserId === command.userId);
        return wrote(this.users.delete(command.userId) ? 1 : 0);
      case 'deleteItem':
        this.removeFeedback(({ ItemId }) => ItemId === command.itemId);
        return wrote(this.items.delete(command.itemId) ? 1 : 0);
      case 'addCategory': {
        const item = this.findItem(command.itemId);
        if (item.Categories.includes(command.category)) return wrote(0);
        this.items.set(command.itemId, { ...item, Categories: [...item.Categories, command.category] });
        return wrote(1);
      }
      case 'removeCategory': {
        const item = this.findItem(command.itemId);
        const Categories = item.Categories.filter((each) => each !== command.category);
        this.items.set(command.itemId, { ...item, Categories });
        return wrote(Categories.length < item.Categories.length ? 1 : 0);
      }
      case 'putFeedback':
        return this.putFeedback(decodeFeedback(command.batch, limits, this.nowMs), command.overwrite);
      case 'deleteFeedback': {
        const { feedbackType, userId, itemId } = command;
        const removed = this.removeFeedback(
          (each) =>
            each.UserId === userId &&
            each.ItemId === itemId &&
            (feedbackType === undefined || each.FeedbackType === feedbackType),
        );
        if (feedbackType !== undefined && removed.length === 0)
          throw new FurzeError('FEEDBACK_NOT_FOUND', '');
        return { rowAffected: removed.length, removed };
      }
      case 'putVectors':
      case 'deleteVector':
      case 'writeJournals':
        throw new Error('vectors and journals are tested apart');
    }
  }

  backup(): never {
    throw new Error('not here');
  }

  onChange(_listener: (changes: ChangeSet) => void): void {
    throw new Error('the model tells no changes');
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}

  async getUser(userId: string): Promise<User | undefined> {
    return this.users.get(userId);
  }

  async getItem(itemId: string): Promise<Item | undefined> {
    return this.items.get(itemId);
  }

  async getUsers(_n: number, _cursor: string, prefix = ''): Promise<Page<User>> {
    return { cursor: '', rows: inByteOrder(this.users).filter(({ UserId }) => UserId.startsWith(prefix)) };
  }

  async getItems(_n: number, _cursor: string, prefix = ''): Promise<Page<Item>> {
    return { cursor: '', rows: inByteOrder(this.items).filter(({ ItemId }) => ItemId.startsWith(prefix)) };
  }

  async getFeedbackPage(_n: number, _cursor: string, feedbackType?: string): Promise<Page<Feedback>> {
    return { cursor: '', rows: this.select((each) => matches(each, feedbackType)) };
  }

  async getFeedback(feedbackType: string, userId: string, itemId: string): Promise<Feedback | undefined> {
    return this.feedback.get(keyOf(feedbackType, userId, itemId));
  }

  async getPairFeedback(userId: string, itemId: string): Promise<Feedback[]> {
    return this.select(({ UserId, ItemId }) => UserId === userId && ItemId === itemId);
  }

  async getUserFeedback(userId: string, feedbackType?: string): Promise<Feedback[]> {
    return this.select((each) => each.UserId === userId && matches(each, feedbackType));
  }

  async getItemFeedback(itemId: string, feedbackType?: string): Promise<Feedback[]> {
    return this.select((each) => each.ItemId === itemId && matches(each, feedbackType));
  }

  async *walkUserFeedback(userId: string, feedbackType?: string): AsyncGenerator<readonly Feedback[]> {
    yield await this.getUserFeedback(userId, feedbackType);
  }

  async *walkItemFeedback(itemId: string, feedbackType?: string): AsyncGenerator<readonly Feedback[]> {
    yield await this.getItemFeedback(itemId, feedbackType);
  }

  async getStats(): Promise<StoreStats> {
    return { users: this.users.size, items: this.items.size, feedback: this.feedback.size, bytes: 0 };
  }

  async getTables(): Promise<readonly TableStats[]> {
    return [];
  }

  private putAll<T>(map: Map<string, T>, records: readonly T[], idOf: (record: T) => string): WriteResult {
    for (const record of records) map.set(idOf(record), record);
    return wrote(new Set(records.map(idOf)).size);
  }

  private putFeedback(records: readonly Feedback[], overwrite: boolean): WriteResult {
    const { autoInsertUser, autoInsertItem, positiveFeedbackTypes, readFeedbackTypes } = this.rules;
    const written = new Set<string>();
    for (const record of records) {
      const { FeedbackType, UserId, ItemId } = record;
      if (!this.users.has(UserId) && !autoInsertUser) continue;
      if (!this.items.has(ItemId) && !autoInsertItem) continue;
      if (!this.users.has(UserId)) this.users.set(UserId, { UserId, Labels: [], Comment: '', Subscribe: [] });
      if (!this.items.has(ItemId)) this.items.set(ItemId, emptyItem(ItemId));
      const key = keyOf(FeedbackType, UserId, ItemId);
      if (!overwrite && this.feedback.has(key)) continue;
      this.feedback.set(key, record);
      written.add(key);
      if (!positiveFeedbackTypes.includes(FeedbackType)) continue;
      for (const type of readFeedbackTypes) {
        if (!positiveFeedbackTypes.includes(type)) this.feedback.delete(keyOf(type, UserId, ItemId));
      }
    }
    return wrote(written.size);
  }

  private removeFeedback(isGone: (feedback: Feedback) => boolean): Feedback[] {
    const gone = this.select(isGone);
    for (const { FeedbackType, UserId, ItemId } of gone)
      this.feedback.delete(keyOf(FeedbackType, UserId, ItemId));
    return gone;
  }

  private findItem(itemId: string): Item {
    const item = this.items.get(itemId);
    if (!item) throw new FurzeError('ITEM_NOT_FOUND', '');
    return item;
  }

  private select(isWanted: (feedback: Feedback) => boolean): Feedback[] {
    return [...this.feedback.values()].filter(isWanted);
  }
}

function emptyItem(ItemId: string): Item {
  return { ...EMPTY_ITEM, ItemId };
}

function keyOf(feedbackType: string, userId: string, itemId: string): string {
  return JSON.stringify([feedbackType, userId, itemId]);
}

function matches(feedback: Feedback, feedbackType: string | undefined): boolean {
  return feedbackType === undefined || feedback.FeedbackType === feedbackType;
}

function inByteOrder<T>(map: Map<string, T>): T[] {
  return [...map.keys()]
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((id) => map.get(id) as T);
}

function wrote(rowAffected: number): WriteResult {
  return { rowAffected, removed: [] };
}
