import type { Clock } from '../../domain/clock.ts';
import type { FilterTree } from '../../domain/filter-tree.ts';
import { bitWords, clearBit, setBit } from '../../memory/bits.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { passes, passingRows } from './passing-rows.ts';

/** Filters of which bits are kept, an eighth of a byte an item each: those that were asked for last. */
const FILTERS_MAX = 64;
/** Changed items that are looked at one by one, and conditions of these, some milliseconds; after more the filter is worked out anew. */
const PENDING_MAX = 4096;
const CONDITIONS_MAX = 32_768;
/** Items that come to an age are taken in so often at most, milliseconds. */
const AGE_MS = 1000;

interface Kept {
  bits: Uint32Array;
  /** From then on it is right, until an item comes to an age that matters; milliseconds. */
  madeMs: number;
  untilMs: number;
  /** Rows of items that have changed since, at most `pendingMax`; undefined for more. */
  pending: number[] | undefined;
  readonly pendingMax: number;
  making: Promise<void> | undefined;
}

/** Rows that pass filters, as bits that change with the catalogue. */
export class KeptFilters {
  private readonly catalogue: Catalogue;
  private readonly clock: Clock;
  /** The filters that were asked for last stand last. */
  private readonly kept = new Map<FilterTree, Kept>();
  /** Filters of drafts, which are shown to some users one after the other. */
  private readonly ofDrafts = new WeakMap<FilterTree, Promise<Uint32Array>>();
  private latest: FilterTree | undefined;
  private changes = 0;

  constructor(catalogue: Catalogue, clock: Clock) {
    this.catalogue = catalogue;
    this.clock = clock;
    catalogue.onChange((row) => {
      this.changes++;
      for (const each of this.kept.values()) {
        each.pending?.push(row);
        if ((each.pending?.length ?? 0) > each.pendingMax) each.pending = undefined;
      }
    });
  }

  /** A number that is another once an item has changed or a filter was worked out: while it is the same, what passed passes. */
  get version(): number {
    return this.changes;
  }

  /**
   * Bits of the rows that pass, worked out in turns where they are not at hand; hidden rows may be among them. They go on to change.
   * @param isKept false for those of a draft @throws the signal's reason once it is aborted
   */
  async of(tree: FilterTree, signal?: AbortSignal, isKept = true): Promise<Uint32Array> {
    if (!isKept) return this.ofDraft(tree, signal);
    for (;;) {
      const ready = this.ready(tree);
      if (ready !== undefined) return ready;
      const kept = this.kept.get(tree) ?? this.add(tree);
      kept.making ??= this.make(tree, kept).finally(() => {
        kept.making = undefined;
      });
      await kept.making;
      signal?.throwIfAborted();
    }
  }

  private ofDraft(tree: FilterTree, signal: AbortSignal | undefined): Promise<Uint32Array> {
    const never = { nextMs: Number.POSITIVE_INFINITY };
    let made = this.ofDrafts.get(tree);
    if (made === undefined) {
      made = inTurns(passingRows(tree, this.catalogue, this.clock(), never), signal);
      this.ofDrafts.set(tree, made);
    }
    return made;
  }

  /** The same where they are at hand; undefined otherwise. */
  ready(tree: FilterTree): Uint32Array | undefined {
    const kept = this.kept.get(tree);
    const nowMs = this.clock();
    if (kept?.pending === undefined || kept.making !== undefined) return undefined;
    if (nowMs < kept.madeMs || (nowMs >= kept.untilMs && nowMs - kept.madeMs >= AGE_MS)) return undefined;
    if (tree !== this.latest) {
      this.kept.delete(tree);
      this.kept.set(tree, kept);
      this.latest = tree;
    }
    if (kept.pending.length > 0) this.catchUp(tree, kept, kept.pending, nowMs);
    return kept.bits;
  }

  private add(tree: FilterTree): Kept {
    const pendingMax = Math.min(PENDING_MAX, CONDITIONS_MAX / sizeOf(tree));
    const none = { madeMs: 0, untilMs: 0, pending: undefined, making: undefined };
    const kept: Kept = { bits: new Uint32Array(), pendingMax, ...none };
    this.kept.set(tree, kept);
    this.latest = tree;
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= FILTERS_MAX) break;
      this.kept.delete(oldest);
    }
    return kept;
  }

  private async make(tree: FilterTree, kept: Kept): Promise<void> {
    const nowMs = this.clock();
    // What changes meanwhile is looked at again.
    kept.pending = [];
    const crossing = { nextMs: Number.POSITIVE_INFINITY };
    kept.bits = await inTurns(passingRows(tree, this.catalogue, nowMs, crossing));
    kept.madeMs = nowMs;
    kept.untilMs = crossing.nextMs;
    this.changes++;
  }

  private catchUp(tree: FilterTree, kept: Kept, rows: readonly number[], nowMs: number): void {
    const { catalogue } = this;
    const words = bitWords(catalogue.rowCount);
    if (words > kept.bits.length) {
      const more = new Uint32Array(words + (words >>> 3));
      more.set(kept.bits);
      kept.bits = more;
    }
    const crossing = { nextMs: kept.untilMs };
    for (const row of rows) {
      if (passes(tree, catalogue, row, nowMs, crossing)) setBit(kept.bits, row);
      else clearBit(kept.bits, row);
    }
    kept.untilMs = crossing.nextMs;
    kept.pending = [];
  }
}

/** Conditions and names of a filter. */
function sizeOf(tree: FilterTree): number {
  switch (tree.kind) {
    case 'and':
    case 'or':
      return tree.parts.reduce((sum, part) => sum + sizeOf(part), 1);
    case 'not':
      return 1 + sizeOf(tree.part);
    case 'label':
    case 'category':
      return 1 + tree.names.length;
    case 'ageDays':
      return 1;
  }
}
