import { grown } from '../../memory/growing-u32.ts';
import type { FeedbackColumns } from '../../store/data-store.ts';

/** Time of each item's first feedback of any type: for ranking that is the age of one without a Timestamp. 4 bytes an item. */
export class FirstSights {
  /** Seconds since the epoch by item row, 1 at the least; 0 for an item without feedback. */
  seconds: Uint32Array = new Uint32Array(1024);

  /** Takes records in. One that is deleted later was seen all the same. */
  apply({ length, itemRows, timesMs }: FeedbackColumns): void {
    for (let at = 0; at < length; at++) {
      const row = itemRows[at]!;
      if (row >= this.seconds.length) this.seconds = grown(this.seconds, row + 1);
      const seenS = Math.min(0xffffffff, Math.max(1, Math.floor(timesMs[at]! / 1000)));
      if (this.seconds[row] === 0 || seenS < this.seconds[row]!) this.seconds[row] = seenS;
    }
  }

  /** Milliseconds since the epoch, NaN for an item without feedback. */
  timeMsAt(itemRow: number): number {
    const seenS = this.seconds[itemRow] ?? 0;
    return seenS === 0 ? Number.NaN : seenS * 1000;
  }

  /** @param saved is kept and written to */
  restore(saved: Uint32Array): void {
    this.seconds = saved;
  }
}
