import type { Feedback, Item } from '../../src/domain/entities.ts';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { formatTimestamp } from '../../src/domain/rfc3339.ts';
import { getRequest, postRequest } from './connection.ts';

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

export function itemOf(ItemId: string, random: Random): Item {
  const Categories = [`category-${random.below(20)}`];
  return { ...EMPTY_ITEM, ItemId, Categories, Timestamp: '2024-01-01T00:00:00Z', Labels: labelsOf(random) };
}

/** All items in batches, seeded. */
export function* itemBatches({ items }: WorldSize, batchRecords: number): Generator<Item[]> {
  const random = createRandom(3);
  for (let from = 0; from < items; from += batchRecords) {
    const length = Math.min(batchRecords, items - from);
    yield Array.from({ length }, (_, at) => itemOf(itemIdOf(from + at), random));
  }
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

/** The requests that post all items, then all feedback. */
export function* worldRequests(
  size: WorldSize,
  batchRecords = 10_000,
  itemRecords = batchRecords,
): Generator<Buffer> {
  for (const items of itemBatches(size, itemRecords)) yield postRequest('/api/items', items);
  for (const records of feedbackBatches(size, batchRecords)) yield postRequest('/api/feedback', records);
}

/** A like of now as it is posted. */
export function likeOf(UserId: string, ItemId: string) {
  return { FeedbackType: 'like', UserId, ItemId, Timestamp: '', Comment: '' };
}

/** So many questions for lists of ten, each of a user by chance. */
export function listRequests({ users }: WorldSize, count: number, seed: number): Buffer[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () =>
    getRequest(`/api/recommend/${userIdOf(random.below(users))}?n=10`),
  );
}
