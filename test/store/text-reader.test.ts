import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextReader } from '../../src/store/lmdb/format/text-reader.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(0, 1, 31, 32, 33, 255, 256, 65_535, 65_536).map((length) => 'x'.repeat(length)),
);

test('what MessagePack wrote is read back, wherever it stands', () => {
  const reader = new TextReader();
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), text, fc.nat(9), (texts, last, offset) => {
      const packed = encode([texts, last]);
      const bytes = new Uint8Array(offset + packed.length);
      bytes.set(packed, offset);
      expect(reader.open(bytes, offset).arrayLength()).toBe(2);
      expect(reader.texts()).toEqual(texts);
      expect(reader.text()).toBe(last);
    }),
  );
});

test.each([15, 16, 65_535, 65_536])('a list of %i texts is read back', (length) => {
  const texts = Array.from({ length }, (_, at) => String(at));
  expect(new TextReader().open(encode(texts), 0).texts()).toEqual(texts);
});

test('what is no text and no list is refused', () => {
  expect(() => new TextReader().open(encode(7), 0).text()).toThrow('no text');
  expect(() => new TextReader().open(encode('a'), 0).texts()).toThrow('no array');
});

test('a text keeps the mark of byte order that it begins with', () => {
  const texts = ['\u{feff}', '\u{feff}film', `\u{feff}${'x'.repeat(100)}`];
  expect(new TextReader().open(encode(texts), 0).texts()).toEqual(texts);
});
