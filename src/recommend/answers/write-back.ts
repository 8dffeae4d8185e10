import type { Clock } from '../../domain/clock.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import type { DataStore } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

/** Writes feedback on what was answered, so that it is not answered again. */
export class WriteBack {
  private readonly data: Pick<DataStore, 'write'>;
  private readonly catalogue: Catalogue;
  private readonly clock: Clock;

  constructor(data: Pick<DataStore, 'write'>, catalogue: Catalogue, clock: Clock) {
    this.data = data;
    this.catalogue = catalogue;
    this.clock = clock;
  }

  /**
   * Items that are gone by now are left out.
   * @param delayMs how much later than now the feedback takes effect
   */
  async write(
    userId: string,
    itemRows: readonly number[],
    FeedbackType: string,
    delayMs: number,
  ): Promise<void> {
    const Timestamp = formatTimestamp(this.clock() + delayMs);
    const records = itemRows.flatMap((row) => {
      const ItemId = this.catalogue.idAt(row);
      return ItemId === undefined ? [] : [{ FeedbackType, UserId: userId, ItemId, Timestamp, Comment: '' }];
    });
    if (records.length === 0) return;
    // What is read now is read, also where a record of a later time waits; a later time puts nothing off.
    await this.data.write({ kind: 'putFeedback', overwrite: delayMs === 0, batch: { records } });
  }
}
