import type { LabelsOf } from '../../dataset/training-data.ts';
import type { NeighborType } from '../../domain/neighbor-type.ts';
import { type NeighborShape, similarityMemoryBytes } from './memory-layout.ts';

/** Distinct labels, and how many all rows have together. */
export interface LabelCounts {
  readonly names: number;
  readonly entries: number;
}

/** Compared side: items by the users that they share, or users by items. */
export interface Compared {
  readonly rowCount: number;
  readonly elementCount: number;
  /** Distinct pairs of the two. */
  readonly count: number;
  /** Undefined where labels are not compared. */
  readonly labels: LabelCounts | undefined;
}

/**
 * Bytes of the similarities that a policy needs: all, and the largest. The one by labels may have room for an index; what
 * items are liked by, as many users have few items, is too varied for one.
 */
export function policyBytes(
  policy: NeighborType,
  { rowCount, elementCount, count, labels }: Compared,
  rest: Pick<NeighborShape, 'slots' | 'listLengthMax' | 'hasIndexRoom'>,
): { readonly all: number; readonly piece: number } {
  const bytes = (elements: number, entryCount: number, hasIndexRoom: boolean) =>
    similarityMemoryBytes({ rowCount, elementCount: elements, entryCount, ...rest, hasIndexRoom });
  const related = policy === 'similar' ? 0 : bytes(elementCount, count, false);
  const similar = labels === undefined ? 0 : bytes(labels.names, labels.entries, rest.hasIndexRoom);
  return { all: related + similar, piece: Math.max(related, similar) };
}

/** @param rows that are compared, of the store */
export function countLabels(labelsOf: LabelsOf, rows: Uint32Array): LabelCounts {
  const names = new Set<string>();
  let entries = 0;
  for (const row of rows) {
    for (const label of labelsOf(row)) {
      names.add(label);
      entries++;
    }
  }
  return { names: names.size, entries };
}
