import { expect, it } from 'vitest';
import { counted, countedRecords, groupDigits } from '../../src/domain/group-digits.ts';

it('groups the digits of whole numbers by threes', () => {
  for (const value of [0, 7, 999, 1000, 65_536, 1_234_567, -1234])
    expect(groupDigits(value)).toBe(value.toLocaleString('en-US'));
});

it('counts one user as one', () => {
  expect([counted(1, 'users'), counted(0, 'users'), counted(1, 'feedback')]).toEqual([
    '1 user',
    '0 users',
    '1 feedback',
  ]);
  expect(countedRecords({ users: 1, items: 1234, feedback: 2 })).toBe('1 user, 1,234 items, 2 feedback');
});
