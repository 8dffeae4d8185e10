import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanJson } from '../../src/domain/parse-json.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('depth and entries are those of the parsed value, however it is spaced', () => {
  const spaces = fc.constantFrom(undefined, ' ', '\t\n');
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), spaces, (value, space) => {
      const { depth, entries } = scanJson(bytes(JSON.stringify(value, null, space)), 100);
      expect(depth).toBe(depthOf(value));
      if (typeof value === 'object' && value !== null) expect(entries).toBe(Object.keys(value).length);
    }),
    { numRuns: 300 },
  );
});

test('values are counted at any depth', () => {
  expect(scanJson(bytes('[1,[2,3],{"a":4,"b":[]}]'), 9).values).toBeGreaterThanOrEqual(7);
  expect(scanJson(bytes(`[${'[],'.repeat(1000)}1]`), 9).values).toBeGreaterThan(1000);
});

test('the scan ends where it is too deep, at the end of what is not JSON too', () => {
  expect(scanJson(new Uint8Array(50_000_000).fill(0x5b), 32).depth).toBe(33);
  for (const text of ['', '"', '"\\', ']]]', '[,,,', '{"a']) scanJson(bytes(text), 2);
});
