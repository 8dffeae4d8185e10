import { createHash } from 'node:crypto';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { incidenceOfLabels } from '../../src/model/neighbors/incidence.ts';
import { planIndex } from '../../src/model/neighbors/index-plan.ts';
import { placeSimilarity } from '../../src/model/neighbors/memory-layout.ts';
import { SimilaritySearch } from '../../src/model/neighbors/similarity-search.ts';
import { neighborsKept } from '../../src/model/neighbors/train-and-serve-items.ts';
import { drawer } from '../draw.ts';
import { ownCpuMs, type Row, ratioRow } from '../http/statistics.ts';

/** Draws a number below `kinds` by Zipf's law: the n-th as often as 1 / n. */
function zipf(kinds: number, random: Random): () => number {
  const draw = drawer(Array.from({ length: kinds }, (_, kind) => 1 / (kind + 1)));
  return () => draw(random);
}

/** Makes the labels of the next item of each catalogue. */
const CATALOGUES: Readonly<Record<string, (random: Random) => () => string[]>> = {
  'with genres and up to 4 tags': (random) => {
    const labels = (prefix: string, count: number, kinds: number, exponent: number) =>
      Array.from({ length: count }, () => `${prefix}${Math.floor(kinds * random.float() ** exponent)}`);
    return () => [
      ...labels('genre', 1 + random.below(3), 20, 2),
      ...labels('tag', random.below(5), 20_000, 3),
    ];
  },
  'with a category, a brand and 1 to 8 tags': (random) => {
    const [brand, tag] = [zipf(2000, random), zipf(10_000, random)];
    return () => [
      `category${random.below(10)}`,
      `brand${brand()}`,
      ...Array.from({ length: 1 + random.below(8) }, () => `tag${tag()}`),
    ];
  },
};

/**
 * All pairs by labels with the index and without, told from a sample of rows, in processor time.
 * @throws Error when the two find different neighbors
 */
export function benchIndex(itemCount: number, sampleRows: number): Row[] {
  return Object.entries(CATALOGUES).map(([name, labelsOf]) => {
    const next = labelsOf(createRandom(3));
    return benchCatalogue(name, next, itemCount, sampleRows);
  });
}

function benchCatalogue(
  name: string,
  labelsOfNext: () => string[],
  itemCount: number,
  sampleRows: number,
): Row {
  const k = neighborsKept(itemCount);
  const incidence = incidenceOfLabels(labelsOfNext, itemCount);
  const placed = placeSimilarity(incidence, { reserveIndex: true, listLengthMax: k });
  const kernels = loadKernels(placed.memory);
  const search = new SimilaritySearch(placed, kernels, 0);
  const indexed = new SimilaritySearch(placed, kernels, 0, 1);
  const planned = ownCpuMs();
  const plan = planIndex(placed, kernels, { enableIndex: true, indexRecall: 0.8, k, seed: 1 });
  const planS = (ownCpuMs() - planned) / 1000;
  const chosen = plan.exact ? search : indexed;
  const random = createRandom(4);
  const sample = Array.from({ length: sampleRows }, () => random.below(itemCount));
  const exact = allRows(search, sample, itemCount, k);
  const pruned = allRows(chosen, sample, itemCount, k);
  if (exact.hash !== pruned.hash) throw new Error(`${name}: the index finds other neighbors`);
  const lists = `lists ${pruned.hash.slice(0, 8)}, ${plan.exact ? 'not used' : 'the same without'}`;
  const bench = `all pairs of ${itemCount} items ${name}, index (${lists})`;
  const seconds = pruned.seconds + planS;
  return ratioRow(bench, 's of processor time', seconds, 'without the index', exact.seconds);
}

/** Time of all rows by a sample of them, and a hash of the sample's lists. */
function allRows(search: SimilaritySearch, sample: readonly number[], itemCount: number, k: number) {
  const hash = createHash('sha256');
  const started = ownCpuMs();
  for (const row of sample) {
    search.topRows(row, row + 1, k, (_row, { rows, scores }) => hash.update(rows).update(scores));
  }
  const seconds = ((ownCpuMs() - started) / 1000 / sample.length) * itemCount;
  return { seconds, hash: hash.digest('hex') };
}
