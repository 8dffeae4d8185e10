import { getOrPut } from '../../domain/get-or-put.ts';
import { FNV_BASIS, fnv } from '../../domain/hash.ts';
import type { CheckedCommand } from '../check-command.ts';
import type { Effects } from '../commit-effects.ts';

/** What a group of commands names, each once. */
export class Concern {
  readonly userIds = new Set<string>();
  readonly itemIds = new Set<string>();
  /** Those whose details are needed too. */
  readonly readUserIds = new Set<string>();
  readonly readItemIds = new Set<string>();
  /** Those that go, with their feedback. */
  readonly goneUserIds = new Set<string>();
  readonly goneItemIds = new Set<string>();
  readonly journals = new Set<string>();
  /** Types of feedback that is put. */
  readonly types = new Set<string>();
  /** Types whose numbers are taken back, since they have no feedback: nobody may have used them meanwhile. */
  readonly goneTypes = new Set<string>();
  private readonly pairs = new Map<string, Set<string>>();

  constructor(commands: readonly CheckedCommand[]) {
    for (const command of commands) this.add(command);
  }

  /** Users and items of the pairs. */
  get pairColumns(): readonly [userIds: readonly string[], itemIds: readonly string[]] {
    const pairs = [...this.pairs].flatMap(([user, items]) =>
      Array.from(items, (item) => [user, item] as const),
    );
    return [pairs.map(([user]) => user), pairs.map(([, item]) => item)];
  }

  /**
   * Keys of what the commands go by or leave as it is, and of what they may change: of users, items, pairs, types and journals, as signed
   * 32-bit hashes (FNV-1a). Two that are equal by chance cost a group that reads again, and nothing else.
   * @param parts what the commands come to
   */
  keys(parts: readonly Effects[]): Record<'concerned' | 'touched', Set<number>> {
    const pairs: number[] = [];
    for (const [user, items] of this.pairs) {
      const seed = keyOf('p', user);
      for (const item of items) pairs.push(keyOf('p', item, seed));
    }
    const keysOf = (kind: string, ids: Iterable<string>) => Array.from(ids, (id) => keyOf(kind, id));
    const journals = keysOf('j', this.journals);
    const named = [
      ...keysOf('u', this.userIds),
      ...keysOf('i', this.itemIds),
      ...keysOf('t', this.goneTypes),
    ];
    const changed = parts.flatMap(({ deletedUserIds, deletedItemIds, users, items }) => [
      ...keysOf('u', [...deletedUserIds, ...users.map(([, { UserId }]) => UserId)]),
      ...keysOf('i', [...deletedItemIds, ...items.map(([, { ItemId }]) => ItemId)]),
    ]);
    return {
      concerned: new Set([...named, ...pairs, ...journals]),
      touched: new Set([...pairs, ...keysOf('t', this.types), ...journals, ...changed]),
    };
  }

  private add(command: CheckedCommand): void {
    const { userIds, itemIds } = this;
    switch (command.kind) {
      case 'putUsers':
        for (const { UserId } of command.users) userIds.add(UserId);
        return;
      case 'putItems':
        for (const { ItemId } of command.items) itemIds.add(ItemId);
        return;
      case 'putVectors':
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
        userIds.add(command.userId);
        return;
      default:
        (command.kind === 'deleteItem' ? this.goneItemIds : this.readItemIds).add(command.itemId);
        itemIds.add(command.itemId);
    }
  }

  private addPair(userId: string, itemId: string): void {
    this.userIds.add(userId);
    this.itemIds.add(itemId);
    getOrPut(this.pairs, userId, () => new Set<string>()).add(itemId);
  }
}

function keyOf(kind: string, id: string, seed = FNV_BASIS): number {
  let hash = fnv(seed, kind.charCodeAt(0));
  for (let at = 0; at < id.length; at++) hash = fnv(hash, id.charCodeAt(at));
  return hash | 0;
}
