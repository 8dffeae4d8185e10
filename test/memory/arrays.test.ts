import { expect, test } from 'vitest';
import { bitWords, hasBit, setBit } from '../../src/memory/bits.ts';
import { grown } from '../../src/memory/growing-u32.ts';
import { filled, sharedF64 } from '../../src/memory/shared-arrays.ts';

test('bits are set one at a time, and those beyond the words are not', () => {
  const bits = new Uint32Array(bitWords(65));
  expect(bits.length).toBe(3);
  for (const row of [0, 31, 32, 64]) setBit(bits, row);
  const set = Array.from({ length: 200 }, (_, row) => row).filter((row) => hasBit(bits, row));
  expect(set).toEqual([0, 31, 32, 64]);
});

test('arrays at least double, keep their type and values, and go on with zeros', () => {
  expect(grown(Uint16Array.of(1, 2, 3), 4)).toEqual(Uint16Array.of(1, 2, 3, 0, 0, 0));
  expect(grown(Float64Array.of(0.5), 4)).toEqual(Float64Array.of(0.5, 0, 0, 0));
  expect(grown(new Uint8Array(0), 1)).toEqual(Uint8Array.of(0));
});

test('shared arrays hold what is put in and zeros behind', () => {
  const shared = filled(sharedF64(3), [1.5, Number.NaN]);
  expect(shared.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect([...shared]).toEqual([1.5, Number.NaN, 0]);
});
