import { expect, it } from 'vitest';
import { itemKnnPart } from '../../src/model/item-knn/part.ts';
import { sequencePart } from '../../src/model/sequence/part.ts';
import { describeProgress, ON_ALL_FEEDBACK } from '../../src/worker/tasks/progress.ts';

it('says of stages that go over items that their steps are items', () => {
  for (const { stage } of [itemKnnPart, sequencePart])
    for (const name of [stage, stage + ON_ALL_FEEDBACK])
      expect(describeProgress(name, 64, 2000)).toBe(`${name}: 64 of 2,000 items`);
});
