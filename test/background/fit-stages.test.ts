import { expect, it, vi } from 'vitest';
import { describeProgress, ON_ALL_FEEDBACK } from '../../src/background/tasks/fit-stages.ts';
import { itemKnnPart } from '../../src/model/item-knn/train-and-serve.ts';
import { sequencePart } from '../../src/model/sequence/train-and-serve.ts';

it('says of stages that go over items that their steps are items', () => {
  for (const { stage } of [itemKnnPart, sequencePart])
    for (const name of [stage, stage + ON_ALL_FEEDBACK])
      expect(describeProgress(name, 64, 2000)).toBe(`${name}: 64 of 2,000 items`);
});

it('asks nothing of the tables of languages, which take tens of milliseconds to load on the thread that serves', () => {
  const asked = vi.spyOn(Number.prototype, 'toLocaleString');
  expect(describeProgress('Training ALS', 7, 15, 'NDCG@10 0.071')).toBe(
    'Training ALS: epoch 7 of 15, NDCG@10 0.071',
  );
  expect(asked).not.toHaveBeenCalled();
  asked.mockRestore();
});
