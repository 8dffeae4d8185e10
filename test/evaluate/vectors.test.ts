import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { spaceVariants } from '../../src/evaluate/evaluate-store.ts';
import { eachVectors, fillStore, OwnService } from '../../src/evaluate/own-service.ts';
import type { Past } from '../../src/evaluate/read-feedback.ts';

const COUNT = 450;
const PAST: Past = {
  userIds: [],
  itemIds: Array.from({ length: COUNT }, (_, at) => `i${at}`),
  ...{ users: [], items: [], userRows: [], itemRows: [], timesMs: [], types: [], values: [], isPositive: [] },
  vectorsOf: (ItemId) =>
    ItemId === 'i7'
      ? []
      : [
          ['text', { ItemId, Vector: [Number(ItemId.slice(1)), 1] }],
          ...(ItemId === 'i3' ? ([['image', { ItemId, Vector: [5] }]] as const) : []),
        ],
};
const cosine = (dimensions: number) => ({ dimensions, similarity: 'cosine' as const });
const CONFIG = defaultConfig({
  vectors: { text: cosine(2), image: cosine(1), plain: { dimensions: 1, similarity: 'dot' } },
});

const service = new OwnService('furze-test-');
beforeAll(() => service.start(CONFIG, {}, { clock: () => 1.7e12 }));
afterAll(async () => {
  await service.stop();
  await service.close();
});

it('a service of an evaluation has the vectors of the items that it knows', async () => {
  const rows = PAST.itemIds.map((_, row) => [row, 1.6e12] as const);
  await fillStore(service.data, PAST, { users: [], items: new Map(rows.slice(0, 400)), feedback: [] });
  const stored = async (space: string) => {
    const { Vectors } = (await service.send(`/api/vectors/${space}?n=500`)) as {
      Vectors: { ItemId: string }[];
    };
    return Vectors.map(({ ItemId }) => ItemId);
  };
  expect((await stored('text')).sort()).toEqual(
    PAST.itemIds
      .slice(0, 400)
      .filter((id) => id !== 'i7')
      .sort(),
  );
  expect(await stored('image')).toEqual(['i3']);
});

it('writes are of few items each, and of none where there are no vectors', async () => {
  const sizes: number[] = [];
  const write = async (_space: string, records: readonly object[]) => sizes.push(records.length);
  await eachVectors(PAST, PAST.itemIds.keys(), write);
  expect([Math.max(...sizes) <= 200, sizes.reduce((sum, size) => sum + size, 0)]).toEqual([true, COUNT]);
  const { vectorsOf: _none, ...bare } = PAST;
  await eachVectors(bare, PAST.itemIds.keys(), () => expect.unreachable('there are none'));
});

it('a report has a row for each space that lists could go by, and one without', () => {
  const names = (vector_space: string, vectors = CONFIG.vectors) =>
    spaceVariants(defaultConfig({ recommend: { vector_space }, vectors })).map(([name, recommend]) => [
      name,
      recommend.vector_space,
    ]);
  expect(names('text')).toEqual([
    ['lists without vectors', 'none'],
    ['lists by image', 'image'],
  ]);
  expect(names('')).toEqual([
    ['lists by text', 'text'],
    ['lists by image', 'image'],
  ]);
  expect(names('', { text: CONFIG.vectors.text! })).toEqual([['lists without vectors', 'none']]);
  expect(names('', {})).toEqual([]);
});
