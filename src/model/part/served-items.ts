import type { TrainingData } from '../../dataset/training-data.ts';

/** The rows of the store, by which a model that serves is asked. */
export interface ServedItems {
  /** The row of each item that was trained on, ascending. */
  readonly rows: Uint32Array;
  /** Rows that the store had given. */
  readonly rowCount: number;
}

/** A task that knows where the items of its matrix stand in the store. */
export interface WithServedItems {
  readonly served: ServedItems;
}

export function servedItems({ rows, itemRowCount }: TrainingData): ServedItems {
  return { rows: rows.items, rowCount: itemRowCount };
}
