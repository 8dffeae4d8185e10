import type { Item, User } from '../../domain/entities.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import type { Known } from '../command-applier.ts';
import type { Point, VectorEffect } from '../commit-effects.ts';
import type { Journal } from '../journals.ts';
import type { StoredFeedback } from '../repeats.ts';
import type { FeedbackTypeNumbers } from './feedback-type-numbers.ts';

/** A user or an item that a group concerns. */
export interface Entity<T> {
  readonly row: number;
  /** Undefined where nothing of the group needs it. */
  value: T | undefined;
  /** True when it is not stored as it is here. */
  isChanged: boolean;
}

/** Stored state of a triple, and the state to be. */
export interface Triple {
  readonly stored: StoredFeedback | undefined;
  now: StoredFeedback | undefined;
}

/** The triples of a pair by type number. */
export type Pair = Map<number, Triple>;

/** Users and items that are stored, by their ids, as of the head that was read with them. */
export interface ReadEntities {
  readonly head: HeadRow;
  readonly users: ReadonlyMap<string, Entity<User>>;
  readonly items: ReadonlyMap<string, Entity<Item>>;
}

/**
 * State that a group of commands concerns, as of a moment: the commands are carried out on this, and what differs from what
 * is stored is then written at once.
 */
export class AffectedRows implements Known {
  /** The last commit before this group. */
  readonly head: Point;
  readonly users: Map<string, Entity<User>>;
  readonly items: Map<string, Entity<Item>>;
  readonly types: FeedbackTypeNumbers;
  readonly typesVersion: number;
  /** Types whose numbers are taken back. */
  readonly goneTypes: number[] = [];
  /** By user row, then by item row. */
  readonly pairs = new Map<number, Map<number, Pair>>();
  readonly journals = new Map<string, Journal>();
  readonly changedJournals = new Set<string>();
  /** Those of the vectors that commands remove which are stored, by `vectorKey`. */
  readonly storedVectors = new Set<string>();
  /** Vectors that are another now, by `vectorKey`. */
  readonly changedVectors = new Map<string, VectorEffect>();
  /** Rows that are stored and to be removed, with all their feedback. */
  readonly deletedUserRows: number[] = [];
  readonly deletedItemRows: number[] = [];
  nextUserRow: number;
  nextItemRow: number;
  readonly storedRows: { readonly users: number; readonly items: number };

  constructor({ head, users, items }: ReadEntities, types: FeedbackTypeNumbers) {
    const [position, mark, nextUserRow, nextItemRow, typesVersion] = head;
    this.head = { position, mark };
    this.typesVersion = typesVersion;
    this.nextUserRow = nextUserRow;
    this.nextItemRow = nextItemRow;
    this.storedRows = { users: nextUserRow, items: nextItemRow };
    this.types = types;
    this.users = new Map(users);
    this.items = new Map(items);
  }

  userRow(userId: string): number {
    return this.users.get(userId)?.row ?? -1;
  }

  itemRow(itemId: string): number {
    return this.items.get(itemId)?.row ?? -1;
  }

  /** One whose details a command of the group needs. */
  findUser(userId: string): User | undefined {
    return this.users.get(userId)?.value;
  }

  findItem(itemId: string): Item | undefined {
    return this.items.get(itemId)?.value;
  }

  journal(name: string): Journal {
    return this.journals.get(name) ?? [];
  }

  /** The pair's triples; empty for a pair without feedback. */
  pairOf(userRow: number, itemRow: number): Pair {
    const items = getOrPut(this.pairs, userRow, () => new Map<number, Pair>());
    return getOrPut(items, itemRow, () => new Map());
  }
}

export function vectorKey(itemRow: number, space: string): string {
  return `${itemRow} ${space}`;
}

export type HeadRow = readonly [
  position: number,
  mark: number,
  nextUserRow: number,
  nextItemRow: number,
  typesVersion: number,
];
