import { expect, it } from 'vitest';
import { encodeFrame, type FrameKind } from '../../../src/model/part/model-bytes-and-checksum.ts';
import { decodeNested, encodeNested } from '../../../src/model/part/nested-arrays.ts';

const KIND: FrameKind = { magic: 0x54534554, version: 1, name: 'test value' };

it('keeps arrays, maps and numbers that JSON has no word for', () => {
  const value = {
    words: Uint32Array.of(0, 0xffffffff),
    none: new Float32Array(0),
    bySlice: new Map([[3, { rows: Uint32Array.of(7), counts: Uint32Array.of(1) }]]),
    list: [{ values: Float32Array.of(0.5, -2), zeroMs: Number.NaN }, Number.NEGATIVE_INFINITY, null, 'text'],
    last: Uint32Array.of(9),
  };
  expect(decodeNested(KIND, encodeNested(KIND, value))).toEqual(value);
});

it('refuses numbers that are not those of its arrays', () => {
  for (const length of [1, 3]) {
    const bytes = encodeFrame(KIND, { words: { $u32: length } }, [Uint32Array.of(1, 2)]);
    expect(() => decodeNested(KIND, bytes)).toThrow('its size does not fit its shape');
  }
});
