import type { ChangeSet, LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { RowPostings } from '../catalogue/row-postings.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import { UserBits } from '../rows/user-bits.ts';

/** Users of an item that are looked at; with more of them something has always happened. */
const USERS_MAX = 4096;

/** Records of a commit looked at in one step. */
const STEP_RECORDS = 1024;

/** Changes in one stretch of time. */
interface Changes {
  /** No `Set`, which takes tens of milliseconds to make room when it holds hundreds of thousands. */
  readonly items: RowPostings;
  readonly labels: Set<string>;
  readonly users: UserBits;
}

function noChanges(): Changes {
  return { items: new RowPostings(), labels: new Set(), users: new UserBits() };
}

/**
 * The changes since the data of the served generation was read: since the generation before it was first served,
 * which is earlier than that.
 */
export class SinceFit {
  private readonly catalogue: Catalogue;
  private readonly reads: Pick<LocalReads, 'readItemUsers' | 'isPartial'>;
  private readonly isPositive: TypeTest;
  private before = noChanges();
  private now = noChanges();

  constructor(
    catalogue: Catalogue,
    reads: Pick<LocalReads, 'readItemUsers' | 'isPartial'>,
    isPositive: TypeTest,
  ) {
    this.catalogue = catalogue;
    this.reads = reads;
    this.isPositive = isPositive;
    catalogue.onChange((row) => {
      this.now.items.add(row);
      for (const label of catalogue.labelsAt(row)) this.now.labels.add(label);
    });
  }

  /** Follows a commit, a fraction of a millisecond a step. */
  *follow({ added }: Pick<ChangeSet, 'added'>): Generator<unknown> {
    for (let at = 0; at < added.length; at++) {
      if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
      if (this.isPositive(added.types[at]!)) this.now.users.add(added.userRows[at]!);
    }
  }

  /** Another generation is served from now on. */
  begin(): void {
    this.before = this.now;
    this.now = noChanges();
  }

  hasChanged(itemRow: number): boolean {
    return this.before.items.has(itemRow) || this.now.items.has(itemRow);
  }

  /** True when an item with one of its labels came or changed. */
  hasNewsByLabels(itemRow: number): boolean {
    const { before, now } = this;
    return this.catalogue
      .labelsAt(itemRow)
      .some((label) => before.labels.has(label) || now.labels.has(label));
  }

  /** True when one of its users has liked something. */
  hasNewsByUsers(itemRow: number): boolean {
    const { before, now } = this;
    // Who they are is not known here.
    if (this.reads.isPartial) return before.users.count + now.users.count > 0;
    const users = this.reads.readItemUsers(itemRow);
    return users.length > USERS_MAX || users.some((user) => before.users.has(user) || now.users.has(user));
  }
}
