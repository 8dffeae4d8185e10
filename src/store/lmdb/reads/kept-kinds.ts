import { firstAbove } from '../../../memory/binary-search.ts';
import type { ChangeSet, FeedbackColumns } from '../../data-store.ts';

/** Records of a user from which on kinds are kept: as many values are looked up at once. */
const LONG_MIN = 256;
/** Records that are kept of all users, or of one with more: 8 bytes each. */
const RECORDS_MAX = 2 ** 20;
/** Records that are looked at before others get a turn, and values that are looked up. */
const [STEP_RECORDS, STEP_VALUES] = [4096, 128];
/** In place of a kind that is to be read again. */
const UNKNOWN = 0xffff;

/** Records of a user in (item row, type) order. */
interface Kept {
  readonly itemRows: Uint32Array;
  /** As they are stored. */
  readonly types: Uint16Array;
  readonly kinds: Uint16Array;
  /** Kinds that are to be read again, and records that have come since. */
  unknown: number;
}

/**
 * Kinds of the feedback of users with much of it, whose values would be looked up one by one with every request. For a thread that is
 * told of each commit: what was read before a change is told may be as of before it.
 */
export class KeptKinds {
  /** Those that were asked for last stand last. */
  private readonly users = new Map<number, Kept>();
  private records = 0;

  /** True where a read of a user with a long history would look up many values. */
  lacks(userRow: number): boolean {
    const kept = this.users.get(userRow);
    return kept === undefined || kept.unknown >= LONG_MIN;
  }

  /**
   * Looks up what is lacking of a user, some values at a time, shared by all who do so at once.
   * @param kindOf looks up the kind of a record by its item and its type as stored
   */
  *fill(
    userRow: number,
    { itemRows, types, length }: FeedbackColumns,
    kindOf: (itemRow: number, type: number) => number,
  ): Generator<undefined, void> {
    let kept = this.take(userRow);
    if (kept === undefined || Math.abs(kept.kinds.length - length) >= LONG_MIN) {
      const kinds = new Uint16Array(length).fill(UNKNOWN);
      kept = { itemRows: itemRows.slice(0, length), types: types.slice(0, length), kinds, unknown: length };
    }
    this.keep(userRow, kept);
    const { kinds } = kept;
    for (let at = 0, looked = 0; at < kinds.length; at++) {
      if (kinds[at] !== UNKNOWN) continue;
      kinds[at] = kindOf(kept.itemRows[at]!, kept.types[at]!);
      if (++looked % STEP_VALUES === 0) yield;
    }
    kept.unknown = 0;
  }

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
        unknown: 0,
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
        let place = firstAbove(kept.itemRows, row - 1);
        if (kept.itemRows[place] !== row) kept.unknown++;
        for (; kept.itemRows[place] === row; place++) {
          if (kept.kinds[place] !== UNKNOWN) kept.unknown++;
          kept.kinds[place] = UNKNOWN;
        }
      }
  }

  clear(): void {
    this.users.clear();
    this.records = 0;
  }

  /** Lets go of a user. */
  take(userRow: number): Kept | undefined {
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
      if (this.records <= RECORDS_MAX || this.users.size === 1) break;
      this.take(oldest);
    }
  }
}

/** The first place, from `place` on, of a record that is not before that of an item and a type. */
function placeOf({ itemRows, types }: Kept, place: number, itemRow: number, type: number): number {
  while (itemRows[place]! < itemRow || (itemRows[place] === itemRow && types[place]! < type)) place++;
  return place;
}
