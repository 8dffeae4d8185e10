import { expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { startTestServer } from './start.ts';

const DIMENSIONS = 384;
const TOPICS = 100;
/** Enough for lists. */
const COUNT = 12_000;

it('a large space is searched by lists, which follow each write', async () => {
  const random = createRandom(5);
  const draw = (most: number) => Array.from({ length: DIMENSIONS }, () => random.below(2 * most + 1) - most);
  const topics = Array.from({ length: TOPICS }, () => draw(9));
  // Three of each topic, many times: what is sent costs more than what is searched.
  const variants = Array.from({ length: 3 * TOPICS }, (_, at) =>
    JSON.stringify(draw(2).map((number, place) => number + topics[at % TOPICS]![place]!)),
  );
  const all = Array.from({ length: COUNT }, (_, at) => at);
  const server = await startTestServer({
    config: { vectors: { large: { dimensions: DIMENSIONS, similarity: 'cosine' } } },
  });
  try {
    await server.call(
      'POST',
      '/api/items',
      all.map((at) => ({ ItemId: `i${at}` })),
    );
    const write = (from: number) =>
      server.call(
        'POST',
        '/api/vectors/large',
        `[${all.slice(from, from + 3000).map((at) => `{"ItemId":"i${at}","Vector":${variants[at % variants.length]}}`)}]`,
      );
    for (let from = 0; from < COUNT; from += 3000) expect((await write(from)).status).toBe(200);
    const near = async (query = '') => {
      const { status, body } = await server.call('GET', `/api/item/i7/neighbors?by=large&n=50${query}`);
      expect(status).toBe(200);
      return body.map(({ Id }: { Id: string }) => Number(Id.slice(1)));
    };
    await expect
      .poll(() => server.lines.filter((line) => / vectors lie in \d+ lists/.test(line)).at(-1))
      .toMatch(/\d+ vectors lie in \d+ lists; a search looks at 1?\d % of them/);
    const found: number[] = await near();
    expect(found.every((at) => at % TOPICS === 7)).toBe(true);
    const gone = found[0]!;
    await server.call('DELETE', `/api/item/i${gone}`);
    await server.call('PUT', '/api/item/i8/vectors/large', { Vector: topics[7] });
    const after: number[] = await near();
    expect(after).not.toContain(gone);
    expect(after).toContain(8);
    expect(await near(`&exclude=${after.map((at) => `i${at}`).join(',')}`)).not.toContain(8);
  } finally {
    await server.stop();
  }
});
