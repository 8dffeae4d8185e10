import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../../../src/domain/random.ts';
import { formatTimestamp } from '../../../src/domain/rfc3339.ts';
import type { Catalogue } from '../../../src/recommend/catalogue/catalogue.ts';
import type { History } from '../../../src/recommend/history/history.ts';
import { AnswerCache } from '../../../src/recommend/lists/answer-cache.ts';
import type { UserList } from '../../../src/store/cache-store.ts';
import { startTestServer, type TestServer } from '../../http/start.ts';

const USERS = 40;
const ITEMS = 60;
const STEPS = 500;
const HOUR_MS = 3_600_000;

let nowMs = Date.UTC(2024, 5, 1);
/** The same service without a cache, with one of a single bucket, and with room for all. */
const SIZES_MB = [0, 0.008, 1];
let servers: TestServer[] = [];

beforeAll(async () => {
  servers = await Promise.all(
    SIZES_MB.map((hit_cache_mb) =>
      startTestServer({
        config: {
          server: { hit_cache_mb },
          recommend: {
            cache_size: 40,
            data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
            collaborative: { factors: 8, epochs: 3, model_fit_period: 500 * HOUR_MS },
            offline: { check_recommend_period: 500 * HOUR_MS },
            online: { fallback_recommend: ['popular', 'latest'] },
          },
        },
        clock: () => nowMs,
      }),
    ),
  );
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

/** Calls all services and tells the answer that they agree on. */
async function call(method: string, path: string, body?: unknown): Promise<string> {
  const answers = await Promise.all(servers.map((server) => server.call(method, path, body)));
  const [first] = answers;
  for (const answer of answers) {
    expect([path, answer.status, answer.text]).toEqual([path, first!.status, first!.text]);
  }
  return first!.text;
}

const userId = (random: Random) => `user-${random.below(USERS)}`;
const itemId = (random: Random) => `item-${random.below(ITEMS)}`;

function item(random: Random, id: string) {
  return {
    ItemId: id,
    IsHidden: random.below(4) === 0,
    Categories: random.below(2) === 0 ? ['even'] : [],
    Timestamp: formatTimestamp(nowMs - random.below(1000) * 1000),
    Labels: [],
    Comment: '',
  };
}

function feedback(random: Random) {
  return {
    FeedbackType: random.below(2) === 0 ? 'like' : 'read',
    UserId: userId(random),
    ItemId: itemId(random),
    // A third of it takes effect later.
    Timestamp: formatTimestamp(nowMs + (random.below(3) - 1) * random.below(5000) * 1000),
    Comment: '',
  };
}

async function change(random: Random): Promise<unknown> {
  switch (random.below(9)) {
    case 0:
    case 1:
      return call('POST', '/api/feedback', [feedback(random), feedback(random)]);
    case 2:
      return call('PUT', '/api/feedback', [feedback(random)]);
    case 3:
      return call('DELETE', `/api/feedback/${userId(random)}/${itemId(random)}`);
    case 4:
      return call('PATCH', `/api/item/${itemId(random)}`, { IsHidden: random.below(2) === 0 });
    case 5:
      return call('DELETE', `/api/item/${itemId(random)}`);
    case 6:
      return call('POST', '/api/item', item(random, itemId(random)));
    case 7:
      return random.below(3) === 0 && call('DELETE', `/api/user/${userId(random)}`);
    default:
      // Now and then back, as clocks that are set right do.
      nowMs += (random.below(4) === 0 ? -1 : 1) * random.below(HOUR_MS);
  }
}

async function ask(random: Random): Promise<number> {
  const n = [3, 10, 10, 10, 25][random.below(5)]!;
  const offset = random.below(4) === 0 ? random.below(30) : 0;
  const category = random.below(5) === 0 ? '/even' : '';
  const writeBack = random.below(20) === 0 ? '&write-back-type=read&write-back-delay=10m' : '';
  const path = `/api/recommend/${userId(random)}${category}?n=${n}&offset=${offset}${writeBack}`;
  const rows = JSON.parse(await call('GET', path)) as string[];
  expect(new Set(rows).size).toBe(rows.length);
  return rows.length;
}

test('whatever happens, the answers are those of a service without the cache', async () => {
  const random = createRandom(11);
  const ids = Array.from({ length: ITEMS }, (_, at) => `item-${at}`);
  await call(
    'POST',
    '/api/items',
    ids.map((id) => item(random, id)),
  );
  await call(
    'POST',
    '/api/feedback',
    Array.from({ length: 300 }, () => feedback(random)),
  );
  let answered = 0;
  for (let step = 0; step < STEPS; step++) {
    if (step % 100 === 0) await Promise.all(servers.map(({ service }) => service.fit()));
    // The age at which lists are made anew.
    if (step === 350) nowMs += 25 * HOUR_MS;
    if (random.below(4) === 0) await change(random);
    else answered += await ask(random);
  }
  expect(answered).toBeGreaterThan(STEPS);
});

test('an item that is hidden or deleted leaves a cached answer at once, and comes back with its state', async () => {
  const path = '/api/recommend/user-1?n=5';
  const before = JSON.parse(await call('GET', path)) as string[];
  expect(JSON.parse(await call('GET', path))).toEqual(before);
  await call('PATCH', `/api/item/${before[1]}`, { IsHidden: true });
  expect(JSON.parse(await call('GET', path))).not.toContain(before[1]);
  await call('PATCH', `/api/item/${before[1]}`, { IsHidden: false });
  expect(JSON.parse(await call('GET', path))).toEqual(before);
  await call('DELETE', `/api/item/${before[0]}`);
  expect(JSON.parse(await call('GET', path))).not.toContain(before[0]);
});

test('what is read later leaves a cached answer when its time comes, and only then', async () => {
  const path = '/api/recommend/user-2?n=5';
  // The list is made once more for the likes of before.
  nowMs += 2000;
  const before = JSON.parse(await call('GET', path)) as string[];
  const Timestamp = formatTimestamp(nowMs + 8000);
  const record = { FeedbackType: 'read', UserId: 'user-2', ItemId: before[2], Timestamp };
  await call('POST', '/api/feedback', [record]);
  const ask = async () => JSON.parse(await call('GET', path)) as string[];
  expect(await ask()).toEqual(before);
  // The clocks of others may be 5 seconds ahead.
  nowMs += 2999;
  expect(await ask()).toEqual(before);
  nowMs += 1;
  expect(await ask()).not.toContain(before[2]);
  nowMs -= 1;
  expect(await ask()).toEqual(before);
});

test('what is answered while a user is not here is kept neither of a list nor of a placement; another list drops the list alone', () => {
  const known = new Set([1]);
  const catalogue = { isListable: () => true, jsonIdAt: (row: number) => `"${row}"`, isInAll: () => true };
  const cache = new AnswerCache({
    ...{
      bytesMax: 2 ** 16,
      catalogue: catalogue as unknown as Catalogue,
      clock: () => nowMs,
      clockErrorMs: 0,
    },
    ...{ isStale: () => false, isKnown: (row) => known.has(row) },
  });
  const keep = (userRow: number, userId: string, mark: number) => {
    const history = { userRow, inEffectSinceMs: 0, nextEffectMs: Number.POSITIVE_INFINITY } as History;
    const list = { itemRows: Uint32Array.of(7, 8), madeMs: nowMs, knowsMs: nowMs } as UserList;
    cache.keep(userId, history, list, () => true);
    cache.keepPlaced(0, userId, history, [7, 8], 'latest', { mark, untilMs: Number.POSITIVE_INFINITY });
  };
  const found = (userId: string) => [
    cache.find(userId, { n: 2, offset: 0, categories: [] }),
    cache.findPlaced(0, userId, 2, { version: 1, mayStand: () => true }),
  ];
  keep(1, 'here', cache.markOf(1));
  expect(found('here')).toEqual(['["7","8"]', '["7","8"]']);
  const barred = () => false;
  // Of this version it is known what may stand.
  expect(cache.findPlaced(0, 'here', 2, { version: 1, mayStand: barred })).toBe('["7","8"]');
  expect(cache.findPlaced(0, 'here', 2, { version: 2, mayStand: barred })).toBeUndefined();
  const before = cache.markOf(2);
  keep(2, 'away', before);
  expect(found('away')).toEqual([undefined, undefined]);
  // Loaded by the time at which the answer is there: it was made without the user all the same.
  known.add(2);
  cache.keepPlaced(
    0,
    'away',
    { userRow: 2, inEffectSinceMs: 0, nextEffectMs: Number.POSITIVE_INFINITY } as History,
    [7, 8],
    'latest',
    { mark: before, untilMs: Number.POSITIVE_INFINITY },
  );
  expect(found('away')).toEqual([undefined, undefined]);
  keep(2, 'away', cache.markOf(2));
  expect(found('away')).toEqual(found('here'));
  // Another list says nothing of answers that were made for their question.
  cache.dropList(2);
  expect(found('away')).toEqual([undefined, '["7","8"]']);
});
