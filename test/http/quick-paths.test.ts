import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { createRequestIds } from '../../src/http/pipeline/request-pipeline.ts';
import { Router } from '../../src/http/pipeline/router.ts';
import { parseQuery } from '../../src/http/route/query-parameters.ts';
import { createRoutes } from '../../src/http/route-table.ts';

const router = new Router(createRoutes('0.0.0', DEFAULT_LIMITS));
const rules = { defaultN: 10, limits: DEFAULT_LIMITS };

test('a path is found the same by one look-up as segment by segment', () => {
  const segment = fc.constantFrom(
    ...[
      'api',
      'user',
      'users',
      'item',
      'feedback',
      'recommend',
      'latest',
      'neighbors',
      'metrics',
      'apidocs',
      '',
    ],
    ...['alice', 'a%2Fb', '__proto__', 'explain'],
  );
  const path = fc
    .array(segment, { minLength: 1, maxLength: 5 })
    .map((segments) => `/${segments.join('/')}`)
    .filter((text) => !text.endsWith('/'));
  // A trailing slash is as none, and sends the router the long way.
  fc.assert(
    fc.property(fc.constantFrom('GET', 'POST', 'DELETE'), path, (method, text) => {
      expect(router.find(method, text)).toEqual(router.find(method, `${text}/`));
    }),
    { numRuns: 2000, seed: 1 },
  );
  expect(router.find('GET', '/api/recommend/bob')).toMatchObject({ params: { 'user-id': 'bob' } });
});

test('a lone n is read the same as among other parameters', () => {
  const outcome = (text: string) => {
    try {
      return parseQuery(text, ['offset', 'n'], rules);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const values = [
    '10',
    '0',
    '007',
    '10000',
    '10001',
    '99999999999',
    '',
    '-1',
    '1.5',
    '%31',
    '+1',
    'x',
    '1&n=2',
  ];
  for (const value of values) expect(outcome(`n=${value}`)).toEqual(outcome(`other=&n=${value}`));
  expect(parseQuery('n=25', ['n'], rules).n).toBe(25);
  expect(parseQuery('n=25', ['offset'], rules).n).toBe(10);
});

test('request ids never repeat', () => {
  const next = createRequestIds();
  const ids = new Set(Array.from({ length: 50_000 }, () => next('')));
  expect(ids.size).toBe(50_000);
  expect([...ids].every((id) => /^[0-9a-f]{12}-\w+$/.test(id))).toBe(true);
  expect(next('mine')).toBe('mine');
});
