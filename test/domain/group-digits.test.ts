import { expect, it } from 'vitest';
import { groupDigits } from '../../src/domain/group-digits.ts';

it('groups the digits of whole numbers by threes', () => {
  for (const value of [0, 7, 999, 1000, 65_536, 1_234_567, -1234])
    expect(groupDigits(value)).toBe(value.toLocaleString('en-US'));
});
