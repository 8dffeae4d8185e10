import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { UserView } from '../../src/domain/admin-schemas.ts';
import type { Explanation } from '../../src/domain/api-schemas.ts';
import { createRandom } from '../../src/domain/random.ts';
import { startTestServer, type TestServer } from '../http/start.ts';

const [USERS, ITEMS, LIKES] = [60, 40, 900];
const NOW = Date.parse('2024-05-01T00:00:00Z');

let server: TestServer;
afterEach(() => server.stop());

const like = (user: number, item: number, ageMs = 0) => ({
  ...{ FeedbackType: 'like', UserId: `u${user}`, ItemId: `i${item}` },
  Timestamp: new Date(NOW - ageMs).toISOString(),
});

/** A service with a ranking over two tastes. */
async function fitted(discovery: number | 'auto', items: readonly object[] = []): Promise<void> {
  server = await startTestServer({
    clock: () => NOW,
    config: {
      recommend: {
        discovery,
        data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
        collaborative: { factors: 4, epochs: 10 },
        online: { fallback_recommend: ['popular', 'latest'] },
      },
    },
  });
  const random = createRandom(3);
  const taste = (user: number, item: number) => (user % 2 === item % 2 ? item : (item + 1) % ITEMS);
  const records = Array.from({ length: LIKES }, () => {
    const user = Math.floor(random.float() * USERS);
    return like(user, taste(user, Math.floor(ITEMS * random.float() ** 2)), random.float() * 30 * 86_400_000);
  });
  await server.call('POST', '/api/items', items);
  await server.call('POST', '/api/feedback', records);
  await server.service.fit();
}

async function explain(user: number, item: number): Promise<Explanation> {
  const { status, body } = await server.call('GET', `/api/recommend/u${user}/explain/i${item}?n=5`);
  expect(status).toBe(200);
  return body;
}

/** The parts of an explanation add up to its score; its likes share what is shared once. */
function addsUp({ Score = Number.NaN, Parts = [], Contributions }: Explanation): void {
  expect(Parts[0]?.Name).toBe('base');
  const sum = Parts.reduce((total, part) => total + part.Score, 0);
  expect(1 / (1 + Math.exp(-sum))).toBeCloseTo(Score, 9);
  const shares = Contributions.reduce((total, { Share }) => total + Math.abs(Share), 0);
  expect(shares).toBeLessThan(1 + 1e-9);
}

describe.each(['auto', 0.5, 1] as const)('the reasons of a service with discovery %s', (discovery) => {
  it('add up for any item and user, also while likes come that move the ranking', async () => {
    await fitted(discovery);
    // Lists are ranked another way, to the same scores.
    const { Pipeline } = (await server.call('GET', '/api/admin/user/u3?n=5')).body as UserView;
    expect(Pipeline).toHaveLength(5);
    for (const { Id, Score = Number.NaN } of Pipeline)
      expect((await explain(3, Number(Id.slice(1)))).Score).toBeCloseTo(Score, 6);
    const user = fc.nat(USERS - 1);
    const item = fc.nat(ITEMS - 1);
    const seen = { listed: 0, below: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(user, item), { maxLength: 4 }),
        user,
        item,
        async (likes, asked, drawn) => {
          // Chance alone seldom asks for one of a list.
          const [first] = (await server.call('GET', `/api/recommend/u${asked}?n=1`)).body as string[];
          const of = drawn % 2 === 0 ? Number(first?.slice(1)) : drawn;
          // What is asked overtakes some of the likes.
          const stored = likes.map(([who, what]) => server.call('POST', '/api/feedback', [like(who, what)]));
          const during = explain(asked, of);
          await Promise.all(stored);
          for (const told of [await during, await explain(asked, of)]) {
            addsUp(told);
            if (told.Recommended) seen.listed++;
            if (told.WhyNot?.Reason === 'below_the_cut') {
              seen.below++;
              expect(told.CutScore).toBeGreaterThanOrEqual(0);
            }
          }
        },
      ),
      { numRuns: 40 },
    );
    expect(Math.min(seen.listed, seen.below)).toBeGreaterThan(3);
  });
});

describe('a new item that nobody has liked', () => {
  it('has the score by which it stands in the list, and is there for its labels', async () => {
    const items = Array.from({ length: ITEMS + 6 }, (_, item) => ({
      ItemId: `i${item}`,
      Labels: [item % 2 === 0 ? 'tea' : 'salt', `maker${item % 7}`],
      Timestamp: new Date(NOW - (item < ITEMS ? 30 * 86_400_000 : 1000)).toISOString(),
    }));
    await fitted('auto', items);
    const scored = async () =>
      (await server.call('GET', '/api/recommend/u3?n=30&details=true')).body.Items as {
        readonly Id: string;
        readonly Score: number;
        readonly Source: string;
      }[];
    const numberOf = (id: string) => Number(id.slice(1));
    await expect.poll(async () => (await scored()).some(({ Id }) => numberOf(Id) >= ITEMS)).toBe(true);
    let lifted = 0;
    for (const { Id, Score, Source } of await scored()) {
      if (Source !== 'personal') continue;
      const told = await explain(3, numberOf(Id));
      expect([Id, told.Score]).toEqual([Id, expect.closeTo(Score, 6)]);
      addsUp(told);
      const isNew = numberOf(Id) >= ITEMS;
      const byLabels = told.Parts?.find(({ Name }) => Name === 'of_its_labels');
      if (byLabels === undefined) continue;
      expect([isNew, byLabels.Meaning]).toEqual([true, 'what known items with its labels have']);
      lifted++;
    }
    expect(lifted).toBeGreaterThan(0);
  });
});
