import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { readPositiveKinds } from '../../src/domain/positive-feedback-types.ts';
import { aloneWay } from '../../src/evaluate/evaluate-service.ts';
import { createTrial } from '../../src/evaluate/hold-out-protocol.ts';
import { readFeedback } from '../../src/evaluate/read-feedback.ts';
import { TrialService } from '../../src/evaluate/trial-service.ts';
import type { Kind } from '../../src/exchange/guess-columns.ts';
import type { FeedbackDetails } from '../../src/store/feedback-details.ts';

const time = (hour: number) => new Date(Date.UTC(2024, 4, 1, hour)).toISOString();

/** What a store tells of purchases that happened at these hours; an hour below 0 takes one back. */
function bought(UserId: string, ItemId: string, ...hours: readonly number[]): FeedbackDetails {
  const [first = 0] = hours;
  const events = hours.map((hour) => ({
    Timestamp: time(Math.abs(hour)),
    ...(hour < 0 && { Value: -1 }),
    Count: hour < 0 ? 0 : 1,
  }));
  return {
    ...{ FeedbackType: 'purchase', UserId, ItemId, Timestamp: time(first), Comment: '' },
    ...{ Count: hours.length, LastTimestamp: time(Math.abs(hours.at(-1)!)) },
    ...(hours.length > 1 && { Occurrences: events }),
  };
}

const pastOf = (rows: readonly FeedbackDetails[]) =>
  readFeedback(
    async function* (kind: Kind) {
      if (kind === 'feedback') yield { rows: [...rows], cursor: '' };
    },
    readPositiveKinds(['purchase']),
  );

describe('an evaluation of feedback that happened several times', () => {
  it('knows each event at its own time, of which one that takes back is no like', async () => {
    const past = await pastOf([bought('ann', 'tea', 1, 5, -9), bought('bob', 'tea', 3)]);
    expect(past.timesMs.map((timeMs) => new Date(timeMs).getUTCHours())).toEqual([1, 5, 9, 3]);
    expect(past.userRows).toEqual([0, 0, 0, 1]);
    expect(past.isPositive).toEqual([true, true, false, true]);
  });

  it('tells the service all of them: what one person buys again and again is popular where repeats count', async () => {
    const rows = [
      bought('ann', 'tea', 1, 2, 3, 4, 5, 6),
      ...['bob', 'cid', 'dan'].map((userId) => bought(userId, 'ale', 2)),
      ...[
        bought('eve', 'milk', 3),
        bought('fay', 'milk', 9),
        bought('fay', 'jam', 4),
        bought('gus', 'jam', 4),
      ],
    ];
    const trial = createTrial(await pastOf(rows), { share: 0.05, usersMax: 10, seed: 1 });
    const { itemIds, userIds } = trial.past;
    const firstOf = async (repeated: Record<string, 'count'>) => {
      const data_source = { positive_feedback_types: ['purchase'], repeated };
      const service = new TrialService(trial, defaultConfig({ recommend: { data_source } }));
      try {
        const { lists } = await service.serve(aloneWay('popular')[1], 3, () => {});
        return itemIds[lists.get(userIds.indexOf('fay'))![0]!];
      } finally {
        await service.close();
      }
    };
    expect(await firstOf({ purchase: 'count' })).toBe('tea');
    expect(await firstOf({})).toBe('ale');
  });
});
