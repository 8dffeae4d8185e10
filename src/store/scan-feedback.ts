import { FeedbackColumns, type LocalReads } from './data-store.ts';

const SCAN_RECORDS = 65_536;

/** Hands all feedback out in blocks, in the order in which it is stored. A block is valid until the next one. */
export function scanAllFeedback(reads: LocalReads, visit: (block: FeedbackColumns) => void): void {
  const block = new FeedbackColumns(SCAN_RECORDS);
  for (let from = 0; from >= 0; ) {
    from = reads.scanFeedback(from, SCAN_RECORDS, block);
    visit(block);
  }
}
