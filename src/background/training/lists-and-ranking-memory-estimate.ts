/** Memory of the stages of a fit that learn no part, worked out before they begin; see `StageMemory` for the others. */

import { LATE_MAX } from '../../dataset/hold-out-survey.ts';
import type { TrainingData } from '../../dataset/training-data.ts';
import { sharedBytesOf } from '../../memory/find-shared-buffers.ts';
import { RANKING_FEATURES } from '../../recommend/models/feature-names.ts';
import { itemsOfUsersBytes } from '../../recommend/neighbors/items-of-users.ts';
import { POPULARITY_SCALES } from '../../recommend/popularity/popularity-scales.ts';
import { MATCHERS } from '../../recommend/sources/registry.ts';
import { JUDGED_USERS_MAX, type ListPlan } from '../../threads/messages.ts';

/** The log's words for the memory of a stage. */
export const STAGE_MEMORY = 'memory that this stage of the fit may take';
/** A thread that makes lists: candidates, scores and histories of one user at a time, and a block of lists to be stored. */
const LIST_THREAD_BYTES = 24 * 2 ** 20;
/** Counts of an item on each scale, in the window, and in the slices of it that have any. */
const TREND_BYTES = 4 * (POPULARITY_SCALES.length + 2) + 16 * 8;
/** A record in columns: its rows, type and time. */
const FEEDBACK_BYTES = 4 + 4 + 2 + 8;
/** Each recommender and each popularity scale proposes as many as a list is long. */
const SOURCES = MATCHERS.length + POPULARITY_SCALES.length;

/** Making lists: the plan with the models that it names, which all threads share, and what each thread takes. */
export function listBytes(plan: ListPlan, threads: number): number {
  const userBased = plan.settings.user_based ? itemsOfUsersBytes(plan.timesMs.length) : 0;
  return sharedBytesOf(plan) + threads * (LIST_THREAD_BYTES + userBased);
}

/** A like that is held out: in columns that grow by doubling, sorted by time, and those before the next moment. */
const LATE_LIKE_BYTES = 3 * FEEDBACK_BYTES + (4 + FEEDBACK_BYTES) + FEEDBACK_BYTES;

/**
 * Learning to rank: the same plan, the counts as of the moment that is judged, the judged users' candidates, and what is held
 * out, by which later moments are judged.
 */
export function rankingBytes(plan: ListPlan, { interactions }: Pick<TrainingData, 'interactions'>): number {
  const late = Math.min(interactions.count, LATE_MAX) * LATE_LIKE_BYTES;
  const candidates = JUDGED_USERS_MAX * plan.settings.cacheSize * SOURCES;
  const examples = candidates * (RANKING_FEATURES.length * 4 + 1);
  return listBytes(plan, 1) + plan.timesMs.length * TREND_BYTES + 2 * examples + late;
}

/** Tells what a stage may take, as `PartTrainer` does for those that learn a part. */
export function plannedMb(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
