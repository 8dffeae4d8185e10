/** Ids remembered before all are forgotten: some megabytes at the usual length. */
const IDS_MAX = 65_536;

/**
 * The rows of ids that were written lately. A few users and items have most of the feedback, and to look an id up in a
 * map costs a tenth of what a walk down the tree of ids does.
 */
export class RecentIds {
  private readonly rows = new Map<string, number>();

  /** The id's row, undefined when it is not remembered. */
  get(id: string): number | undefined {
    return this.rows.get(id);
  }

  set(id: string, row: number): void {
    if (this.rows.size >= IDS_MAX) this.rows.clear();
    this.rows.set(id, row);
  }

  /** The id has no row any more. */
  delete(id: string): void {
    this.rows.delete(id);
  }
}
