import type { Limits } from '../domain/request-limits.ts';
import type { VectorSpaces } from '../domain/vector-space.ts';

/** Durability of an acknowledged write: `disk` survives a power loss, `commit` a crash of the process. */
export type SyncMode = 'disk' | 'commit';

/** Settings that the rules of writing depend on. */
export interface WriteRules {
  readonly limits: Limits;
  readonly autoInsertUser: boolean;
  readonly autoInsertItem: boolean;
  /** As the configuration writes them, with thresholds and weights. */
  readonly positiveFeedbackTypes: readonly string[];
  readonly readFeedbackTypes: readonly string[];
  /** Feedback types of which every event of a user and an item counts; of others the first alone. */
  readonly repeatedTypes?: readonly string[];
  /** True where those are all types. */
  readonly countsAllRepeats?: boolean;
  /** Spaces that items may have a vector in; none where absent. */
  readonly vectorSpaces?: VectorSpaces;
}
