import { describe, expect, it } from 'vitest';
import { HOLDOUT_USERS_MIN, holdOut } from '../../src/dataset/holdout.ts';

/** Each user takes the items 0 to 3 at the times 30, 10, 20, 30. */
function pairs(userCount: number) {
  const userRows: number[] = [];
  const itemRows: number[] = [];
  const times: number[] = [];
  for (let user = 0; user < userCount; user++) {
    [30, 10, 20, 30].forEach((time, item) => {
      userRows.push(user);
      itemRows.push(item);
      times.push(time);
    });
  }
  return { userRows, itemRows, times };
}

describe('the records held out', () => {
  it('are the latest of about a tenth of the users, of equal times the higher item', () => {
    const data = pairs(10_000);
    const positions = holdOut(data, 1);
    expect(positions.length).toBeGreaterThan(800);
    expect(positions.length).toBeLessThan(1200);
    for (const position of positions) expect(data.itemRows[position]).toBe(3);
    expect(new Set(Array.from(positions, (at) => data.userRows[at])).size).toBe(positions.length);
  });

  it('are other users for another seed', () => {
    expect(holdOut(pairs(10_000), 1)).not.toEqual(holdOut(pairs(10_000), 2));
  });

  it('are none where too few users could be judged', () => {
    expect(holdOut(pairs(HOLDOUT_USERS_MIN), 1)).toHaveLength(0);
  });

  it('leave users with one or two records alone', () => {
    const userRows = Array.from({ length: 20_000 }, (_, at) => at >> 1);
    const itemRows = userRows.map((_, at) => at % 2);
    expect(holdOut({ userRows, itemRows, times: itemRows }, 1)).toHaveLength(0);
  });
});
