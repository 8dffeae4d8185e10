import { setTimeout as delay } from 'node:timers/promises';
import type { Summary } from '../../domain/admin-schemas.ts';
import type { Caller } from './caller.ts';
import type { OnProgress } from './load-sample.ts';
import type { Sample } from './sample.ts';

const LOOK_MS = 500;
/** Looks from one asking for a fit to the next. */
const LOOKS_AN_ASKING = 10;

/**
 * Has the node that leads learn from the sample, and waits until this one serves what it has learned.
 * @throws Error when no node leads
 */
export async function awaitLearned(
  ask: Caller,
  { feedback }: Pick<Sample, 'feedback'>,
  onProgress: OnProgress,
): Promise<void> {
  const likes = feedback.filter(({ FeedbackType }) => FeedbackType === 'like');
  const users = new Set(likes.map(({ UserId }) => UserId)).size;
  const items = new Set(likes.map(({ ItemId }) => ItemId)).size;
  const stage = 'learning, by the node that leads';
  onProgress(stage, 0, 1);
  for (let looks = 0; ; looks++) {
    const { Model } = await ask<Summary>('/api/admin/summary');
    if (Model !== undefined && Model.Users >= users && Model.Items >= items) break;
    // What was begun before all of the sample was there must be followed by another; to ask for one that runs changes nothing.
    if (looks % LOOKS_AN_ASKING === 0) await ask('/api/admin/fit', 'POST');
    await delay(LOOK_MS);
  }
  onProgress(stage, 1, 1);
}
