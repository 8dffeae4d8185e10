import {
  decodeFeedback,
  decodeItemPatch,
  decodeItems,
  decodeUserPatch,
  decodeUsers,
  decodeVectors,
} from '../domain/decode-bodies.ts';
import type { Feedback, Item, User } from '../domain/entities.ts';
import { givenSpaceOf, type ItemVector } from '../domain/vector-space.ts';
import type { WriteCommand } from './data-store.ts';
import type { WriteRules } from './write-options.ts';

/** A command whose input is checked: nothing in it can be refused for its form any more. */
export type CheckedCommand =
  | { readonly kind: 'putUsers'; readonly users: readonly User[] }
  | { readonly kind: 'patchUser'; readonly userId: string; readonly patch: Partial<User> }
  | { readonly kind: 'putItems'; readonly items: readonly Item[] }
  | { readonly kind: 'patchItem'; readonly itemId: string; readonly patch: Partial<Item> }
  | { readonly kind: 'putFeedback'; readonly overwrite: boolean; readonly feedback: readonly Feedback[] }
  | { readonly kind: 'putVectors'; readonly space: string; readonly vectors: readonly ItemVector[] }
  | Extract<
      WriteCommand,
      {
        kind:
          | 'deleteUser'
          | 'deleteItem'
          | 'addCategory'
          | 'removeCategory'
          | 'deleteFeedback'
          | 'deleteVector'
          | 'writeJournals';
      }
    >;

/**
 * Checks a command without touching the store.
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE, SPACE_NOT_FOUND, INVALID_PARAMETER
 */
export function checkCommand(command: WriteCommand, rules: WriteRules, nowMs: number): CheckedCommand {
  const { limits } = rules;
  switch (command.kind) {
    case 'putUsers':
      return { kind: 'putUsers', users: decodeUsers(command.batch, limits) };
    case 'patchUser':
      return { kind: 'patchUser', userId: command.userId, patch: decodeUserPatch(command.json, limits) };
    case 'putItems':
      return { kind: 'putItems', items: decodeItems(command.batch, limits) };
    case 'patchItem':
      return { kind: 'patchItem', itemId: command.itemId, patch: decodeItemPatch(command.json, limits) };
    case 'putFeedback': {
      const { overwrite } = command;
      return { kind: 'putFeedback', overwrite, feedback: decodeFeedback(command.batch, limits, nowMs) };
    }
    case 'putVectors': {
      const { space, itemId } = command;
      const { vectorSpaces = {} } = rules;
      const vectors = decodeVectors(command.batch, itemId, givenSpaceOf(vectorSpaces, space), limits);
      return { kind: 'putVectors', space, vectors };
    }
    case 'deleteVector':
      givenSpaceOf(rules.vectorSpaces ?? {}, command.space);
      return command;
    default:
      return command;
  }
}

/** True when what a command does cannot be told in one breath with what others before it did, since it may take that away. */
export function mayRemove(command: CheckedCommand, rules: WriteRules): boolean {
  if (command.kind !== 'putFeedback') return command.kind.startsWith('delete');
  const { positiveFeedbackTypes, readFeedbackTypes, repeatedTypes = [], countsAllRepeats } = rules;
  if (command.overwrite || countsAllRepeats || repeatedTypes.length > 0) return true;
  return positiveFeedbackTypes.length > 0 && readFeedbackTypes.length > 0;
}
