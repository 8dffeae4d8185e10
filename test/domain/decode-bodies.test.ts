import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeFeedback,
  decodeImportReport,
  decodeImpressions,
  decodeItemPatch,
  decodeItems,
  decodePreview,
  decodeQueryVector,
  decodeSession,
  decodeSettings,
  decodeUserPatch,
  decodeUsers,
  decodeVectors,
} from '../../src/domain/decode-bodies.ts';
import { FurzeError } from '../../src/domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const one = (value: unknown) => ({ json: bytes(JSON.stringify(value)), single: true });
const many = (value: unknown) => ({ json: bytes(JSON.stringify(value)), single: false });
const NOW_MS = Date.UTC(2024, 0, 2, 3, 4, 5, 678);
const limits = { ...DEFAULT_LIMITS, batchRecordsMax: 3, labelsMax: 2, commentBytesMax: 8 };

function refusal(run: () => unknown): FurzeError {
  try {
    run();
  } catch (error) {
    if (error instanceof FurzeError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

test('a user has every field filled in, null is not given, unknown fields go', () => {
  const users = decodeUsers(one({ UserId: 'a', Labels: null, Comment: null, Extra: 1 }), limits);
  expect(users).toEqual([{ UserId: 'a', Labels: [], Comment: '', Subscribe: [] }]);
});

test('an item has every field filled in and its timestamp in one form', () => {
  const body = [
    { ItemId: 'i', Timestamp: '2022-03-04 05:06:07' },
    { ItemId: 'j', Timestamp: '', IsHidden: null },
  ];
  expect(decodeItems(many(body), limits)).toEqual([
    {
      ItemId: 'i',
      IsHidden: false,
      Categories: [],
      Timestamp: '2022-03-04T05:06:07Z',
      Labels: [],
      Comment: '',
    },
    { ItemId: 'j', IsHidden: false, Categories: [], Timestamp: '', Labels: [], Comment: '' },
  ]);
});

test('feedback without a timestamp happened now', () => {
  const triple = { FeedbackType: 'like', UserId: 'u', ItemId: 'i' };
  const times = decodeFeedback(
    many([triple, { ...triple, Timestamp: '' }, { ...triple, Timestamp: '2022-03-04' }]),
    limits,
    NOW_MS,
  ).map((feedback) => feedback.Timestamp);
  expect(times).toEqual(['2024-01-02T03:04:05.678Z', '2024-01-02T03:04:05.678Z', '2022-03-04T00:00:00Z']);
});

test('a patch holds what was given and no more', () => {
  expect(decodeUserPatch(bytes('{"Comment":"x","Labels":null}'), limits)).toEqual({ Comment: 'x' });
  expect(decodeItemPatch(bytes('{"IsHidden":false,"Timestamp":""}'), limits)).toEqual({
    IsHidden: false,
    Timestamp: '',
  });
  expect(refusal(() => decodeItemPatch(bytes('null'), limits)).code).toBe('INVALID_BODY');
  expect(refusal(() => decodeUserPatch(bytes('[]'), limits)).code).toBe('INVALID_BODY');
});

test.each([
  ['a wrong type', [{ ItemId: 'i' }, { ItemId: 7 }], '/1/ItemId'],
  ['a missing id', [{ ItemId: 'i' }, {}], '/1/ItemId'],
  ['an empty id', [{ ItemId: '' }], '/0/ItemId'],
  ['a slash', [{ ItemId: 'a/b' }], '/0/ItemId'],
  ['513 bytes', [{ ItemId: `${'é'.repeat(256)}x` }], '/0/ItemId'],
  ['half a surrogate pair', [{ ItemId: 'a\ud800' }], '/0/ItemId'],
  ['a category that is a number', [{ ItemId: 'i', Categories: ['a', 1] }], '/0/Categories/1'],
  ['too many labels', [{ ItemId: 'i', Labels: ['a', 'b', 'c'] }], '/0/Labels'],
  ['too long a comment', [{ ItemId: 'i', Comment: 'ééééé' }], '/0/Comment'],
  ['a date that is none', [{ ItemId: 'i', Timestamp: '2022-02-30' }], '/0/Timestamp'],
  ['a record that is null', [{ ItemId: 'i' }, null], '/1'],
  ['no array', { ItemId: 'i' }, ''],
  ['null', null, ''],
])('%s is refused with its place', (_name, body, path) => {
  const error = refusal(() => decodeItems(many(body), limits));
  expect(error.code).toBe('INVALID_BODY');
  expect(error.places[0]?.path).toBe(path);
});

test.each(['', '{', '{"UserId":"a"}}', 'undefined'])('%s is not JSON', (text) => {
  expect(refusal(() => decodeUsers({ json: bytes(text), single: true }, limits)).code).toBe('INVALID_JSON');
});

test('bytes that are not UTF-8 are refused', () => {
  const json = new Uint8Array([0x22, 0xff, 0x22]);
  expect(refusal(() => decodeUsers({ json, single: true }, limits)).code).toBe('INVALID_JSON');
});

test('a batch over the limit is refused', () => {
  const body = Array.from({ length: 4 }, (_, i) => ({ UserId: `u${i}` }));
  expect(refusal(() => decodeUsers(many(body), limits)).code).toBe('BATCH_TOO_LARGE');
});

test('ids of 512 bytes, of emoji and named as members of Object are ordinary', () => {
  const ids = ['x'.repeat(512), '😀'.repeat(128), '__proto__'];
  expect(decodeUsers(many(ids.map((UserId) => ({ UserId }))), limits).map((user) => user.UserId)).toEqual(
    ids,
  );
});

test('a batch with faults everywhere names only some', () => {
  const body = Array.from({ length: 1000 }, () => ({}));
  const error = refusal(() => decodeFeedback(many(body), DEFAULT_LIMITS, NOW_MS));
  expect(error.places).toHaveLength(20);
});

test('a value of another type is told what it must be in words', () => {
  const words = (body: unknown) => refusal(() => decodeFeedback(many(body), limits, NOW_MS)).message;
  const ids = { FeedbackType: 'like', UserId: 'u', ItemId: 'i' };
  expect(words({})).toBe('The body must be an array.');
  expect(words([{ ...ids, UserId: 1 }])).toBe('/0/UserId must be a text.');
  expect(words([{ ...ids, Value: '1' }])).toBe('/0/Value must be a number or null.');
  expect(words([1])).toBe('/0 must be an object.');
});

test('a text that has no UTF-8 is refused wherever it stands, and named', () => {
  const half = '\ud800';
  const places = (body: object) => refusal(() => decodeItems(many([body]), limits)).places;
  const message = 'must be well-formed Unicode';
  expect(places({ ItemId: 'i', Labels: ['a', half] })).toEqual([{ path: '/0/Labels/1', message }]);
  expect(places({ ItemId: 'i', Categories: [half] })).toEqual([{ path: '/0/Categories/0', message }]);
  expect(places({ ItemId: 'i', Comment: half })).toEqual([{ path: '/0/Comment', message }]);
  expect(places({ ItemId: half })).toEqual([{ path: '/0/ItemId', message }]);
  expect(decodeItems(many([{ ItemId: '🌿', Labels: ['🌿'] }]), limits)[0]!.Labels).toEqual(['🌿']);
  expect(refusal(() => decodeItems(one({ ItemId: 'a\0b' }), limits)).message).toContain('U+0000');
});

test('a label is at most so many bytes of UTF-8', () => {
  const few = { ...limits, labelBytesMax: 4 };
  const user = (label: string) => decodeUsers(one({ UserId: 'u', Labels: [label], Subscribe: [] }), few);
  expect(user('éé')[0]!.Labels).toEqual(['éé']);
  expect(refusal(() => user('ééé')).places).toEqual([
    { path: '/Labels/0', message: 'must be at most 4 bytes of UTF-8' },
  ]);
});

test('JSON nested too deep is refused before it is parsed, strings not counted', () => {
  const shallow = { ...limits, jsonDepthMax: 3 };
  const user = (extra: string) => ({ json: bytes(`{"UserId":"u","X":${extra}}`), single: true });
  expect(decodeUsers(user('[["[[[["]]'), shallow)).toHaveLength(1);
  const error = refusal(() => decodeUsers(user('[[[]]]'), shallow));
  expect(error).toMatchObject({ code: 'INVALID_BODY' });
  expect(error.message).toBe('The body must not be nested deeper than 3 arrays and objects.');
  const endless = { json: new Uint8Array(1_000_000).fill(0x5b), single: false };
  expect(refusal(() => decodeFeedback(endless, limits, NOW_MS)).message).toContain('deeper than 32');
});

test('a session has bounds of its own: bytes, records and values', () => {
  const session = (text: string, bounds: object) =>
    refusal(() => decodeSession(bytes(text), { ...limits, ...bounds }, NOW_MS));
  const record = '{"FeedbackType":"like","ItemId":"i"}';
  expect(session(`[${record},${record}]`, { sessionRecordsMax: 1 })).toMatchObject({
    code: 'BATCH_TOO_LARGE',
  });
  expect(session(`[${record}]`, { sessionBytesMax: 20 })).toMatchObject({ code: 'BODY_TOO_LARGE' });
  const junk = `[{"x":[${'[],'.repeat(2000)}[]]}]`;
  expect(session(junk, { sessionRecordsMax: 10 })).toMatchObject({ code: 'INVALID_BODY' });
});

test('refuses a number that no store gives back, in a value as in labels', () => {
  for (const literal of ['1e999', '-1e999']) {
    const feedback = bytes(
      `{"FeedbackType":"like","UserId":"u","ItemId":"i","Timestamp":"","Value":${literal}}`,
    );
    expect(() => decodeFeedback({ json: feedback, single: true }, limits, 0)).toThrow(/Value/);
    for (const labels of [literal, `[${literal}]`, `{"a":{"b":[1,${literal}]}}`]) {
      const user = bytes(`{"UserId":"u","Labels":${labels}}`);
      expect(() => decodeUsers({ json: user, single: true }, limits)).toThrow(
        /Labels must hold no number beyond/,
      );
    }
  }
});

test('refuses half of a surrogate pair in labels, in names as in texts', () => {
  for (const labels of ['["\\ud800"]', '{"a":"\\ud800"}', '{"a":[{"b\\udfff":1}]}']) {
    const user = bytes(`{"UserId":"u","Labels":${labels}}`);
    expect(() => decodeUsers({ json: user, single: true }, limits)).toThrow(/Labels.*well-formed Unicode/);
  }
});

/** Records as each kind of body has them. */
const WHOLE: Readonly<Record<string, object>> = {
  users: { UserId: 'a', Labels: ['x'], Comment: 'c', Subscribe: ['s'] },
  items: {
    ItemId: 'a',
    IsHidden: false,
    Categories: ['c'],
    Timestamp: '2022-03-04',
    Labels: [],
    Comment: '',
  },
  feedback: {
    FeedbackType: 'f',
    UserId: 'u',
    ItemId: 'i',
    Timestamp: '2022-03-04',
    Value: 1,
    Recommendation: 't',
  },
  impressions: {
    UserId: 'u',
    Recommendation: 't',
    Items: ['i'],
    Places: [0],
    Timestamp: '2022-03-04T00:00:00Z',
  },
  vectors: { ItemId: 'i', Vector: [1, 2] },
};
const SPACE = { name: 's', dimensions: 2, similarity: 'cosine' } as unknown as Parameters<
  typeof decodeVectors
>[2];
type Decoder = (json: Uint8Array<ArrayBuffer>) => unknown;
const DECODERS: Readonly<Record<string, readonly Decoder[]>> = {
  users: [true, false].map((single) => (json) => decodeUsers({ json, single }, limits)),
  items: [true, false].map((single) => (json) => decodeItems({ json, single }, limits)),
  feedback: [
    ...[true, false].map(
      (single): Decoder =>
        (json) =>
          decodeFeedback({ json, single }, limits, NOW_MS),
    ),
    (json) => decodeSession(json, limits, NOW_MS),
  ],
  impressions: [(json) => decodeImpressions(json, limits, NOW_MS)],
  vectors: [
    (json) => decodeVectors({ json, single: true }, 'path', SPACE, limits),
    (json) => decodeVectors({ json, single: false }, undefined, SPACE, limits),
    (json) => decodeQueryVector(json, SPACE, limits),
  ],
};

/** A record as it should be, but for some fields that are absent or of another kind. */
const spoilt = (whole: object) =>
  fc
    .tuple(
      ...Object.entries(whole).map(([name, value]) =>
        fc.oneof(
          { weight: 3, arbitrary: fc.constant([name, value]) },
          fc.constant(undefined),
          fc.tuple(fc.constant(name), fc.jsonValue()),
        ),
      ),
    )
    .map((fields) =>
      Object.fromEntries(fields.filter((field) => field !== undefined) as [string, unknown][]),
    );

test.each(Object.keys(WHOLE))('%s of any form are decoded, or refused by place and reason', (kind) => {
  const record = spoilt(WHOLE[kind]!);
  const value = fc.oneof(
    record,
    fc.array(fc.oneof({ weight: 5, arbitrary: record }, fc.jsonValue()), { maxLength: 4 }),
  );
  fc.assert(
    fc.property(value, (body) => {
      for (const decode of DECODERS[kind]!) {
        try {
          decode(bytes(JSON.stringify(body)));
        } catch (error) {
          if (!(error instanceof FurzeError)) throw error;
          expect(error.message).not.toContain('undefined');
        }
      }
    }),
    { seed: 7, numRuns: 2000 },
  );
});

test('a wrong entry of a long list is named up to a number, behind it the list is', () => {
  const wrongAt = (at: number) => Array.from({ length: 50_000 }, (_, entry) => (entry === at ? 0 : 'x'));
  const ways: [string, (list: unknown[]) => unknown][] = [
    ['/Categories', (Categories) => decodeItems(one({ ItemId: 'a', Categories }), limits)],
    [
      '/1/Categories',
      (Categories) => decodeItems(many([{ ItemId: 'a' }, { ItemId: 'b', Categories }]), limits),
    ],
    ['/Categories', (Categories) => decodeItemPatch(one({ Categories }).json, limits)],
    ['/Subscribe', (Subscribe) => decodeUsers(one({ UserId: 'a', Subscribe }), limits)],
    ['/Subscribe', (Subscribe) => decodeUserPatch(one({ Subscribe }).json, limits)],
  ];
  for (const [path, decode] of ways) {
    expect(refusal(() => decode(wrongAt(4095))).places?.[0]?.path).toBe(`${path}/4095`);
    for (const at of [4096, 49_999])
      expect(refusal(() => decode(wrongAt(at))).places).toEqual([
        { path, message: 'has a wrong entry beyond the first 4096' },
      ]);
  }
});

test('what is read on the thread that serves has bounds of bytes and values', () => {
  const wide = { ...DEFAULT_LIMITS, sessionBytesMax: 100_000 };
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));
  const ways = [
    (value: unknown) => decodeSettings(one(value).json, wide),
    (value: unknown) => decodePreview(one({ Users: ['a'], Settings: value }).json, wide),
  ];
  for (const decode of ways) {
    expect(() => decode(keys(5000))).not.toThrow();
    expect(refusal(() => decode(keys(10_001))).code).toMatch('INVALID_BODY');
    expect(refusal(() => decode({ text: 'x'.repeat(100_000) })).code).toBe('BODY_TOO_LARGE');
  }
  expect(refusal(() => decodeImportReport(one({ text: 'x'.repeat(100_000) }).json, wide)).code).toBe(
    'BODY_TOO_LARGE',
  );
});

test('a vector so long that products of two are beyond float32 is refused', () => {
  const space = { name: 's', dimensions: 4, similarity: 'dot' as const };
  const decode = (Vector: number[]) => decodeVectors(one({ Vector }), 'a', space, limits);
  expect(decode([5e17, 5e17, 5e17, 4e17])).toHaveLength(1);
  expect(refusal(() => decode([3e38, 0, 0, 0])).message).toContain('/Vector must be a vector of length');
  expect(refusal(() => decode([6e17, 6e17, 6e17, 6e17])).code).toBe('INVALID_BODY');
});
