import { describe, expect, it } from 'vitest';
import { holdOut } from '../../src/dataset/holdout.ts';
import { buildInteractions } from '../../src/dataset/interactions.ts';
import { fingerprintOfAll, leaveOut } from '../../src/dataset/leave-out.ts';

/** Users take items 0 to 9 one after the other, the last one twice: the second record is of another kind. */
function pairs(userCount: number) {
  const userRows: number[] = [];
  const itemRows: number[] = [];
  const times: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (const item of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]) {
      userRows.push(user);
      itemRows.push(item);
      times.push(times.length === 0 ? 0 : userCount * item + user);
    }
  }
  return { userRows, itemRows, times };
}

describe('leaving out what is held out', () => {
  it('keeps every other record, in order', () => {
    const data = pairs(600);
    const { userRows, itemRows, heldOut } = leaveOut(data, 1);
    const held = new Set(Array.from(heldOut.userRows, (user, at) => `${user} ${heldOut.itemRows[at]}`));
    const expected = data.userRows.map((user, at) => `${user} ${data.itemRows[at]}`);
    expect(held.size).toBe(heldOut.userRows.length);
    expect(held.size).toBeGreaterThan(100);
    expect(Array.from(userRows, (user, at) => `${user} ${itemRows[at]}`)).toEqual(
      expected.filter((pair) => !held.has(pair)),
    );
  });

  it('leaves out every record of a pair held out', () => {
    const data = pairs(600);
    const { userRows, itemRows, heldOut } = leaveOut(data, 1);
    const users = new Set(heldOut.userRows);
    for (let at = 0; at < userRows.length; at++) {
      if (users.has(userRows[at]!)) expect(itemRows[at]).not.toBe(9);
    }
    expect(holdOut(data, 1).judged.length).toBeGreaterThan(heldOut.userRows.length);
  });

  it('keeps everything where nothing is held out', () => {
    const data = pairs(10);
    const { userRows, itemRows, heldOut } = leaveOut(data, 1);
    expect([...userRows]).toEqual(data.userRows);
    expect([...itemRows]).toEqual(data.itemRows);
    expect(heldOut.userRows).toHaveLength(0);
  });

  it('has a fingerprint that sees a pair which is held out', () => {
    const { userRows, itemRows, heldOut } = leaveOut(pairs(600), 1);
    const train = buildInteractions({ userCount: 600, itemCount: 20, userRows, itemRows });
    const other = { ...heldOut, itemRows: heldOut.itemRows.with(0, 15) };
    expect(fingerprintOfAll(train, heldOut)).toBe(fingerprintOfAll(train, leaveOut(pairs(600), 1).heldOut));
    expect(fingerprintOfAll(train, other)).not.toBe(fingerprintOfAll(train, heldOut));
  });
});

it('weights stay with their records', () => {
  const data = pairs(600);
  const weights = Float32Array.from(data.userRows, (_, at) => at + 1);
  const kept = leaveOut({ ...data, weights }, 1);
  const expected = Array.from(kept.weights!, (weight) => [
    data.userRows[weight - 1],
    data.itemRows[weight - 1],
  ]);
  expect(Array.from(kept.userRows, (user, at) => [user, kept.itemRows[at]])).toEqual(expected);
  expect(leaveOut(data, 1)).not.toHaveProperty('weights');
});
