import type { LabelsOf, TrainingData } from '../../dataset/training-data.ts';
import { type NeighborShape, similarityMemoryBytes } from './memory.ts';

/** How items or users are compared: by labels, by what is liked in common, or by labels where there are any. */
export type NeighborPolicy = 'similar' | 'related' | 'auto';

/** What is compared: items by the users that they share, or users by items. */
export interface Compared {
  readonly rowCount: number;
  readonly elementCount: number;
  readonly data: TrainingData;
  /** Asked only where labels are compared. */
  labels(): LabelsOf;
}

/** Bytes of the similarities that a policy needs. */
export function policyBytes(
  policy: NeighborPolicy,
  { rowCount, elementCount, data, labels }: Compared,
  rest: Pick<NeighborShape, 'slots' | 'listLengthMax' | 'hasIndexRoom'>,
): number {
  const bytes = (elements: number, entryCount: number) =>
    similarityMemoryBytes({ rowCount, elementCount: elements, entryCount, ...rest });
  let sum = policy === 'similar' ? 0 : bytes(elementCount, data.interactions.count);
  if (policy !== 'related') {
    const { names, entries } = countLabels(labels(), rowCount);
    sum += bytes(names, entries);
  }
  return sum;
}

function countLabels(labelsOf: LabelsOf, rowCount: number): { names: number; entries: number } {
  const names = new Set<string>();
  let entries = 0;
  for (let row = 0; row < rowCount; row++) {
    for (const label of labelsOf(row)) {
      names.add(label);
      entries++;
    }
  }
  return { names: names.size, entries };
}
