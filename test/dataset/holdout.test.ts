import { describe, expect, it } from 'vitest';
import { HOLDOUT_USERS_MIN, holdOut } from '../../src/dataset/holdout.ts';

const USERS = 1000;
const PER_USER = 10;

/** User u takes the items 0 to 9 at times that grow with the item, all users alike. */
function pairs(time: (user: number, item: number) => number) {
  const userRows = Array.from({ length: USERS * PER_USER }, (_, at) => Math.floor(at / PER_USER));
  const itemRows = userRows.map((_, at) => at % PER_USER);
  return { userRows, itemRows, times: userRows.map((user, at) => time(user, itemRows[at]!)) };
}

describe('the records held out', () => {
  it('are the latest twentieth', () => {
    const data = pairs((user, item) => item * USERS + user);
    const { late, judged, sinceTime } = holdOut(data, 1);
    expect(late).toHaveLength(500);
    expect(judged).toEqual(late);
    expect(sinceTime).toBe((PER_USER - 1) * USERS + USERS / 2);
    for (const at of late) {
      expect(data.itemRows[at]).toBe(PER_USER - 1);
      expect(data.userRows[at]).toBeGreaterThanOrEqual(USERS / 2);
    }
  });

  it('are scattered by the seed where times say nothing', () => {
    const data = pairs(() => 7);
    const { late } = holdOut(data, 1);
    expect(late).toHaveLength(500);
    expect(new Set(Array.from(late, (at) => data.itemRows[at])).size).toBe(PER_USER);
    expect(holdOut(data, 1).late).toEqual(late);
    expect(holdOut(data, 2).late).not.toEqual(late);
  });

  it('are not judged by where they are all that a user has', () => {
    const data = pairs((user, item) => (user >= 600 && user < 605 ? 1e9 : item * USERS + user));
    const { late, judged } = holdOut(data, 1);
    expect(late).toHaveLength(500);
    expect(judged).toHaveLength(450);
    for (const at of judged) expect(data.userRows[at]! >= 600 && data.userRows[at]! < 605).toBe(false);
  });

  it('are none where too few users could be judged', () => {
    const userRows = Array.from({ length: 10_000 }, (_, at) => at % (HOLDOUT_USERS_MIN - 1));
    const itemRows = userRows.map((_, at) => at);
    expect(holdOut({ userRows, itemRows, times: itemRows }, 1).late).toHaveLength(0);
    expect(holdOut({ userRows: [0], itemRows: [0], times: [0] }, 1).late).toHaveLength(0);
  });
});
