import type { Commit } from '../commit-effects.ts';
import type { Group } from '../lmdb/writer/group-commit.ts';

/** The replica in the folder, as the loop drives it. */
export interface Replica {
  /** Carries out commits in one transaction. @throws Error when they cannot be written; nothing of them is then */
  replicate(commits: readonly Commit[]): Group;
  /** True while `slice` has something to do. */
  readonly hasSlices: boolean;
  /** Does a part of a removal that takes many transactions. */
  slice(): Group;
  readonly nextTransaction: number;
}
