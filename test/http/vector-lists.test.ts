import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { startTestServer, TEST_STORE, type TestServer } from './start.ts';

const TOPICS = 5;
const ITEMS = 200;
const USERS = 150;
const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 31);

/** Item i is of topic i % TOPICS, in its vector alone. User u likes items of topic u % TOPICS, and some others. */
function world() {
  const random = createRandom(3);
  const draw = (spread: number) => Array.from({ length: 16 }, () => spread * random.normal());
  const topics = Array.from({ length: TOPICS }, () => draw(1));
  const vectorOf = (topic: number) => {
    const noise = draw(0.4);
    return topics[topic]!.map((number, at) => 1 + number + noise[at]!);
  };
  const likes = Array.from({ length: USERS }, (_, user) =>
    Array.from({ length: 6 }, (_, at) => {
      const topic = random.float() < 0.85 ? user % TOPICS : random.below(TOPICS);
      const item = topic + TOPICS * random.below(ITEMS / TOPICS);
      const Timestamp = new Date(NOW_MS - (6 - at) * DAY_MS + random.below(DAY_MS)).toISOString();
      return { FeedbackType: 'like', UserId: `u${user}`, ItemId: `i${item}`, Timestamp, Comment: '' };
    }),
  ).flat();
  return { vectorOf, likes };
}

const item = (ItemId: string, Timestamp = '2025-06-01') => ({
  ...{ ItemId, Timestamp, IsHidden: false, Categories: [], Labels: [], Comment: '' },
});

// What lists make of vectors does not depend on what keeps them.
describe.runIf(TEST_STORE === 'lmdb')('lists by vectors', () => {
  let server: TestServer;
  const { vectorOf, likes } = world();
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, path, body);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  beforeAll(async () => {
    server = await startTestServer({
      clock: () => NOW_MS,
      config: {
        recommend: { data_source: { positive_feedback_types: ['like'] }, cache_size: 50 },
        vectors: {
          text: { dimensions: 16, similarity: 'cosine' },
          other: { dimensions: 2, similarity: 'dot' },
        },
      },
    });
    const all = Array.from({ length: ITEMS }, (_, at) => at);
    await call(
      'POST',
      '/api/items',
      all.map((at) => item(`i${at}`)),
    );
    const vectors = all.map((at) => ({ ItemId: `i${at}`, Vector: vectorOf(at % TOPICS) }));
    await call('POST', '/api/vectors/text', vectors);
    await call('PUT', '/api/feedback', likes);
    await server.service.fit();
  });
  afterAll(() => server.stop());

  const weightOf = async (): Promise<number> => {
    const { Ranking } = await call('GET', '/api/admin/quality');
    return Ranking.find(({ Feature }: { Feature: string }) => Feature === 'vectors').Weight;
  };
  const shareOf = async (user: number) => {
    const ids: string[] = await call('GET', `/api/recommend/u${user}?n=20`);
    return ids.filter((id) => Number(id.slice(1)) % TOPICS === user % TOPICS).length / ids.length;
  };

  it('are judged as other recommenders are, and go by what tells', async () => {
    expect(await weightOf()).toBeGreaterThan(0);
    const shares = await Promise.all([0, 1, 2, 3, 4, 57, 101].map(shareOf));
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThan(0.8);
  });

  it('say how much an item is there for its vector', async () => {
    const [first]: string[] = await call('GET', '/api/recommend/u1?n=1');
    const { Parts } = await call('GET', `/api/recommend/u1/explain/${first}`);
    const part = Parts.find(({ Name }: { Name: string }) => Name === 'vectors');
    expect(part.Score).toBeGreaterThan(0);
    expect(part.Meaning).toBe('how near its vector is to those of what the user likes');
  });

  it('have a new item without labels or feedback for those who like its kind', async () => {
    await call('POST', '/api/items', [item('new', '2026-01-31'), item('blank', '2026-01-31')]);
    await call('PUT', '/api/item/new/vectors/text', { Vector: vectorOf(2) });
    const has = async (user: number, id: string) =>
      ((await call('GET', `/api/recommend/u${user}?n=50`)) as string[]).includes(id);
    // A click makes the list anew.
    const click = (user: number, at: number) =>
      call('PUT', '/api/feedback', [
        { FeedbackType: 'like', UserId: `u${user}`, ItemId: `i${at}`, Timestamp: '2026-01-30', Comment: '' },
      ]);
    for (const user of [2, 7, 12, 0, 1, 3]) await click(user, 150 + (user % TOPICS));
    for (const user of [2, 7, 12]) await expect.poll(() => has(user, 'new')).toBe(true);
    for (const user of [0, 1, 3]) expect(await has(user, 'new')).toBe(false);
  });

  it('are the same after a restart', async () => {
    const before = await call('GET', '/api/recommend/u4?n=20');
    await server.restart();
    expect(await call('GET', '/api/recommend/u4?n=20')).toEqual(before);
  });
});
