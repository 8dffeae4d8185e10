import { expect, it } from 'vitest';
import { ItemCards } from '../../src/admin/item-cards.ts';
import { UserViewer } from '../../src/admin/user-viewer.ts';
import { defaultConfig } from '../../src/config/config.ts';
import { RECOMMENDERS } from '../../src/domain/recommenders.ts';
import { Explainer } from '../../src/recommend/answers/explainer.ts';
import type { History } from '../../src/recommend/history/history.ts';
import { GenerationSlot } from '../../src/recommend/models/generation-slot.ts';
import type { Recommendation } from '../../src/recommend/start-recommendation.ts';

/** Recommenders that note in which turn of the event loop each is asked, and all else of which answers are made. */
function counted() {
  let turn = 0;
  const seen: number[] = [];
  const next = () => {
    turn++;
    if (seen.length < RECOMMENDERS.length) setImmediate(next);
  };
  setImmediate(next);
  const wanted = new Set<number>();
  const rank = ({ k }: { readonly k: number }) => {
    seen.push(turn);
    wanted.add(k);
    return { rows: [], scores: [] };
  };
  const parts = {
    reads: { itemRow: () => 1, userRow: () => -1, userAt: () => undefined, findItem: () => undefined },
    recommender: { recommend: async () => ({ text: '[]' }) },
    histories: {
      ready: async () => {},
      use: (_: number, work: (history: History) => unknown) => work({} as History),
    },
    catalogue: { isHidden: () => true },
    live: { catalogue: { isListable: () => true } },
    sources: Object.fromEntries(RECOMMENDERS.map((name) => [name, { rank }])),
    maker: {
      *warm() {},
      scoreOf: () => undefined,
      uses: () => true,
      *partsOf(): Generator<undefined, undefined> {},
    },
    settings: { cacheSize: 10 },
    fallbacks: [],
    generations: new GenerationSlot(),
  };
  return { seen, wanted, parts };
}

it('asks each recommender in a turn of its own to explain an item', async () => {
  const { seen, parts } = counted();
  const history = { positiveRows: () => [] } as unknown as History;
  parts.histories.use = (_, work) => work(history);
  const explainer = new Explainer(parts as unknown as ConstructorParameters<typeof Explainer>[0]);
  expect(await explainer.explain('bob', 'a', { n: 10, categories: [] })).toMatchObject({ Rank: -1 });
  expect(new Set(seen).size).toBe(RECOMMENDERS.length);
});

it('explains few items at once, and none for who has hung up', async () => {
  const { parts } = counted();
  const history = { positiveRows: () => [] } as unknown as History;
  let held = 0;
  let most = 0;
  let asked = 0;
  parts.histories.use = async (_, work) => {
    asked++;
    most = Math.max(most, ++held);
    const done = await Promise.resolve(work(history)).finally(() => held--);
    return done;
  };
  const explainer = new Explainer(parts as unknown as ConstructorParameters<typeof Explainer>[0]);
  const query = { n: 10, categories: [] };
  const leaving = new AbortController();
  const begun = explainer.explain('bob', 'a', { ...query, caller: leaving });
  const others = Array.from({ length: 8 }, () => explainer.explain('bob', 'a', query));
  const waiting = explainer.explain('bob', 'a', { ...query, caller: leaving });
  leaving.abort();
  const { reason } = leaving.signal;
  const ended = { status: 'rejected', reason };
  expect(await Promise.allSettled([begun, waiting])).toEqual([ended, ended]);
  await Promise.all(others);
  expect([asked, held]).toEqual([8, 0]);
  expect(most).toBeLessThanOrEqual(4);
  const crowd = Array.from({ length: 100 }, () => explainer.explain('bob', 'a', query));
  const refused = (await Promise.allSettled(crowd)).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(100 - 4 - 64);
  expect(refused[0]).toMatchObject({ reason: { code: 'OVERLOADED' } });
});

it('asks each recommender in a turn of its own to show a user, for as many items as a list takes', async () => {
  const { seen, wanted, parts } = counted();
  const { recommend, dashboard } = defaultConfig();
  parts.recommender.recommend = async () => ({ text: '{"Items":[]}' });
  const recommendation = parts as unknown as Recommendation;
  const viewer = new UserViewer(recommendation, new ItemCards(recommendation.reads, dashboard), recommend);
  const { Recommenders } = await viewer.view('bob', { n: 10, historyCount: 10 });
  expect(Recommenders).toHaveLength(RECOMMENDERS.length);
  expect(new Set(seen).size).toBe(RECOMMENDERS.length);
  expect([...wanted]).toEqual([parts.settings.cacheSize]);
});
