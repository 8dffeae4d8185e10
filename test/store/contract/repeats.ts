import { describe, expect, test } from 'vitest';
import { type ChangeSet, type DataStore, FeedbackColumns } from '../../../src/store/data-store.ts';
import { detailsOf, eventsOfDetails } from '../../../src/store/feedback-details.ts';
import { OCCURRENCES_MAX } from '../../../src/store/repeats.ts';
import { feedback, passed, putFeedback } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

const counted = { positiveFeedbackTypes: ['buy>0'], readFeedbackTypes: [], repeatedTypes: ['buy'] };

/** A purchase of bread on a day of January 2024. */
const buy = (day: number, Value = 1) =>
  feedback('buy', 'u', 'bread', { Timestamp: new Date(Date.UTC(2024, 0, day)).toISOString(), Value });

async function details(data: DataStore) {
  const found = await data.getFeedback('buy', 'u', 'bread');
  return found && detailsOf(found, data.local);
}

/** Days of January of all that a store told, those of what went below 0, in order. */
function daysOf({ added, removed }: ChangeSet): number[] {
  const days = ({ length, timesMs }: FeedbackColumns, sign: number) =>
    Array.from(timesMs.subarray(0, length), (timeMs) => sign * new Date(timeMs).getUTCDate());
  return [...days(added, 1), ...days(removed, -1)].sort((a, b) => a - b);
}

/** Feedback that happened several times. */
export function repeats({ open, reopen }: StoreUnderTest): void {
  describe('repeats', () => {
    test('of a type whose repeats count, each event is kept, and the same one sent again is none', async () => {
      let data = await open(counted);
      const told: number[][] = [];
      data.onChange((changes) => {
        told.push(daysOf(changes));
      });
      const write = async (...records: ReturnType<typeof buy>[]) =>
        (await data.write(putFeedback(records))).rowAffected;
      expect(await write({ ...buy(3, 2), Comment: 'first' })).toBe(1);
      expect(await write(buy(9), buy(5, 4), buy(9))).toBe(2);
      // An answer was lost: the batch comes again.
      expect(await write(buy(9), buy(5, 4), buy(9))).toBe(0);
      expect(told).toEqual([[3], [5, 9]]);
      data = await reopen(data, counted);
      const first = { ...buy(3, 2), Timestamp: '2024-01-03T00:00:00Z', Comment: 'first' };
      expect(await data.getUserFeedback('u')).toEqual([first]);
      expect(await details(data)).toEqual({
        ...first,
        Count: 3,
        LastTimestamp: '2024-01-09T00:00:00Z',
        ValueSum: 7,
        Occurrences: [
          { Timestamp: '2024-01-03T00:00:00Z', Value: 2, Count: 1 },
          { Timestamp: '2024-01-05T00:00:00Z', Value: 4, Count: 1 },
          { Timestamp: '2024-01-09T00:00:00Z', Value: 1, Count: 1 },
        ],
      });
      const columns = new FeedbackColumns();
      await passed(data, ['u']);
      data.local.readUserFeedback(data.local.userRow('u'), columns);
      expect([columns.length, columns.timesMs[0]]).toEqual([1, Date.UTC(2024, 0, 9)]);
      expect((await data.getStats()).feedback).toBe(1);
      // Without the setting the first stays.
      data = await reopen(data, { ...counted, repeatedTypes: [] });
      expect(await write(buy(20))).toBe(0);
      expect(await details(data)).toMatchObject({ Count: 3 });
    });

    test('the comment is that of the earliest event, in whatever order they come', async () => {
      const events = [buy(9), buy(3), buy(5)].map((event, at) => ({ ...event, Comment: `event ${at}` }));
      const of = async (...batches: (typeof events)[]) => {
        const data = await open(counted);
        for (const batch of batches) await data.write(putFeedback(batch));
        return data.getUserFeedback('u');
      };
      const [late, early, middle] = events as [(typeof events)[0], (typeof events)[0], (typeof events)[0]];
      const expected = await of([early, middle, late]);
      expect(expected).toEqual([{ ...early, Timestamp: '2024-01-03T00:00:00Z' }]);
      expect(await of([late], [early], [middle])).toEqual(expected);
      expect(await of([late, middle, early])).toEqual(expected);
    });

    test('what comes without a time is new each time, in one batch or many at once', async () => {
      const data = await open(counted);
      const write = async (count: number, value: number) => {
        const records = Array.from({ length: count }, () => ({ ...buy(1, value), Timestamp: '' }));
        return (await data.write(putFeedback(records))).rowAffected;
      };
      expect(await write(3, 2)).toBe(3);
      const many = await Promise.all(Array.from({ length: 40 }, () => write(1, 1)));
      expect(many).toEqual(many.map(() => 1));
      expect(await details(data)).toMatchObject({ Count: 43, ValueSum: 46 });
      expect(await details(await reopen(data, counted))).toMatchObject({ Count: 43, ValueSum: 46 });
    });

    test('what is given back counts no more, and one bought anew does', async () => {
      const data = await open(counted);
      const told: number[][] = [];
      data.onChange((changes) => {
        told.push(daysOf(changes));
      });
      for (const each of [buy(1), buy(2, -1), buy(3)]) await data.write(putFeedback([each]));
      // It was positive, was none, and is again: the kind under which it is read changes.
      expect(told).toEqual([[1], [-1, 1], [-1, 1, 3]]);
      expect(await details(data)).toMatchObject({
        Count: 2,
        ValueSum: 1,
        LastTimestamp: '2024-01-03T00:00:00Z',
      });
    });

    test('overwriting and deleting take all events', async () => {
      const data = await open(counted);
      const told: number[][] = [];
      data.onChange((changes) => {
        told.push(daysOf(changes));
      });
      await data.write(putFeedback([buy(1), buy(2)]));
      await data.write(putFeedback([buy(7)], true));
      expect(await details(data)).toMatchObject({ Count: 1, Timestamp: '2024-01-07T00:00:00Z' });
      expect(data.local.repeatedCount).toBe(0);
      await data.write(putFeedback([buy(8), { ...buy(4), ItemId: 'milk' }]));
      const pair = { feedbackType: 'buy', userId: 'u', itemId: 'bread' };
      await data.write({ kind: 'deleteFeedback', ...pair });
      await data.write(putFeedback([buy(11), buy(12)]));
      await data.write({ kind: 'deleteUser', userId: 'u' });
      expect(told).toEqual([
        [1, 2],
        [-2, -1, 7],
        [4, 8],
        [-8, -7],
        [11, 12],
        [-12, -11, -4],
      ]);
      expect(data.local.repeatedCount).toBe(0);
    });

    test('of very many events the oldest are put together, and the count and the sum stay', async () => {
      const data = await open(counted);
      const many = OCCURRENCES_MAX * 3;
      for (let day = 1; day <= many; day++) await data.write(putFeedback([buy(day, 0.1)]));
      expect((await data.write(putFeedback([buy(3, 0.1)]))).rowAffected).toBe(0);
      const found = (await details(data))!;
      expect([found.Count, found.ValueSum, found.Occurrences!.length]).toEqual([many, 19.2, OCCURRENCES_MAX]);
      // What is exported makes the same again.
      const copy = await open(counted);
      await copy.write(putFeedback(eventsOfDetails(found)));
      expect(await details(copy)).toEqual(found);
    });
  });
}
