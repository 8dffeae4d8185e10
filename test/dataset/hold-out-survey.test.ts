import { describe, expect, it } from 'vitest';
import { holdOut as chooseHoldOut, type TimedPairs } from '../../bench/quality/hold-out.ts';
import { HOLDOUT_USERS_MIN } from '../../src/dataset/hold-out-survey.ts';

const DAY_MS = 86_400_000;
const USERS = 1000;
const PER_USER = 10;

/** User u takes the items 0 to 9 at times that grow with the item, all users alike. */
function pairs(time: (user: number, item: number) => number) {
  const userRows = Array.from({ length: USERS * PER_USER }, (_, at) => Math.floor(at / PER_USER));
  const itemRows = userRows.map((_, at) => at % PER_USER);
  return { userRows, itemRows, times: userRows.map((user, at) => time(user, itemRows[at]!)) };
}

/** By positions. */
function holdOut(pairs: TimedPairs, seed: number) {
  const { late, judged, sinceTime } = chooseHoldOut(pairs, seed);
  return { late: late.positions, judged: judged.positions, sinceTime };
}

describe('the records held out', () => {
  it('are the latest twentieth', () => {
    const data = pairs((user, item) => (item * USERS + user) * DAY_MS);
    const { late, judged, sinceTime } = holdOut(data, 1);
    expect(late).toHaveLength(500);
    expect(judged).toEqual(late);
    expect(sinceTime).toBe(((PER_USER - 1) * USERS + USERS / 2) * DAY_MS);
    for (const at of late) {
      expect(data.itemRows[at]).toBe(PER_USER - 1);
      expect(data.userRows[at]).toBeGreaterThanOrEqual(USERS / 2);
    }
  });

  it('are scattered by the seed where times say nothing', () => {
    const data = pairs(() => 7);
    const { late } = holdOut(data, 1);
    // A twentieth are of 400 users or so, which is not quite enough.
    expect(late).toHaveLength(1000);
    expect(new Set(Array.from(late, (at) => data.itemRows[at])).size).toBe(PER_USER);
    expect(holdOut(data, 1).late).toEqual(late);
    expect(holdOut(data, 2).late).not.toEqual(late);
  });

  it('are not judged by where they are all that a user has', () => {
    const data = pairs((user, item) => (user >= 600 && user < 605 ? 1e9 : item * USERS + user) * DAY_MS);
    const { late, judged } = holdOut(data, 1);
    expect(late).toHaveLength(1000);
    expect(judged).toHaveLength(950);
    for (const at of judged) expect(data.userRows[at]! >= 600 && data.userRows[at]! < 605).toBe(false);
  });

  it('are more of a set in which few users come back', () => {
    // A user's records follow one another: only a tenth come back, each with one record in the last fifth.
    const data = pairs((user, item) =>
      user < 100 && item === 9 ? 9000 + user * 10 : user * PER_USER + item,
    );
    const users = new Set(Array.from(holdOut(data, 1).judged, (at) => data.userRows[at]));
    expect(users.size).toBeGreaterThanOrEqual(100);
    expect(holdOut(data, 1).late.length).toBe(2000);
  });

  it('are longer than a busy hour', () => {
    // The last tenth is of one second, the rest of four days.
    const HOUR_MS = 3_600_000;
    const data = pairs((user, item) =>
      item === 9 ? 100 * HOUR_MS + user : (item * USERS + user) * 0.01 * HOUR_MS,
    );
    const { late, sinceTime } = holdOut(data, 1);
    expect(late).toHaveLength(2000);
    expect(sinceTime).toBeCloseTo(80 * HOUR_MS, 0);
  });

  it('are of a sample of the users where there are very many', () => {
    const userRows = Array.from({ length: 600_000 }, (_, at) => Math.floor(at / 6));
    const itemRows = userRows.map((_, at) => at % 6);
    const times = userRows.map((user, at) => (at % 6) * 100_000 * 86_400 + user * 86_400);
    const { late, judged } = holdOut({ userRows, itemRows, times }, 1);
    expect(late).toHaveLength(30_000);
    expect(judged.length).toBeGreaterThan(15_000);
    expect(judged.length).toBeLessThan(25_000);
    expect(holdOut({ userRows, itemRows, times }, 1).judged).toEqual(judged);
  });

  it('are the latest of each user where no user comes back', () => {
    const data = pairs((user, item) => user * 1e6 + item);
    const { late, judged, sinceTime } = holdOut(data, 1);
    expect(late).toEqual(judged);
    expect(Array.from(late, (at) => at)).toEqual(
      Array.from({ length: USERS }, (_, user) => user * PER_USER + 9),
    );
    expect(sinceTime).toBe(Math.max(...data.times));
  });

  it('are none where too few users could be judged', () => {
    const userRows = Array.from({ length: 10_000 }, (_, at) => at % (HOLDOUT_USERS_MIN - 1));
    const itemRows = userRows.map((_, at) => at);
    expect(holdOut({ userRows, itemRows, times: itemRows }, 1).late).toHaveLength(0);
    expect(holdOut({ userRows: [0], itemRows: [0], times: [0] }, 1).late).toHaveLength(0);
    expect(holdOut({ userRows: [], itemRows: [], times: [] }, 1).late).toHaveLength(0);
  });
});
