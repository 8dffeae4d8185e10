import { expect, test } from 'vitest';
import { ConfigError, parseConfig } from '../../src/config/config.ts';
import {
  kindOf,
  positiveKindNames,
  positiveWeights,
  readPositiveKinds,
} from '../../src/domain/positive-feedback-types.ts';

test('an entry is a type, a threshold and a weight, the last two where given', () => {
  expect(readPositiveKinds(['like', 'rating >= 4.5', 'purchase=5', 'seconds<-1=0.5'])).toEqual([
    { name: 'purchase', feedbackType: 'purchase', threshold: undefined, weight: 5 },
    { name: 'like', feedbackType: 'like', threshold: undefined, weight: 1 },
    { name: 'rating>=4.5', feedbackType: 'rating', threshold: { operator: '>=', value: 4.5 }, weight: 1 },
    { name: 'seconds<-1', feedbackType: 'seconds', threshold: { operator: '<', value: -1 }, weight: 0.5 },
  ]);
  expect(positiveKindNames(['a b', 'c=2'])).toEqual(['c', 'a b']);
  expect(positiveWeights(['a', 'b', 'c=1'])).toBeUndefined();
  expect(positiveWeights(['a', 'c=2.5'])).toEqual(
    new Map([
      ['c', 2.5],
      ['a', 1],
    ]),
  );
});

test('of several kinds of one type the heaviest that fits counts', () => {
  const kinds = readPositiveKinds(['rating>=3', 'rating>=5=4', 'like']);
  const nameOf = (type: string, value: number) => kindOf(kinds, type, value)?.name;
  expect([2, 3, 4.9, 5].map((value) => nameOf('rating', value))).toEqual([
    undefined,
    'rating>=3',
    'rating>=3',
    'rating>=5',
  ]);
  expect(nameOf('like', 0)).toBe('like');
  expect(nameOf('other', 9)).toBeUndefined();
  const bounds = readPositiveKinds(['a>1', 'b<1', 'c<=1']);
  expect(['a', 'b', 'c'].map((type) => kindOf(bounds, type, 1)?.name)).toEqual([
    undefined,
    undefined,
    'c<=1',
  ]);
});

test.each([
  ['["rating>="]', /each entry a type such as "like", "rating>=4"/],
  ['["=3"]', /each entry a type such as/],
  ['["like=0"]', /expected weights above 0/],
  ['["like", "like=2"]', /expected "like" once, got it twice/],
])('the configuration refuses %s', (list, message) => {
  const toml = `[recommend.data_source]\npositive_feedback_types = ${list}`;
  expect(() => parseConfig(toml)).toThrow(ConfigError);
  expect(() => parseConfig(toml)).toThrow(message);
});
