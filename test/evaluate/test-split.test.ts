import { describe, expect, it } from 'vitest';
import { pick, splitLeaveLastOut } from '../../bench/quality/leave-last-out.ts';
import { splitByTime } from '../../src/evaluate/hold-out-protocol.ts';

describe('a temporal split', () => {
  it('holds out the latest records, the later in the input where times are equal', () => {
    const { train, test } = splitByTime([5, 1, 9, 5, 3], 0.4);
    expect([...train]).toEqual([0, 1, 4]);
    expect([...test]).toEqual([2, 3]);
  });
});

describe('leave last out', () => {
  it('holds out the latest record of each user with at least two', () => {
    const users = [0, 1, 0, 2, 2, 0];
    const times = [7, 1, 9, 4, 4, 8];
    const { train, test } = splitLeaveLastOut(users, times);
    expect([...test]).toEqual([2, 4]);
    expect(pick(users, train)).toEqual([0, 1, 2, 0]);
  });
});
