import { createRandom } from '../../src/domain/random.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { incidenceOfLabels } from '../../src/model/neighbors/incidence.ts';
import { planIndex } from '../../src/model/neighbors/index-plan.ts';
import { IndexedSearch } from '../../src/model/neighbors/indexed-search.ts';
import { placeSimilarity } from '../../src/model/neighbors/memory-layout.ts';
import { SimilaritySearch } from '../../src/model/neighbors/similarity-search.ts';
import type { Row } from '../http/statistics.ts';

const K = 100;
const GENRES = 20;
const TAGS = 20_000;

/** All pairs by labels with the index and without, told from a sample of rows: items with genres and up to four tags. */
export function benchIndex(itemCount: number, sampleRows: number): Row {
  const random = createRandom(3);
  const labels = (prefix: string, count: number, kinds: number, exponent: number) =>
    Array.from({ length: count }, () => `${prefix}${Math.floor(kinds * random.float() ** exponent)}`);
  const incidence = incidenceOfLabels(
    () => [...labels('genre', 1 + random.below(3), GENRES, 2), ...labels('tag', random.below(5), TAGS, 3)],
    itemCount,
  );
  const placed = placeSimilarity(incidence, { reserveIndex: true });
  const search = new SimilaritySearch(placed, loadKernels(placed.memory), 0);
  const planned = performance.now();
  const plan = planIndex(search, { enableIndex: true, indexRecall: 0.8, k: K, seed: 1 });
  const planS = (performance.now() - planned) / 1000;
  const indexed = plan.exact ? search : new IndexedSearch(placed, plan);
  const step = Math.max(1, Math.floor(itemCount / sampleRows));
  const secondsOfAll = (kind: SimilaritySearch | IndexedSearch) => {
    const started = performance.now();
    let rows = 0;
    for (let row = 0; row < itemCount; row += step) kind.topRows(row, row + 1, K, () => rows++);
    return ((performance.now() - started) / 1000 / rows) * itemCount;
  };
  const [exactS, indexedS] = [secondsOfAll(search), secondsOfAll(indexed) + planS];
  return {
    bench: `all pairs of ${itemCount} rows by labels, index (recall ${plan.recall.toFixed(3)})`,
    unit: 's, 1 thread',
    furze: indexedS,
    reference: 'without the index',
    referenceValue: exactS,
    ratio: indexedS / exactS,
    aim: '-',
  };
}
