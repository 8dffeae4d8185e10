import { expect, it } from 'vitest';
import { UserViewer } from '../../src/admin/user-view.ts';
import { defaultConfig } from '../../src/domain/config/config.ts';
import { RECOMMENDERS } from '../../src/domain/recommenders.ts';
import { Explainer } from '../../src/recommend/answers/explain.ts';
import type { History } from '../../src/recommend/history/history.ts';
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
  const rank = () => {
    seen.push(turn);
    return { rows: [], scores: [] };
  };
  const parts = {
    reads: { itemRow: () => 1, userRow: () => -1, userAt: () => undefined },
    recommender: { recommend: async () => '[]' },
    histories: { use: (_: number, work: (history: History) => unknown) => work({} as History) },
    catalogue: { isHidden: () => true },
    live: { catalogue: { isListable: () => true } },
    sources: Object.fromEntries(RECOMMENDERS.map((name) => [name, { rank }])),
    maker: { scoreOf: () => undefined },
    generations: { current: undefined },
  };
  return { seen, parts };
}

it('asks each recommender in a turn of its own to explain an item', async () => {
  const { seen, parts } = counted();
  const history = { positiveRows: () => [] } as unknown as History;
  parts.histories.use = (_, work) => work(history);
  const explainer = new Explainer(parts as unknown as ConstructorParameters<typeof Explainer>[0]);
  expect(await explainer.explain('bob', 'a', { n: 10, categories: [] })).toMatchObject({ Rank: -1 });
  expect(new Set(seen).size).toBe(RECOMMENDERS.length);
});

it('asks each recommender in a turn of its own to show a user', async () => {
  const { seen, parts } = counted();
  const viewer = new UserViewer(parts as unknown as Recommendation, defaultConfig().recommend);
  const { Recommenders } = await viewer.view('bob', { n: 10, historyCount: 10 });
  expect(Recommenders).toHaveLength(RECOMMENDERS.length);
  expect(new Set(seen).size).toBe(RECOMMENDERS.length);
});
