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

/** Stretches of time that are told apart at most: fits that come to nothing begin no more of them. */
const STRETCHES_MAX = 8;

/**
 * The changes that the served generation may not know: those since its data began to be read or, where another node has read
 * them, since the generation before it was first served, which is earlier than that.
 */
export class SinceFit {
  private readonly catalogue: Catalogue;
  private readonly reads: Pick<LocalReads, 'readItemUsers' | 'isPartial'>;
  private readonly isPositive: TypeTest;
  private now = noChanges();
  /** The earliest first, `now` last. */
  private stretches: readonly Changes[] = [this.now];
  /** The first stretch since the served generation was first served. */
  private served = this.now;
  /** The first one that the fit of this node that reads does not know. */
  private unread: Changes | undefined;

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

  /** A fit of this node begins to read. */
  beginReading(): void {
    if (this.stretches.length < STRETCHES_MAX) this.begin(this.stretches);
    this.unread = this.now;
  }

  /** Another generation is served from now on. @param isOwn true for what the last fit of this node that read has learned */
  serve(isOwn: boolean): void {
    const from = (isOwn ? this.unread : undefined) ?? this.served;
    this.begin(this.stretches.slice(this.stretches.indexOf(from)));
    this.served = this.now;
    this.unread = undefined;
  }

  hasChanged(itemRow: number): boolean {
    return this.stretches.some(({ items }) => items.has(itemRow));
  }

  /** True when an item with one of its labels came or changed. */
  hasNewsByLabels(itemRow: number): boolean {
    return this.catalogue
      .labelsAt(itemRow)
      .some((label) => this.stretches.some(({ labels }) => labels.has(label)));
  }

  /** True when one of its users has liked something. */
  hasNewsByUsers(itemRow: number): boolean {
    const { stretches } = this;
    // Who they are is not known here.
    if (this.reads.isPartial) return stretches.some(({ users }) => users.count > 0);
    const users = this.reads.readItemUsers(itemRow);
    return (
      users.length > USERS_MAX || users.some((user) => stretches.some((stretch) => stretch.users.has(user)))
    );
  }

  private begin(before: readonly Changes[]): void {
    this.now = noChanges();
    this.stretches = [...before, this.now];
  }
}
