import { describe, expect, it } from 'vitest';
import { type Facts, findTroubles, formatAge } from '../../src/admin/troubles.ts';
import type { FeedbackType, Task } from '../../src/domain/admin-schemas.ts';
import { likelyPositive, whyNothing } from '../../src/domain/feedback-troubles.ts';

const typeOf = (Name: string, Count: number, Positive = false): FeedbackType => ({
  Name,
  Count,
  Positive,
  Read: false,
});

/** A service without a fault. */
const WELL: Facts = {
  storeError: '',
  positiveTypes: ['like'],
  types: [typeOf('like', 10, true)],
  placedTypes: [],
  items: 5,
  feedback: 10,
  positives: 10,
  isCounted: true,
  hasModel: true,
  modelAgeMs: 60_000,
  fitPeriodMs: 3_600_000,
  lastFit: undefined,
  isFitting: false,
  popularIsEmpty: false,
  popularWindowMs: 720 * 3_600_000,
  latestIsEmpty: false,
  fallbacks: ['latest'],
  diskFreeBytes: 2 ** 40,
  hasKey: true,
  host: '0.0.0.0',
  nodeTroubles: [],
};
const failed: Task = { Id: 1, Kind: 'fit', State: 'failed', StartedAt: '', Seconds: 1, Error: 'no memory' };
const none = { hasModel: false, positives: 0 };

