import { expect, it } from 'vitest';
import {
  decodeNested,
  encodeNested,
  type FrameKind,
} from '../../../src/model/part/model-bytes-and-checksum.ts';

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
  const bytes = encodeNested(KIND, { words: Uint32Array.of(1, 2) });
  const place = bytes.indexOf('2'.charCodeAt(0), bytes.indexOf(':'.charCodeAt(0), 30));
  for (const length of ['1', '3']) {
    const other = bytes.with(place, length.charCodeAt(0));
    expect(() => decodeNested(KIND, other)).toThrow('its checksum differs');
    expect(() => decodeNested(KIND, other, true)).toThrow('its size does not fit its shape');
  }
});
