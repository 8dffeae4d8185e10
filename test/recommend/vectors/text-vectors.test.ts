import { expect, test } from 'vitest';
import { comparisonWith } from '../../../src/recommend/vectors/packed-numbers.ts';
import { TextVectors } from '../../../src/recommend/vectors/text-vectors.ts';

const text = (Comment: string, Labels: string[] = []) => ({ Comment, Labels, Categories: [] });

function counted(...texts: string[]): TextVectors {
  const vectors = new TextVectors(256);
  for (const each of texts) vectors.count(text(each));
  return vectors;
}

function near(vectors: TextVectors, one: string, other: string): number {
  return comparisonWith(vectors.vectorOf(text(one))!, 'cosine').byNumbers(vectors.vectorOf(text(other))!);
}

test('rare words bring texts together, common ones hardly', () => {
  const common = Array.from({ length: 200 }, (_, at) => `the shop sells word${at}`);
  const vectors = counted(...common, 'the shop sells saffron', 'the store has saffron');
  const rare = near(vectors, 'the shop sells saffron', 'the store has saffron');
  expect(rare).toBeGreaterThan(0.5);
  expect(rare).toBeGreaterThan(3 * near(vectors, 'the shop sells saffron', 'the shop sells cumin'));
});

test('words of one stem are near, in any case and any script', () => {
  const vectors = counted(...Array.from({ length: 50 }, (_, at) => `text ${at}`));
  expect(near(vectors, 'Gardening', 'gardens')).toBeGreaterThan(0.25);
  expect(near(vectors, 'Über-Größe', 'über größe')).toBeCloseTo(1, 6);
  expect(near(vectors, 'Чайник красный', 'чайники красные')).toBeGreaterThan(0.25);
  expect(Math.abs(near(vectors, 'gardening', 'quaternion'))).toBeLessThan(0.15);
});

test('marks belong to their words: scripts with signs for vowels, and letters that are composed or not', () => {
  const vectors = counted(...Array.from({ length: 50 }, (_, at) => `text ${at}`));
  // The same letters with other vowels are other words: "day" and "to give" in Hindi, "to eat" and "together" in Thai.
  expect(Math.abs(near(vectors, 'दिन', 'देना'))).toBeLessThan(0.5);
  expect(Math.abs(near(vectors, 'กิน', 'กัน'))).toBeLessThan(0.5);
  expect(near(vectors, 'Cafe\u0301 creme', 'Café creme')).toBeCloseTo(1, 6);
});

test('labels count as the comment does, and a text without words has no vector', () => {
  const vectors = counted('a b', 'c d');
  expect(vectors.vectorOf(text('', ['red tea']))).toEqual(vectors.vectorOf(text('red tea')));
  expect(vectors.vectorOf(text(' -- ! ❤️'))).toBeUndefined();
  expect(counted().vectorOf(text('first of all'))).toBeDefined();
});
