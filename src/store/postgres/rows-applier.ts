import type { Feedback, Item, User } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import type { CheckedCommand } from '../check-command.ts';
import { CommandApplier } from '../command-applier.ts';
import type { Effects, FeedbackEffect, VectorEffect } from '../commit-effects.ts';
import type { WriteResult } from '../data-store.ts';
import type { Journal } from '../journals.ts';
import { type FeedbackEdit, PairMerge } from '../pair-merge.ts';
import { occurrencesOf, type StoredFeedback } from '../repeats.ts';
import type { WriteRules } from '../write-options.ts';
import { type AffectedRows, type Pair, vectorKey } from './affected-rows.ts';
import { REMOVED_AT_ONCE } from './commit-procedure.ts';
import type { FeedbackTypeNumbers } from './feedback-type-numbers.ts';

/** Effects in the making. */
interface Part extends Effects {
  readonly deletedUserIds: string[];
  readonly deletedUserRows: number[];
  readonly deletedItemIds: string[];
  readonly users: [number, User][];
  readonly items: [number, Item][];
  readonly feedback: FeedbackEffect[];
  isIncomplete: boolean;
  readonly journals: [string, Journal][];
  readonly vectors: VectorEffect[];
}

const GONE: StoredFeedback = { timeMs: Number.NaN, comment: '', value: 0 };

/** Carries out checked commands on what was read of the store, and notes what they did. */
export class RowsApplier extends CommandApplier {
  private readonly state: AffectedRows;
  private readonly merge: PairMerge;
  protected override readonly types: FeedbackTypeNumbers;
  /** Effects so far, in their order. */
  readonly parts: Part[] = [];
  private part: Part = newPart();
  /** True when something went away in this part, so that it must not be told in the same breath as what came before and follows. */
  private hasRemovals = false;
  /** The part before, where it only added. */
  private adding: Part | undefined;

  constructor(state: AffectedRows, rules: WriteRules) {
    super(rules, state);
    this.state = state;
    this.types = state.types;
    this.merge = new PairMerge(this.roles);
  }

  /** A command that is refused changes nothing. */
  apply(command: CheckedCommand): WriteResult | FurzeError {
    try {
      return this.carryOut(command);
    } catch (error) {
      if (error instanceof FurzeError) return error;
      throw error;
    } finally {
      this.endPart();
    }
  }

  protected override get replacedReads(): number {
    return this.merge.replacedReads;
  }

  protected override nameOf(type: number): string {
    return this.types.nameOf(type);
  }

  /** What only adds joins what only added before it: that is told in one breath. */
  private endPart(): void {
    const { part, hasRemovals, adding } = this;
    if (isEmpty(part)) return;
    if (adding === undefined || hasRemovals) {
      this.parts.push(part);
      this.adding = hasRemovals ? undefined : part;
    } else
      for (const kind of ['users', 'items', 'feedback', 'journals', 'vectors'] as const)
        for (const effect of part[kind]) (adding[kind] as unknown[]).push(effect);
    this.part = newPart();
    this.hasRemovals = false;
  }

  protected override deleteUser(userId: string): number {
    const { state, part } = this;
    const user = state.users.get(userId);
    if (user === undefined) return 0;
    state.users.delete(userId);
    this.noteGone(user.row, state.pairs.get(user.row) ?? []);
    state.pairs.delete(user.row);
    if (user.row < state.storedRows.users) state.deletedUserRows.push(user.row);
    part.deletedUserIds.push(userId);
    part.deletedUserRows.push(user.row);
    this.hasRemovals = true;
    return 1;
  }

  protected override deleteItem(itemId: string): number {
    const { state, part } = this;
    const item = state.items.get(itemId);
    if (item === undefined) return 0;
    state.items.delete(itemId);
    for (const [userRow, pairs] of state.pairs) {
      const pair = pairs.get(item.row);
      if (pair !== undefined) this.noteGone(userRow, [[item.row, pair]]);
      pairs.delete(item.row);
    }
    if (item.row < state.storedRows.items) state.deletedItemRows.push(item.row);
    part.deletedItemIds.push(itemId);
    this.hasRemovals = true;
    return 1;
  }

  /** Notes feedback that goes along with its user or item, as far as it was read. */
  private noteGone(userRow: number, pairs: Iterable<readonly [itemRow: number, pair: Pair]>): void {
    const { part, state } = this;
    for (const [itemRow, pair] of pairs)
      for (const [type, { now: before }] of pair)
        if (before !== undefined)
          part.feedback.push({ ...GONE, userRow, itemRow, type: state.types.nameOf(type), before });
    part.isIncomplete = part.feedback.length >= REMOVED_AT_ONCE;
  }

