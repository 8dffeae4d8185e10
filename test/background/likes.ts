import { createRandom } from '../../src/domain/random.ts';
import type { Stores } from '../../src/store/open/open-store.ts';
import { putFeedback } from '../store/helpers.ts';

const START_MS = Date.parse('2024-01-01T00:00:00Z');

/** Stores seeded likes of users with a taste, one a minute, enough that records can be held out. */
export async function storeLikes({ data }: Stores, userCount = 500, itemCount = 60): Promise<void> {
  const random = createRandom(11);
  const records = [];
  for (let at = 0; at < userCount * 8; at++) {
    const user = random.below(userCount);
    const own = random.float() < 0.75;
    const item = own ? random.below(itemCount / 3) * 3 + (user % 3) : random.below(itemCount);
    records.push({
      FeedbackType: 'like',
      UserId: `u${user}`,
      ItemId: `i${item}`,
      Timestamp: new Date(START_MS + at * 60_000).toISOString(),
    });
  }
  await data.write(putFeedback(records));
}
