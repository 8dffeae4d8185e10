import { expect, test } from 'vitest';
import { mainThreadInputs } from '../../../src/recommend/lists/maker/main-thread-inputs.ts';
import type { Generation, GenerationSlot } from '../../../src/recommend/models/generation-slot.ts';
import { rankCandidates } from '../../../src/recommend/ranking/rank-candidates.ts';
import type { InMemoryState } from '../../../src/recommend/state/in-memory-state.ts';
import type { LocalReads } from '../../../src/store/data-store.ts';
import { generation, popularity, ranking } from '../hand-made.ts';

test('scores of items are as of a second ago at most, and by the ranking that serves', async () => {
  const counts = { ...popularity({ scales: [[], [], [3, 1, 2]] }), drain: () => false };
  const live = { popularity: counts, settled: Promise.resolve(), sinceMsAt: () => 0, catalogue: {} };
  const by = (weight: number) => generation({ ranking: ranking({ popular_2d: weight }, counts) });
  const generations: { current: Generation } = { current: by(1) };
  let now = 1_000_000;
  const inputs = mainThreadInputs({
    live: live as unknown as InMemoryState,
    generations: generations as unknown as GenerationSlot,
    reads: {} as LocalReads,
    clock: () => now,
    cacheSize: 10,
    lastRows: () => [],
  });
  await live.settled;
  const one = { candidates: [2, 0, 1], userRow: 4, kind: 1, userLabels: () => [], vector: undefined };
  const kept = () => [...rankCandidates(one, inputs, 'learned', 1)];
  const anew = () => {
    const { popularity, timestampMsAt } = inputs;
    return [
      ...rankCandidates(one, { generation: generations.current, popularity, timestampMsAt }, 'learned', 1),
    ];
  };
  const first = anew();
  expect(kept()).toEqual(first);
  counts.scales[2]!.values[1] = 9;
  now += 999;
  expect(anew()).not.toEqual(first);
  expect(kept()).toEqual(first);
  now += 1;
  expect(kept()).toEqual(anew());
  generations.current = by(-1);
  expect(kept()).toEqual(anew());
  // A clock may be put back.
  counts.scales[2]!.values[1] = 1;
  now -= 5000;
  expect(kept()).toEqual(anew());
});