  protected override storeVector(itemRow: number, space: string, vector: Float32Array): void {
    const { buffer, byteOffset, byteLength } = vector;
    this.changeVector(itemRow, space, new Uint8Array(buffer, byteOffset, byteLength));
  }

  protected override removeVector(itemRow: number, space: string): number {
    const { storedVectors, changedVectors } = this.state;
    const key = vectorKey(itemRow, space);
    const changed = changedVectors.get(key);
    if (changed === undefined ? !storedVectors.has(key) : changed[2] === null) return 0;
    this.changeVector(itemRow, space, null);
    return 1;
  }

  private changeVector(...effect: VectorEffect): void {
    const [itemRow, space] = effect;
    this.state.changedVectors.set(vectorKey(itemRow, space), effect);
    this.part.vectors.push(effect);
  }

  protected override editFeedback(edits: readonly FeedbackEdit[]): number {
    const ofPairs = new Map<Pair, FeedbackEdit[]>();
    for (const edit of edits)
      getOrPut(ofPairs, this.state.pairOf(edit.userRow, edit.itemRow), () => []).push(edit);
    let written = 0;
    for (const [pair, each] of ofPairs) written += this.editPair(pair, each);
    return written;
  }

  protected override readPair(UserId: string, ItemId: string, feedbackType: string | undefined): Feedback[] {
    const { state, types } = this;
    const pair: Pair = state.pairs.get(state.userRow(UserId))?.get(state.itemRow(ItemId)) ?? new Map();
    const found: Feedback[] = [];
    for (const type of [...pair.keys()].sort((a, b) => a - b)) {
      const { now } = pair.get(type)!;
      const FeedbackType = types.nameOf(type);
      if (now === undefined || (feedbackType !== undefined && FeedbackType !== feedbackType)) continue;
      const { timeMs, value } = occurrencesOf(now)[0]!;
      const Comment = now.comment;
      const record = { FeedbackType, UserId, ItemId, Timestamp: formatTimestamp(timeMs), Comment };
      found.push(value === 0 ? record : { ...record, Value: value });
    }
    return found;
  }

  private editPair(pair: Pair, edits: readonly FeedbackEdit[]): number {
    const { merge, part, types } = this;
    const { userRow, itemRow } = edits[0]!;
    merge.clear();
    for (const [type, { now }] of pair) if (now !== undefined) merge.store(type, now.timeMs);
    for (const [at, { kind, type, timeMs, isPositive }] of edits.entries())
      merge.apply(kind, type, timeMs, at, isPositive);
    return merge.settle(
      edits,
      ({ type }) => pair.get(type)!.now!,
      ({ type }, before, now) => {
        pair.set(type, { stored: pair.get(type)?.stored, now });
        const effect = { ...(now ?? GONE), userRow, itemRow, type: types.nameOf(type) };
        part.feedback.push(before === undefined ? effect : { ...effect, before });
        if (before !== undefined) this.hasRemovals = true;
      },
    );
  }

  protected override findUserRow(userId: string): number {
    return this.state.userRow(userId);
  }

  protected override findItemRow(itemId: string): number {
    return this.state.itemRow(itemId);
  }

  protected override newUserRow(): number {
    return this.state.nextUserRow++;
  }

  protected override newItemRow(): number {
    return this.state.nextItemRow++;
  }

  protected override storeUser(row: number, value: User): void {
    this.state.users.set(value.UserId, { row, value, isChanged: true });
    this.part.users.push([row, value]);
  }

  protected override storeItem(row: number, value: Item): void {
    this.state.items.set(value.ItemId, { row, value, isChanged: true });
    this.part.items.push([row, value]);
  }

  protected override storeJournal(name: string, journal: Journal): void {
    this.state.journals.set(name, journal);
    this.state.changedJournals.add(name);
    this.part.journals.push([name, journal]);
  }
}

function newPart(): Part {
  const none = { deletedUserIds: [], deletedUserRows: [], deletedItemIds: [] };
  return { ...none, users: [], items: [], feedback: [], journals: [], vectors: [], isIncomplete: false };
}

function isEmpty(part: Part): boolean {
  return Object.values(part).every((each) => !Array.isArray(each) || each.length === 0);
}
