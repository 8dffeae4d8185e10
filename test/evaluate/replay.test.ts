import { expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { createRandom } from '../../src/domain/random.ts';
import { aloneWay } from '../../src/evaluate/evaluate-service.ts';
import { Replay } from '../../src/evaluate/replay.ts';
import { planReplay } from '../../src/evaluate/replay-plan.ts';
import { Timeline } from '../../src/evaluate/timeline.ts';
import { HOUR_MS, pastOf, type TestRecord } from './past-of-records.ts';

const HIT = 40;

/** People like by taste; from the start of the last fifth on everybody takes the same new item, and new people come. */
function records(): TestRecord[] {
  const random = createRandom(3);
  return Array.from({ length: 1500 }, (_, at): TestRecord => {
    const user = at < 1200 ? random.below(60) : random.below(120);
    if (at >= 1200 && random.float() < 0.4) return [user, HIT, at];
    return [user, (user % 2) * 20 + random.below(20), at];
  });
}

it('goes through the last part with the service itself: what it is told changes the next lists', async () => {
  const plan = planReplay(new Timeline(pastOf(records())), {
    ...{ share: 0.2, questionsMax: 120, fitsMax: 1, fitPeriodMs: 150 * HOUR_MS, seed: 1 },
  });
  const config = defaultConfig({
    // Of a node of a cluster, it is a service of its own nevertheless.
    node: { role: 'server' },
    database: { data_store: 'postgres://127.0.0.1:1/none' },
    recommend: {
      data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
      online: { fallback_recommend: ['popular'] },
    },
  });
  const stages: string[] = [];
  const table = await Replay.run(plan, config, 1, (stage) => stages.push(stage), [aloneWay('popular')]);
  expect(table.fits).toBe(2);
  expect(stages.filter((stage) => stage.startsWith('replay: fit'))).toEqual([
    'replay: fit 1 of 2',
    'replay: fit 2 of 2',
  ]);
  const groups = new Map(table.groups.map((group) => [group.name, group]));
  expect(groups.get('all questions')!.questions).toBe(table.questions);
  const served = (name: string) => groups.get(name)!.rows.find((row) => row.name === 'served lists')!;
  // Nobody knew of the item before the replay: it stands in lists because feedback was told on the way.
  expect(served('items first seen since the fit').hits).toBeGreaterThan(0);
  // The question comes before its answer is told, so the list of a stranger has nothing of their own.
  const strangers = groups.get('no likes yet')!;
  const counter = strangers.rows.find(({ name }) => name === 'most liked, 12 h')!;
  expect(counter.ndcg.mean).toBeGreaterThan(0.2);
  expect(table.variety['item cosine']!.shared).toBeLessThan(table.variety['most liked ever']!.shared);
  const alone = groups.get('all questions')!.rows.find(({ role }) => role === 'alone')!;
  expect([alone.name, alone.ndcg.mean > 0]).toEqual(['popular alone', true]);
});
