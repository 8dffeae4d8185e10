import type { Item } from '../domain/entities.ts';
import { cellText } from './cell-text.ts';
import { fillContinued } from './continued-rows.ts';
import type { FilePlan } from './import-plan.ts';
import { readRows } from './read-rows.ts';
import { type Made, type Row, recordOf } from './rows-to-records.ts';

/** A row of a file and what becomes of it. */
export interface MadeRow {
  /** The line that it begins on, from 1. */
  readonly line: number;
  /** Absent for a row that cannot be parted. */
  readonly cells?: Row;
  readonly made: Made;
}

/**
 * The rows of a file, in its order, some hundreds at a time, with what becomes of each. Names of columns are no rows, wherever
 * they come again; of items that rows of feedback tell of the first row of each counts, and of what is left out.
 * @param chunks all of its text
 * @param after the last line of those of which nothing is asked
 * @throws OperatorError as `readRows`
 */
export async function* madeRows(
  plan: FilePlan,
  chunks: AsyncIterable<string>,
  after = 0,
): AsyncGenerator<readonly MadeRow[]> {
  let header: Row | undefined = plan.hasHeader ? [] : undefined;
  const fill = fillContinued(plan.continued);
  const told = new Set<string>();
  for await (const rows of readRows(plan.path, chunks, plan.format, plan.columns)) {
    const batch: MadeRow[] = [];
    for (const row of rows) {
      const isAsked = row.line > after;
      if (!('cells' in row)) {
        if (isAsked) batch.push({ line: row.line, made: { refusal: row.reason } });
        continue;
      }
      if (header?.length === 0) header = row.cells;
      // Files that were put behind one another bring each their own.
      if (header?.every((cell, at) => cellText(String(cell)) === cellText(String(row.cells[at])))) continue;
      const cells = fill(row.cells);
      // What a row has told of an item stays.
      if (!isAsked && !plan.isOfFeedback) continue;
      const made = recordOf(cells, plan);
      if (plan.isOfFeedback && !('leftOut' in made) && !isFirstTold(made, told)) continue;
      if (isAsked) batch.push({ line: row.line, cells, made });
    }
    yield batch;
  }
}

/** False for a row that tells of no item, or of one that a row before has told of; what is wrong with it the feedback says. */
function isFirstTold(made: Made, told: Set<string>): boolean {
  if (!('record' in made)) return false;
  const { ItemId = '', Comment, Categories = [] } = made.record as Partial<Item>;
  if ((Comment === '' && Categories.length === 0) || told.has(ItemId)) return false;
  told.add(ItemId);
  return true;
}
