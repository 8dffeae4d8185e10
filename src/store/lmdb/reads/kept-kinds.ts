import { firstAbove } from '../../../memory/binary-search.ts';
import type { ChangeSet, FeedbackColumns } from '../../data-store.ts';

/** Records of a user from which on kinds are kept, and how many are in all: 8 bytes each. */
const [LONG_MIN, RECORDS_MAX] = [512, 2 ** 20];
/** Records of a commit that are looked at before others get a turn. */
const STEP_RECORDS = 4096;
/** In place of a kind that is to be read again. */
const UNKNOWN = 0xffff;

/** Records of a user in (item row, type) order. */
interface Kept {
  readonly itemRows: Uint32Array;
  /** As they are stored. */
  readonly types: Uint16Array;
  readonly kinds: Uint16Array;
}

/**
 * Kinds of the feedback of users with much of it, whose values would be looked up one by one with every request. For a thread that is
 * told of each commit: what was read before a change is told may be as of before it.
 */
export class KeptKinds {
  /** Those that were asked for last stand last. */
  private readonly users = new Map<number, Kept>();
  private records = 0;

  /**
   * Puts numbers of kinds in place of those of types, for the records of a user from position `from` on.
   * @param kindAt looks up the kind of the record at a position
   */
  tell(
    userRow: number,
    { itemRows, types, length }: FeedbackColumns,
    from: number,
    kindAt: (at: number) => number,
  ): void {
    const isLong = length - from >= LONG_MIN;
    const kept = isLong ? this.take(userRow) : undefined;
    const stored = isLong ? types.slice(from, length) : undefined;
    let isWhole = kept !== undefined;
    let next = 0;
    for (let at = from; at < length; at++) {
      const kind =
        kept === undefined ? UNKNOWN : kept.kinds[(next = placeOf(kept, next, itemRows[at]!, types[at]!))];
      const isKnown =
        kind !== undefined &&
        kind !== UNKNOWN &&
        kept!.itemRows[next] === itemRows[at] &&
        kept!.types[next] === types[at];
      isWhole &&= isKnown;
      types[at] = isKnown ? kind : kindAt(at);
    }
    if (isWhole) this.keep(userRow, kept!);
    else if (stored !== undefined)
      this.keep(userRow, {
        itemRows: itemRows.slice(from, length),
        types: stored,
        kinds: types.slice(from, length),
      });
  }

  /** Forgets what a commit may have changed. Pauses now and then. */
  *forget({ added, removed, renumbersTypes }: ChangeSet): Generator<undefined, void> {
    if (renumbersTypes) this.clear();
    for (const { length, userRows, itemRows } of this.users.size === 0 ? [] : [added, removed])
      for (let at = 0; at < length; at++) {
        if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
        const kept = this.users.get(userRows[at]!);
        if (kept === undefined) continue;
        const row = itemRows[at]!;
        for (let place = firstAbove(kept.itemRows, row - 1); kept.itemRows[place] === row; place++)
          kept.kinds[place] = UNKNOWN;
      }
  }

  clear(): void {
    this.users.clear();
    this.records = 0;
  }

  private take(userRow: number): Kept | undefined {
    const kept = this.users.get(userRow);
    if (kept === undefined) return undefined;
    this.users.delete(userRow);
    this.records -= kept.kinds.length;
    return kept;
  }

  private keep(userRow: number, kept: Kept): void {
    this.users.set(userRow, kept);
    this.records += kept.kinds.length;
    for (const oldest of this.users.keys()) {
      if (this.records <= RECORDS_MAX) break;
      this.take(oldest);
    }
  }
}

/** The first place, from `place` on, of a record that is not before that of an item and a type. */
function placeOf({ itemRows, types }: Kept, place: number, itemRow: number, type: number): number {
  while (itemRows[place]! < itemRow || (itemRows[place] === itemRow && types[place]! < type)) place++;
  return place;
}
