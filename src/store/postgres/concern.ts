import { getOrPut } from '../../domain/get-or-put.ts';
import { FNV_BASIS, fnv } from '../../domain/hash.ts';
import type { CheckedCommand } from '../check-command.ts';
import type { Effects } from '../commit-effects.ts';

/** The names in a group of commands, each once. */
export class Concern {
  readonly userIds = new Set<string>();
  readonly itemIds = new Set<string>();
  /** Items or users whose details are needed, too. */
  readonly readUserIds = new Set<string>();
  readonly readItemIds = new Set<string>();
  /** Items or users that are deleted, with their feedback. */
  readonly goneUserIds = new Set<string>();
  readonly goneItemIds = new Set<string>();
  readonly journals = new Set<string>();
  /** Those that commands are about, and no feedback alone. */
  private readonly ownUserIds = new Set<string>();
  private readonly ownItemIds = new Set<string>();
  /** Types of feedback that is put. */
  readonly types = new Set<string>();
  /** Types whose numbers are taken back, since they have no feedback: nobody may have used them meanwhile. */
  readonly goneTypes = new Set<string>();
  /** Vectors that are removed, and items of which one is written or removed. */
  readonly goneVectors: (readonly [itemId: string, space: string])[] = [];
  private readonly vectorItemIds = new Set<string>();
  /** Items by user. */
  readonly pairs = new Map<string, Set<string>>();

  constructor(commands: readonly CheckedCommand[]) {
    for (const command of commands) this.add(command);
    for (const id of this.ownUserIds) this.userIds.add(id);
    for (const id of this.ownItemIds) this.itemIds.add(id);
  }

  /** True where nothing but feedback is put or removed. */
  get isOfPairsAlone(): boolean {
    const { ownUserIds, ownItemIds, journals, vectorItemIds } = this;
    return ownUserIds.size + ownItemIds.size + journals.size + vectorItemIds.size === 0;
  }

  /** Places of the pairs' users and items among `userIds` and `itemIds`, counted from 1. */
  get pairPlaces(): readonly [users: readonly number[], items: readonly number[]] {
    const places = new Map(Array.from(this.itemIds, (id, at) => [id, at + 1]));
    const users: number[] = [];
    const items: number[] = [];
    // The users of pairs are the first of all, in the same order.
    let user = 0;
    for (const ofUser of this.pairs.values()) {
      user++;
      for (const item of ofUser) {
        users.push(user);
        items.push(places.get(item)!);
      }
    }
    return [users, items];
  }

  /**
   * Keys of what the commands go by or leave as it is, and of what they may change: of users, items, pairs, types and journals, as signed
   * 32-bit hashes (FNV-1a). Two that are equal by chance cost a group that reads again, and nothing else.
   * @param parts what the commands come to
   */
  keys(parts: readonly Effects[]): Record<'concerned' | 'touched', number[]> {
    const pairs = Array.from(this.keyedPairs(), ([key]) => key);
    const changed = parts.flatMap(({ deletedUserIds, deletedItemIds, users, items }) => [
      ...keysOf('u', [...deletedUserIds, ...users.map(([, { UserId }]) => UserId)]),
      ...keysOf('i', [...deletedItemIds, ...items.map(([, { ItemId }]) => ItemId)]),
    ]);
    return {
      concerned: this.namedKeys().concat(pairs),
      touched: pairs.concat(
        keysOf('t', this.types),
        keysOf('j', this.journals),
        keysOf('i', this.vectorItemIds),
        changed,
      ),
    };
  }

  /**
   * True where it matters which of the two is carried out first, or one would read again what the other has inserted.
   * @param grows of which there are new ones at the moment
   */
  clashesWith(other: Concern, grows: { readonly users: boolean; readonly items: boolean }): boolean {
    const isOneSided = (a: Concern, b: Concern) =>
      meet(grows.users ? a.userIds : a.ownUserIds, b.userIds) ||
      meet(grows.items ? a.itemIds : a.ownItemIds, b.itemIds) ||
      meet(a.journals, b.journals);
    if (isOneSided(this, other) || isOneSided(other, this)) return true;
    for (const [user, items] of this.pairs) {
      const others = other.pairs.get(user);
      if (others !== undefined && meet(items, others)) return true;
    }
    return false;
  }

  /** The pairs that commits with such keys touched; undefined where they may have touched anything else of this. */
  pairsTouchedBy(keys: readonly number[]): Concern | undefined {
    const touched = new Set(keys);
    // Feedback of users and items that go is not named here.
    const isMore = this.goneUserIds.size + this.goneItemIds.size > 0;
    if (isMore || this.namedKeys().some((key) => touched.has(key))) return undefined;
    const part = new Concern([]);
    for (const [key, userId, itemId] of this.keyedPairs()) if (touched.has(key)) part.addPair(userId, itemId);
    return part;
  }

  /** Keys of all but pairs. */
  private namedKeys(): number[] {
    const { userIds, itemIds, goneTypes, journals } = this;
    return [
      ...keysOf('u', userIds),
      ...keysOf('i', itemIds),
      ...keysOf('t', goneTypes),
      ...keysOf('j', journals),
    ];
  }

  /** The pairs, with their keys. */
  *keyedPairs(): Generator<readonly [key: number, userId: string, itemId: string]> {
    for (const [user, items] of this.pairs) {
      const seed = keyOf('p', user);
      for (const item of items) yield [keyOf('p', item, seed), user, item];
    }
  }

  private add(command: CheckedCommand): void {
    const { ownUserIds, ownItemIds } = this;
    switch (command.kind) {
      case 'putUsers':
        for (const { UserId } of command.users) ownUserIds.add(UserId);
        return;
      case 'putItems':
        for (const { ItemId } of command.items) ownItemIds.add(ItemId);
        return;
      case 'putVectors':
        for (const { ItemId } of command.vectors) this.addVector(ItemId);
        return;
      case 'deleteVector':
        this.addVector(command.itemId);
        this.goneVectors.push([command.itemId, command.space]);
        return;
      case 'putFeedback':
        for (const { UserId, ItemId, FeedbackType } of command.feedback) {
          this.addPair(UserId, ItemId);
          this.types.add(FeedbackType);
        }
        return;
      case 'deleteFeedback':
        this.addPair(command.userId, command.itemId);
        return;
      case 'writeJournals':
        for (const { journal } of command.appends) this.journals.add(journal);
        return;
      case 'patchUser':
      case 'deleteUser':
        (command.kind === 'patchUser' ? this.readUserIds : this.goneUserIds).add(command.userId);
        ownUserIds.add(command.userId);
        return;
      default:
        (command.kind === 'deleteItem' ? this.goneItemIds : this.readItemIds).add(command.itemId);
        ownItemIds.add(command.itemId);
    }
  }

  private addVector(itemId: string): void {
    this.ownItemIds.add(itemId);
    this.vectorItemIds.add(itemId);
  }

  private addPair(userId: string, itemId: string): void {
    this.userIds.add(userId);
    this.itemIds.add(itemId);
    getOrPut(this.pairs, userId, () => new Set<string>()).add(itemId);
  }
}

function meet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const each of few) if (many.has(each)) return true;
  return false;
}

function keysOf(kind: string, ids: Iterable<string>): number[] {
  return Array.from(ids, (id) => keyOf(kind, id));
}

function keyOf(kind: string, id: string, seed = FNV_BASIS): number {
  let hash = fnv(seed, kind.charCodeAt(0));
  for (let at = 0; at < id.length; at++) hash = fnv(hash, id.charCodeAt(at));
  return hash | 0;
}
