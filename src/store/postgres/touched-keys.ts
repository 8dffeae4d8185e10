import { FNV_BASIS, fnv } from '../../domain/hash.ts';
import type { CheckedCommand } from '../check-command.ts';
import type { Effects } from '../commit-effects.ts';

/**
 * Keys of what commands concern: users, items, pairs and feedback types as signed 32-bit hashes (FNV-1a). Two that are equal by chance
 * cost a group that reads again, and nothing else.
 */
export class TouchedKeys {
  /** Keys that the commands go by, or leave as they are. */
  readonly concerned = new Set<number>();
  /** Keys that they may change. */
  readonly touched = new Set<number>();

  constructor(commands: readonly CheckedCommand[]) {
    for (const command of commands) this.addCommand(command);
  }

  /** Users and items that came, changed or went. */
  addEffects(parts: readonly Effects[]): void {
    for (const { deletedUserIds, deletedItemIds, users, items } of parts) {
      for (const id of deletedUserIds) this.touched.add(keyOf('u', id));
      for (const id of deletedItemIds) this.touched.add(keyOf('i', id));
      for (const [, { UserId }] of users) this.touched.add(keyOf('u', UserId));
      for (const [, { ItemId }] of items) this.touched.add(keyOf('i', ItemId));
    }
  }

  /** A feedback type whose number is taken back: nobody may have used it meanwhile. */
  addGoneType(name: string): void {
    this.concerned.add(keyOf('t', name));
  }

  private addCommand(command: CheckedCommand): void {
    const { concerned } = this;
    switch (command.kind) {
      case 'putUsers':
        for (const { UserId } of command.users) concerned.add(keyOf('u', UserId));
        return;
      case 'putItems':
        for (const { ItemId } of command.items) concerned.add(keyOf('i', ItemId));
        return;
      case 'putVectors':
        for (const { ItemId } of command.vectors) concerned.add(keyOf('i', ItemId));
        return;
      case 'putFeedback':
        for (const { UserId, ItemId, FeedbackType } of command.feedback) {
          this.addPair(UserId, ItemId);
          this.touched.add(keyOf('t', FeedbackType));
        }
        return;
      case 'deleteFeedback':
        this.addPair(command.userId, command.itemId);
        return;
      case 'patchUser':
      case 'deleteUser':
        concerned.add(keyOf('u', command.userId));
        return;
      case 'writeJournals':
        for (const { journal } of command.appends) {
          concerned.add(keyOf('j', journal));
          this.touched.add(keyOf('j', journal));
        }
        return;
      default:
        concerned.add(keyOf('i', command.itemId));
    }
  }

  private addPair(userId: string, itemId: string): void {
    const pair = keyOf('p', itemId, keyOf('p', userId));
    this.concerned.add(keyOf('u', userId)).add(keyOf('i', itemId)).add(pair);
    this.touched.add(pair);
  }
}

function keyOf(kind: string, id: string, seed = FNV_BASIS): number {
  let hash = fnv(seed, kind.charCodeAt(0));
  for (let at = 0; at < id.length; at++) hash = fnv(hash, id.charCodeAt(at));
  return hash | 0;
}
