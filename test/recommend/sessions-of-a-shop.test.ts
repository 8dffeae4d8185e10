import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../http/start.ts';

const PURCHASES = fileURLToPath(new URL('../../data/onlineretail/purchases.tsv.gz', import.meta.url));
/** Every so manieth customer of the shop. */
const STRIDE = 4;
const BATCH = 20_000;
const [WHITE_HEART, RED_HEART, CAKESTAND] = ['85123A', '21733', '22423'];

let server: TestServer;

beforeAll(async () => {
  const rows = gunzipSync(readFileSync(PURCHASES)).toString().trim().split('\n').slice(1);
  const feedback = rows.flatMap((row) => {
    const [UserId, ItemId, time] = row.split('\t') as [string, string, string];
    if (Number(UserId) % STRIDE !== 0) return [];
    return {
      FeedbackType: 'purchase',
      UserId,
      ItemId,
      Timestamp: new Date(Number(time) * 1000).toISOString(),
    };
  });
  server = await startTestServer({
    clock: () => Date.parse('2011-12-10T00:00:00Z'),
    config: { recommend: { data_source: { positive_feedback_types: ['purchase'] } } },
  });
  for (let from = 0; from < feedback.length; from += BATCH)
    await server.call('POST', '/api/feedback', feedback.slice(from, from + BATCH));
  await server.service.fit();
});
afterAll(() => server.stop());

async function ofSession(...items: readonly string[]): Promise<string[]> {
  const session = items.map((ItemId, at) => ({
    FeedbackType: 'purchase',
    UserId: '',
    ItemId,
    Timestamp: new Date(Date.UTC(2011, 11, 9, 12, at)).toISOString(),
  }));
  const { body } = await server.call('POST', '/api/session/recommend?n=10', session);
  return body.map(({ Id }: { Id: string }) => Id);
}

async function idsAt(path: string): Promise<string[]> {
  return (await server.call('GET', path)).body.map(({ Id }: { Id: string }) => Id);
}

it('begins with the twin of the item that the person looks at, as its neighbors do, and not with a best seller', async () => {
  const [best] = await idsAt('/api/popular?n=1');
  expect(best).not.toBe(RED_HEART);
  expect(await idsAt(`/api/item/${WHITE_HEART}/neighbors?n=1`)).toEqual([RED_HEART]);
  expect((await ofSession(WHITE_HEART))[0]).toBe(RED_HEART);
  expect((await ofSession(CAKESTAND, WHITE_HEART))[0]).toBe(RED_HEART);
});

it('goes by the latest item more than by the one before', async () => {
  const popular = await idsAt('/api/popular?n=60');
  let [ofLatest, ofEarlier] = [0, 0];
  for (let at = 0; at + 1 < popular.length; at += 2) {
    const [earlier, latest] = [popular[at]!, popular[at + 1]!];
    const both = await ofSession(earlier, latest);
    const shared = async (item: string) => {
      const alone = await ofSession(item);
      return both.filter((id) => alone.includes(id)).length;
    };
    ofLatest += await shared(latest);
    ofEarlier += await shared(earlier);
  }
  expect(ofLatest).toBeGreaterThan(1.2 * ofEarlier);
});
