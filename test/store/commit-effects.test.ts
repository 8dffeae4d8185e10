import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_USER } from '../../src/domain/entity-fields.ts';
import { decodeParts, type Effects, encodeParts } from '../../src/store/commit-effects.ts';

const timeMs = fc.constantFrom(0, 1, -5, 1.7e12);
const value = fc.constantFrom(0, -1.5, 3);
const occurrences = fc.option(
  fc.array(fc.record({ timeMs, value, count: fc.nat(3) }), { minLength: 2, maxLength: 3 }),
  { nil: undefined },
);
const feedback = fc.record({
  userRow: fc.nat(2 ** 31),
  itemRow: fc.nat(2 ** 31),
  type: fc.constantFrom('like', '鯨', ''),
  timeMs: fc.oneof(timeMs, fc.constant(Number.NaN)),
  comment: fc.constantFrom('', 'ü'),
  value,
  occurrences,
  before: fc.option(fc.record({ timeMs, value, occurrences }), { nil: undefined }),
});
const part: fc.Arbitrary<Effects> = fc.record({
  deletedUserIds: fc.array(fc.string(), { maxLength: 2 }),
  deletedUserRows: fc.array(fc.nat(), { maxLength: 2 }),
  deletedItemIds: fc.array(fc.string(), { maxLength: 2 }),
  users: fc.array(fc.tuple(fc.nat(), fc.constant({ ...EMPTY_USER, UserId: 'u' })), { maxLength: 2 }),
  items: fc.constant([]),
  feedback: fc.array(feedback, { maxLength: 6 }),
  isIncomplete: fc.boolean(),
  journals: fc.constant([['a', [{ number: 1, text: 'x' }]]] as const),
  vectors: fc.array(
    fc.tuple(fc.nat(), fc.string(), fc.option<Uint8Array>(fc.uint8Array({ minLength: 4, maxLength: 8 }))),
    { maxLength: 2 },
  ),
});

test('effects come back as they were packed', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const back = decodeParts(encodeParts(parts));
      expect(back.map((each) => ({ ...each, feedback: [...each.feedback] }))).toEqual(parts);
    }),
  );
});
