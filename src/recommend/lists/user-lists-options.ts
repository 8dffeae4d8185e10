import type { Clock } from '../../domain/clock.ts';
import type { CacheStore } from '../../store/cache-store.ts';
import type { GenerationSlot } from '../models/generation.ts';
import type { ActiveUsers } from './active-users.ts';
import type { ListVersions } from './list-versions.ts';
import type { TimeBudget } from './main-thread-time-budget.ts';
import type { ListMaker } from './maker/list-maker.ts';
import type { MakeInWorker } from './remake-queue.ts';
import type { StaleLists } from './stale-lists.ts';

/** What users' lists stand on. */
export interface UserListsOptions {
  readonly cache: CacheStore;
  readonly generations: GenerationSlot;
  readonly maker: ListMaker;
  readonly staleLists: StaleLists;
  /** Tells what lists are made from, where other nodes write to the data or make lists, too. */
  readonly versions?: ListVersions | undefined;
  readonly active: ActiveUsers;
  /** One more than the highest user row ever given. */
  readonly userCount: () => number;
  /** False while counts of feedback are awaited by which lists are ranked: none is made before. */
  readonly isSettled: () => boolean;
  /** Items of the catalogue. */
  readonly itemCount: () => number;
  readonly clock: Clock;
  /** Items that became listable after a time, milliseconds since the epoch; undefined when they are too many. */
  readonly arrivalsSince: (sinceMs: number) => readonly number[] | undefined;
  /** What of this thread's time may go into making lists again. */
  readonly budget: TimeBudget;
  readonly makeInWorker: MakeInWorker;
  /** True where some of what lists are made of is to be had in a worker alone. */
  readonly needsWorker: boolean;
  /** Called when the user's list is another. */
  readonly onReplaced: (userRow: number) => void;
  readonly onTrouble: (message: string, error: unknown) => void;
}
