import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { type Route, readsData } from '../../src/http/route/route.ts';
import { createRoutes } from '../../src/http/route-table.ts';
import type { KeptKinds } from '../../src/store/lmdb/reads/kept-kinds.ts';
import { ValueKinds } from '../../src/store/lmdb/tables/value-kinds.ts';
import { startTestServer, type TestServer } from './start.ts';

/** Records of each of two users with a long history, and values that may be looked up in one turn of the event loop. */
const [RECORDS, A_TURN_MAX] = [1300, 600];
const KINDS = ['because', 'similar', 'together', 'new', 'again', 'continue', 'for-you'];
/** What has no end, and what goes on after its answer, which is asked for last. */
const PASSED_OVER = ['/api/admin/activity/stream', '/api/admin/user/{user-id}'];

let server: TestServer;
let turn = 0;
let goesOn = true;
const count = () => {
  turn++;
  if (goesOn) setImmediate(count);
};
/** Values that were looked up, by turn. */
const looked = new Map<number, number>();
const read = ValueKinds.prototype.valueOf;

beforeAll(async () => {
  server = await startTestServer({
    config: {
      recommend: {
        data_source: { positive_feedback_types: ['rating>=4'], read_feedback_types: ['rating'] },
        offline: { enable_user_based_recommend: true },
      },
      vectors: { v: { dimensions: 2 } },
      placement: Object.fromEntries(
        KINDS.map((kind) => [kind, { kind, ...(kind === 'continue' && { begun: ['rating'] }) }]),
      ) as never,
    },
  });
  const records = ['whale', 'other'].flatMap((UserId) =>
    Array.from({ length: RECORDS }, (_, at) => ({
      ...{
        FeedbackType: 'rating',
        UserId,
        ItemId: `i${at}`,
        Value: at % 6,
        Timestamp: '2026-01-01T00:00:00Z',
      },
    })),
  );
  expect((await server.call('POST', '/api/feedback', records)).status).toBe(200);
  const vectors = [0, 1, 2].map((at) => ({ ItemId: `i${at}`, Vector: [1, at] }));
  expect((await server.call('POST', '/api/vectors/v', vectors)).status).toBe(200);
  vi.spyOn(ValueKinds.prototype, 'valueOf').mockImplementation(function (this: ValueKinds, ...asked) {
    looked.set(turn, (looked.get(turn) ?? 0) + 1);
    return read.apply(this, asked);
  });
  // Whoever looks at the clock finds that others are to have their turn.
  const now = performance.now.bind(performance);
  let ahead = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 2 * ahead++);
  count();
});
afterAll(() => {
  goesOn = false;
  vi.restoreAllMocks();
  return server.stop();
});

/** Asks as the first one who asks for those users after a start. */
async function lookedUpInOneTurn(method: string, path: string, body?: unknown): Promise<number> {
  (server.service.data as unknown as { keptKinds: KeptKinds }).keptKinds.clear();
  looked.clear();
  const { status, text } = await server.call(method, path, body);
  expect(status, `${path}: ${text}`).toBeLessThan(500);
  return Math.max(0, ...looked.values());
}

const paths = createRoutes('1', DEFAULT_LIMITS)
  .filter((route) => route.method === 'GET' && readsData(route) && !PASSED_OVER.includes(route.path))
  .map(({ path, query }: Route) => {
    const values: Record<string, string> = {
      ...{
        'user-id': 'whale',
        'item-id': 'i1',
        'feedback-type': 'rating',
        space: 'v',
        recommender: 'user_based',
      },
    };
    const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => values[name] ?? 'x');
    return `${filled}?n=20${query?.includes('user-id') ? '&user-id=whale' : ''}`;
  });

test.each([...paths, ...KINDS.map((kind) => `/api/recommend/whale?placement=${kind}&item=i5`)])(
  'the values of a long history are looked up in turns: GET %s',
  async (path) => {
    expect(await lookedUpInOneTurn('GET', path)).toBeLessThanOrEqual(A_TURN_MAX);
  },
);

test('so they are for a search beside what the user has read', async () => {
  const path = '/api/vectors/v/search?n=10&user-id=whale';
  expect(await lookedUpInOneTurn('POST', path, { Vector: [1, 1] })).toBeLessThanOrEqual(A_TURN_MAX);
  expect(looked.size).toBeGreaterThan(RECORDS / A_TURN_MAX);
});

test('those who ask for one user at once share the work', async () => {
  const asked = ['/api/recommend/whale', '/api/latest?user-id=whale', '/api/popular?user-id=whale'];
  (server.service.data as unknown as { keptKinds: KeptKinds }).keptKinds.clear();
  looked.clear();
  await Promise.all(asked.map((path) => server.call('GET', path)));
  expect([...looked.values()].reduce((sum, each) => sum + each)).toBe(RECORDS);
});

test('so they are for the page of a user, some of which goes on behind its answer', async () => {
  expect(await lookedUpInOneTurn('GET', '/api/admin/user/whale')).toBeLessThanOrEqual(A_TURN_MAX);
});