describe('what is not right', () => {
  it('is nothing with a service that is well', () => {
    expect(findTroubles(WELL)).toEqual([]);
  });

  it('is both a type that is not known and one without its value', () => {
    const types = [typeOf('purchase>0', 9, true), typeOf('purchase', 2), typeOf('kauf', 1)];
    const found = findTroubles({ ...WELL, positiveTypes: ['purchase>0'], types });
    expect(found.map(({ Code }) => Code)).toEqual(['unused_types', 'no_value']);
    expect(found[1]!.Advice).toContain('{"FeedbackType": "purchase", ..., "Value": 1}');
  });

  it('is a type whose name begins like a positive one, and a missing value beside another threshold', () => {
    const types = [typeOf('like', 10, true), typeOf('like<draft>', 3)];
    expect(findTroubles({ ...WELL, types }).map(({ Code }) => Code)).toEqual(['unused_types']);
    const rated = [typeOf('rating>0', 9, true), typeOf('rating<-3', 1, true), typeOf('rating', 2)];
    const positiveTypes = ['rating>0', 'rating<-3'];
    expect(findTroubles({ ...WELL, positiveTypes, types: rated }).map(({ Code }) => Code)).toEqual([
      'no_value',
    ]);
  });

  it('is nothing that a placement goes by a type', () => {
    const types = [typeOf('like', 10, true), typeOf('begin', 4)];
    expect(findTroubles({ ...WELL, types }).map(({ Code }) => Code)).toEqual(['unused_types']);
    expect(findTroubles({ ...WELL, types, placedTypes: ['begin'] })).toEqual([]);
  });

  it('is nothing that types are read, or that ratings are low', () => {
    const seen = { ...typeOf('view', 7), Read: true };
    expect(findTroubles({ ...WELL, types: [...WELL.types, seen] })).toEqual([]);
    const rated = [typeOf('rating>=7', 10, true), typeOf('rating', 4)];
    expect(findTroubles({ ...WELL, positiveTypes: ['rating>=7'], types: rated })).toEqual([]);
  });

  it.each<[string, Partial<Facts>, string, RegExp]>([
    ['store_unavailable', { storeError: 'disk' }, 'error', /does not answer: disk/],
    [
      'no_positive_types',
      { ...none, positiveTypes: [], types: [typeOf('click', 9120), typeOf('like', 880)] },
      'error',
      /^No positive feedback types are configured; seen so far: click \(9,120\), like \(880\)\.$/,
    ],
    [
      'no_positive_feedback',
      { ...none, types: [typeOf('view', 10)] },
      'error',
      /of a positive type \(like\).*view \(10\)/,
    ],
    [
      'unused_types',
      { types: [typeOf('like', 10, true), typeOf('kauf', 1), typeOf('view', 1200), typeOf('gone', 0)] },
      'warning',
      /neither positive \(like\) nor read, so nothing is learned from it: view \(1,200\), kauf \(1\)\.$/,
    ],
    [
      'no_value',
      { positiveTypes: ['purchase>0'], types: [typeOf('purchase>0', 9, true), typeOf('purchase', 2)] },
      'hint',
      /no value above 0: purchase \(2\)\.$/,
    ],
    ['no_data', { ...none, items: 0, feedback: 0, types: [] }, 'hint', /no data yet/],
    ['no_feedback', { ...none, feedback: 0, types: [] }, 'hint', /no feedback yet/],
    ['fit_failed', { lastFit: failed }, 'warning', /failed: no memory; the model before it serves/],
    ['fit_failed', { lastFit: failed, hasModel: false }, 'error', /failed: no memory\./],
    ['fit_failed', { lastFit: { ...failed, Error: 'Gone.' } }, 'warning', /failed: Gone; the model/],
    ['stale_model', { modelAgeMs: 4 * 3_600_000 }, 'warning', /4 h old/],
    ['popular_empty', { popularIsEmpty: true }, 'warning', /last 720h/],
    ['latest_empty', { latestIsEmpty: true }, 'warning', /no item has a Timestamp/],
    [
      'counting_feedback',
      { isCounted: false, popularIsEmpty: true },
      'hint',
      /10 feedback are being counted/,
    ],
    ['counting_feedback', { isCounted: false, positives: 0 }, 'hint', /no list is made/],
    ['feedback_not_counted', { isCounted: false, countError: 'no memory' }, 'error', /counted: no memory\. /],
    ['disk_nearly_full', { diskFreeBytes: 2 ** 27 }, 'error', /128 MiB left/],
    ['no_key', { hasKey: false }, 'hint', /listens on 0\.0\.0\.0/],
  ])('names %s', (code, facts, severity, message) => {
    const [first, ...others] = findTroubles({ ...WELL, ...facts });
    expect([first?.Code, first?.Severity]).toEqual([code, severity]);
    expect(first?.Message).toMatch(message);
    expect(first?.Advice).not.toBe('');
    expect(others).toEqual([]);
  });

  it('is nothing that no item has a time where the popular ones are asked, too, or none of both', () => {
    for (const fallbacks of [['popular', 'latest'], ['item_based']])
      expect(findTroubles({ ...WELL, latestIsEmpty: true, fallbacks })).toEqual([]);
  });

  it('stands worst first', () => {
    const troubles = findTroubles({ ...WELL, hasKey: false, popularIsEmpty: true, storeError: 'gone' });
    expect(troubles.map(({ Severity }) => Severity)).toEqual(['error', 'warning', 'hint']);
  });

  it('is no trouble without a key where only this machine can ask', () => {
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(findTroubles({ ...WELL, hasKey: false, host })).toEqual([]);
  });

  it('tells why there is nothing to learn from', () => {
    expect(whyNothing({ ...WELL, ...none, positiveTypes: [] })).toMatch(
      /^No positive feedback types .*start again\.$/,
    );
    expect(whyNothing(WELL)).toMatch(/positive_feedback_ttl/);
  });
});

it('proposes as positive only what people call a liking', () => {
  const names = [
    'click',
    'dislike',
    'purchase',
    'unfollow',
    'view',
    'read',
    'add_to_cart',
    'remove_from_cart',
    'skip',
  ];
  expect(likelyPositive(names.map((name) => typeOf(name, 1)))).toEqual(['click', 'purchase', 'add_to_cart']);
  expect(likelyPositive([typeOf('like', 0)])).toEqual([]);
  const of = (...names: string[]) => likelyPositive(names.map((name) => typeOf(name, 1)));
  expect(of('Payment', 'Refund', 'Payment failed')).toEqual(['Payment']);
  // What people look at tells something where nothing tells more.
  expect(of('Course viewed', 'User logged in')).toEqual(['Course viewed']);
  expect(of('page_view', 'purchase')).toEqual(['purchase']);
  expect(of('Product Viewed', 'Product Added', 'Product Removed')).toEqual(['Product Added']);
  expect(of('enrollment.activated', 'enrollment.deactivated')).toEqual(['enrollment.activated']);
});

it('writes an age as people say it', () => {
  const ages = [400, 59_000, 18 * 60_000, 5 * 3_600_000, 72 * 3_600_000];
  expect(ages.map(formatAge)).toEqual(['0 s', '59 s', '18 min', '5 h', '3 days']);
});
