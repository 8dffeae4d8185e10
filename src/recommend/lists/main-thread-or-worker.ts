import type { History } from '../history/history.ts';
import type { UserListsOptions } from './user-lists-options.ts';

/** A list that takes longer to make is not made on the thread that serves, milliseconds. */
const MADE_HERE_MS_MAX = 4;
/** Nor is the list of a user with more feedback than this, which takes long for that alone. */
export const RECORDS_HERE_MAX = 10_000;
/** Nor any of a catalogue with more items: a model takes milliseconds to look through them. */
const ITEMS_HERE_MAX = 250_000;

/** Knows which lists, and which questions that are answered like lists, take the thread that serves too long. */
export class MainThreadOrWorker {
  private readonly options: Pick<UserListsOptions, 'budget' | 'itemCount'>;

  constructor(options: MainThreadOrWorker['options']) {
    this.options = options;
  }

  /** True where a worker is to do it. */
  takesLong(history: History): boolean {
    const { budget, itemCount } = this.options;
    if (history.length > RECORDS_HERE_MAX) return true;
    return !budget.isUnlimited && (budget.meanMs > MADE_HERE_MS_MAX || itemCount() > ITEMS_HERE_MAX);
  }

  /** Does it here, and counts its time. */
  timed<T>(work: () => T): T {
    return this.options.budget.spend(work);
  }
}
