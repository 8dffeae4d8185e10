import type { Feedback } from '../../src/domain/entities.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { formatTimestamp } from '../../src/domain/rfc3339.ts';

/** Size of the made-up data. */
export interface WorldSize {
  readonly users: number;
  readonly items: number;
  readonly feedback: number;
}

export const FULL_SIZE: WorldSize = { users: 50_000, items: 20_000, feedback: 1_000_000 };
export const SMOKE_SIZE: WorldSize = { users: 500, items: 300, feedback: 6000 };

const FIRST_MS = Date.UTC(2023, 0, 1);
const SPAN_S = 2 * 365 * 86_400;

export function userIdOf(user: number): string {
  return `user-${user}`;
}

export function itemIdOf(item: number): string {
  return `item-${item}`;
}

/** Labels of all items, of which each has three; the first few are common. */
const LABELS = 200;

/** The labels of an item. */
export function labelsOf(random: Random): string[] {
  const label = () => `label-${Math.floor(LABELS * random.float() ** 2)}`;
  return [...new Set([label(), label(), label()])];
}

/**
 * Feedback in batches, seeded. A few users and items have most of it (square and cube of a uniform), a third is
 * `like`, the rest `read`.
 */
export function* feedbackBatches(size: WorldSize, batchRecords: number): Generator<Feedback[]> {
  const random = createRandom(20);
  for (let made = 0; made < size.feedback; made += batchRecords) {
    yield Array.from({ length: Math.min(batchRecords, size.feedback - made) }, () => ({
      FeedbackType: random.below(3) === 0 ? 'like' : 'read',
      UserId: userIdOf(Math.floor(size.users * random.float() ** 2)),
      ItemId: itemIdOf(Math.floor(size.items * random.float() ** 3)),
      Timestamp: formatTimestamp(FIRST_MS + random.below(SPAN_S) * 1000),
      Comment: '',
    }));
  }
}
