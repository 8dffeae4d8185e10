import { performance } from 'node:perf_hooks';
import { searchItems } from '../recommend/catalogue/search-by-text.ts';
import type { SearchItemsJob } from './messages.ts';
import { withReads } from './open-stores.ts';

/** See `SearchItemsJob`. */
export function findItems({ dataPath, text, n, timeMsMax }: SearchItemsJob): string[] {
  const endMs = performance.now() + timeMsMax;
  return withReads(dataPath, (reads) => searchItems(reads, text, n, () => performance.now() > endMs));
}
