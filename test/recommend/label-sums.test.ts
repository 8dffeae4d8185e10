import { afterEach, describe, expect, it } from 'vitest';
import type { Explanation } from '../../src/domain/api-schemas.ts';
import { createRandom } from '../../src/domain/random.ts';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';
import { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import { readLabels } from '../../src/recommend/catalogue/item-labels.ts';
import { LabelSums } from '../../src/recommend/models/label-sums.ts';
import { startTestServer, type TestServer } from '../http/start.ts';

function catalogueOf(labels: readonly (readonly string[])[]): Catalogue {
  const catalogue = new Catalogue(() => 0);
  for (const [row, own] of labels.entries())
    catalogue.put({
      ...{ row, itemId: `i${row}`, hidden: false, categories: [], labels: own },
      timestampMs: Number.NaN,
    });
  return catalogue;
}

const LABELS = [['drama', 'rare'], ['drama', 'crime'], ['drama'], ['crime', 'rare', 'short'], [], ['short']];
const ROWS = LABELS.map((_, row) => row);

describe('sums over likes by labels', () => {
  it('are the cosine with the likes, a label weighing what it tells and a like half as much ten likes later', () => {
    const told = (label: string) => Math.log(6 / LABELS.filter((own) => own.includes(label)).length);
    const liked = [0, 1];
    const taste = (label: string) =>
      liked.reduce((sum, row, at) => sum + (LABELS[row]!.includes(label) ? 2 ** (-at / 10) : 0), 0);
    const expected = LABELS.map((own) => {
      const squares = own.map((label) => told(label) ** 2);
      const sum = own.reduce((total, label, at) => total + squares[at]! * taste(label), 0);
      return sum === 0 ? 0 : sum / Math.hypot(...own.map(told));
    });
    const sums = new LabelSums();
    expect(sums.sumUp(catalogueOf(LABELS), liked)).toBe(true);
    const out = new Float64Array(ROWS.length);
    sums.copy(ROWS, out);
    for (const row of ROWS) expect(out[row]).toBeCloseTo(expected[row]!, 12);
    expect(sums.largest).toBe(Math.max(out[0]!, out[1]!));
    expect(sums.sumUp(catalogueOf(LABELS), [4])).toBe(false);
    expect(sums.sumUp(catalogueOf(LABELS), [])).toBe(false);
  });

  it('are the same by a copy in shared memory, which is made anew when items change', () => {
    const catalogue = catalogueOf(LABELS);
    const [live, copied] = [new LabelSums(), new LabelSums()];
    const isSame = () => {
      live.sumUp(catalogue, [0, 3]);
      copied.sumUp(readLabels(atOnce(catalogue.sharedLabels())!), [0, 3]);
      expect([...ROWS, 99].map((row) => copied.get(row))).toEqual([...ROWS, 99].map((row) => live.get(row)));
    };
    isSame();
    const before = atOnce(catalogue.sharedLabels());
    const put = (labels: string[], hidden: boolean) =>
      catalogue.put({ ...{ row: 1, itemId: 'i1', hidden, categories: [], labels }, timestampMs: 0 });
    // Items are hidden and shown far more often than their labels change.
    put(['drama', 'crime'], true);
    expect(atOnce(catalogue.sharedLabels())).toBe(before);
    put(['crime', 'drama', 'short'], false);
    isSame();
    expect(atOnce(catalogue.sharedLabels())).not.toBe(before);
    catalogue.delete(5);
    isSame();
    expect(atOnce(catalogueOf([[], []]).sharedLabels())).toBeUndefined();
  });
});

describe('a service where labels alone tell what people like', () => {
  let server: TestServer;
  afterEach(() => server.stop());
  const [USERS, ITEMS, GENRES, LIKES] = [120, 320, 40, 3];
  const NOW = Date.parse('2024-05-01T00:00:00Z');
  const genreOf = (item: number) => item % GENRES;

  it('lists items with the labels that the user likes, and says that it does', async () => {
    server = await startTestServer({
      clock: () => NOW,
      config: {
        recommend: {
          data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
          collaborative: { factors: 4, epochs: 3 },
        },
      },
    });
    const random = createRandom(5);
    const Timestamp = new Date(NOW - 40 * 86_400_000).toISOString();
    const items = Array.from({ length: ITEMS }, (_, item) => ({
      ...{ ItemId: `i${item}`, Labels: [`genre ${genreOf(item)}`], Timestamp },
    }));
    await server.call('POST', '/api/items', items);
    // Each item has a few likes, by which hardly anybody meets.
    const likes = Array.from({ length: USERS * LIKES }, (_, at) => ({
      ...{ FeedbackType: 'like', UserId: `u${at % USERS}` },
      ItemId: `i${GENRES * random.below(ITEMS / GENRES) + ((at % USERS) % GENRES)}`,
      Timestamp: new Date(NOW - random.float() * 30 * 86_400_000).toISOString(),
    }));
    await server.call('POST', '/api/feedback', likes);
    await server.service.fit();
    let hits = 0;
    for (let user = 0; user < 50; user++) {
      const { body } = await server.call('GET', `/api/recommend/u${user}?n=3`);
      hits += body.filter((id: string) => genreOf(Number(id.slice(1))) === user % GENRES).length;
    }
    expect(hits).toBeGreaterThan(0.9 * 150);
    const [first] = (await server.call('GET', '/api/recommend/u0?n=1')).body;
    const explanation: Explanation = (await server.call('GET', `/api/recommend/u0/explain/${first}?n=5`))
      .body;
    const part = explanation.Parts?.find(({ Name }) => Name === 'labels');
    expect(part?.Score).toBeGreaterThan(0);
    expect(part?.Meaning).toContain('labels');
  });
});
