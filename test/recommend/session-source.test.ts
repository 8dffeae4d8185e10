import { describe, expect, it } from 'vitest';
import type { Feedback } from '../../src/domain/entities.ts';
import type { Ranked } from '../../src/memory/ranked-rows.ts';
import type { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import type { GenerationSlot } from '../../src/recommend/models/generation-slot.ts';
import type { ItemBasedSource } from '../../src/recommend/sources/item-based-source.ts';
import { type ListOfSession, SessionSource } from '../../src/recommend/sources/session-source.ts';
import type { LocalReads } from '../../src/store/data-store.ts';
import { generation, popularity, ranking, summedLists } from './hand-made.ts';

/** Item i leads to i + 10, and a little to 50; 60 cannot be listed. */
const sequence = summedLists((row) => [
  [row + 10, 1],
  [60, 0.9],
  [50, 0.1],
]);
const hidden = new Set([60]);
const catalogue: Partial<Catalogue> = { isListable: (row) => !hidden.has(row), isInAll: () => true };
const reads: Partial<LocalReads> = { itemRow: (id) => Number(id.slice(1)) };

/** What is like any session: 11, which sequences may have listed already, and 70, half as like. */
const similar: Ranked = { rows: [11, 70], scores: [4, 2] };

function sessions(bySequence: boolean, list?: Ranked, { returns = 0, mayReturn = true } = {}) {
  const asked: (readonly number[])[] = [];
  const listed: Parameters<ListOfSession>[] = [];
  const itemBased: Pick<ItemBasedSource, 'similarTo'> = {
    similarTo: async (seeds) => {
      asked.push(seeds);
      return similar;
    },
  };
  const source = new SessionSource({
    reads: reads as LocalReads,
    catalogue: catalogue as Catalogue,
    itemBased: itemBased as ItemBasedSource,
    generations: {
      current: generation({ sequence, ranking: { ...ranking({}, popularity()), returns } }),
    } as GenerationSlot,
    bySequence,
    positiveKinds: [],
    sessionLength: 2,
    mayReturn,
    listOfSession: (...of) => {
      listed.push(of);
      return list;
    },
  });
  return { source, asked, listed };
}

const at = (ItemId: string, second: number): Feedback => ({
  FeedbackType: 'click',
  UserId: '',
  ItemId,
  Timestamp: new Date(second * 1000).toISOString(),
  Comment: '',
});
const SESSION = [at('i2', 2), at('i1', 1), at('i3', 3)];
const query = (n: number) => ({ n, offset: 0, categories: [] });

describe('a session', () => {
  it('goes on to what follows its latest items, the last of them first', async () => {
    const { source, asked } = sessions(true);
    const { rows, scores } = await source.rank(SESSION, query(2));
    expect(rows).toEqual([13, 12]);
    expect(scores[0]).toBe(1);
    expect(scores[1]).toBeCloseTo(Math.SQRT1_2, 6);
    expect(asked).toEqual([]);
  });

  it('takes the last of records of one time for the latest', async () => {
    const { source } = sessions(true);
    const { rows } = await source.rank([at('i1', 5), at('i2', 5), at('i3', 5)], query(2));
    expect(rows).toEqual([13, 12]);
  });

  it('then to items like those that it has, each once and scored lower', async () => {
    const { source } = sessions(true);
    const { rows, scores, sources } = await source.rank(SESSION, query(10));
    expect(rows).toEqual([13, 12, 50, 11, 70]);
    expect(sources).toEqual(['sequence', 'item_based']);
    expect(scores[2]).toBeGreaterThanOrEqual(scores[3]!);
    expect(scores[4]).toBeCloseTo(scores[3]! / 2, 6);
  });

  it('leaves out what is hidden while others are waited for', async () => {
    const { source } = sessions(true);
    const answer = source.rank(SESSION, query(10));
    hidden.add(13);
    expect((await answer).rows).toEqual([12, 50, 11, 70]);
    hidden.delete(13);
  });

  it('has the same beginning however many are asked for', async () => {
    const { source } = sessions(true);
    const all = await source.rank(SESSION, query(10));
    for (let n = 0; n <= 5; n++)
      expect((await source.rank(SESSION, query(n))).rows).toEqual(all.rows.slice(0, n));
  });

  it('has what people may return to, the one before the last first, as often as others do', async () => {
    const list = { rows: [50, 80, 90], scores: [0.4, 0.2, 0.05] };
    const returning = sessions(true, list, { returns: 0.4 });
    // 3 is the last one, and 2 came before it.
    const { rows, scores } = await returning.source.rank(SESSION, query(3));
    expect(rows).toEqual([50, 2, 80]);
    expect(scores).toEqual([0.6 * 0.4, 0.4 / 2, 0.6 * 0.2]);
    // What may not be shown does not come back either.
    expect((await returning.source.rank(SESSION, query(3), (row) => row !== 2)).rows).toEqual([50, 80, 90]);
    const never = sessions(true, list, { returns: 0.4, mayReturn: false });
    expect((await never.source.rank(SESSION, query(3))).rows).toEqual([50, 80, 90]);
  });

  it('has what is ranked for it before all others, without items of its own or hidden ones', async () => {
    const list = { rows: [50, 3, 60, 80], scores: [0.9, 0.8, 0.7, 0.2] };
    const { source, listed } = sessions(true, list);
    expect(await source.rank(SESSION, query(2))).toMatchObject({ rows: [50, 80], sources: ['session'] });
    const { rows, scores } = await source.rank(SESSION, query(10));
    expect(rows).toEqual([50, 80, 13, 12, 11, 70]);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(listed).toEqual([2, 10].map((length) => [[3, 2], [1, 2, 3], { length, discovery: undefined }]));
    await source.rank(SESSION, { ...query(2), categories: ['films'], discovery: 0.5 });
    expect(listed[2]![2]).toEqual({ length: Number.POSITIVE_INFINITY, discovery: 0.5 });
  });

  it('goes by the neighbors of items alone where these are configured', async () => {
    const { source, asked, listed } = sessions(false, { rows: [99], scores: [1] });
    expect(await source.rank(SESSION, query(5))).toEqual({ ...similar, sources: ['item_based'] });
    expect(asked).toEqual([[3, 2]]);
    expect(listed).toEqual([]);
  });
});
