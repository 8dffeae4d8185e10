import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { createRequestIds } from '../../src/http/pipeline/request-pipeline.ts';
import { Router } from '../../src/http/pipeline/router.ts';
import { KeptQueries } from '../../src/http/route/kept-queries.ts';
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

test('a query that comes again is read as at first, each route its own parameters', () => {
  const value = fc.constantFrom('10', '0', '007', '10001', '', '-1', '1.5', '%31', '+1', 'x', 'a'.repeat(64));
  const name = fc.constantFrom('n', 'offset', 'category', 'placement', 'other');
  const text = fc
    .array(fc.tuple(name, value), { maxLength: 3 })
    .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'));
  const names = [['offset', 'n'], ['n', 'placement', 'category'], []] as const;
  const outcome = (read: () => unknown) => {
    try {
      return read();
    } catch (error) {
      return (error as Error).message;
    }
  };
  const kept = new KeptQueries(rules);
  fc.assert(
    fc.property(text, fc.nat(2), (query, route) => {
      const read = () => kept.read(query, route, names[route]!);
      const first = outcome(() => parseQuery(query, names[route]!, rules));
      for (let time = 0; time < 2; time++) expect(outcome(read)).toEqual(first);
    }),
    { numRuns: 2000, seed: 1 },
  );
  const known = kept.read('n=25', 0, names[0]);
  expect(kept.read('n=25', 0, names[0])).toBe(known);
  for (let n = 0; n < 100; n++) kept.read(`n=${n}`, 0, names[0]);
  expect(kept.read('n=25', 0, names[0])).toEqual(known);
});

test('request ids never repeat', () => {
  const next = createRequestIds();
  const ids = new Set(Array.from({ length: 50_000 }, () => next('')));
  expect(ids.size).toBe(50_000);
  expect([...ids].every((id) => /^[0-9a-f]{12}-\w+$/.test(id))).toBe(true);
  expect(next('mine')).toBe('mine');
});
