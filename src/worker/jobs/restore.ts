import { decodeFm } from '../../model/click/model.ts';
import { type PlacedFm, placeFm } from '../../model/click/scorer.ts';
import { decodeNeighborTable } from '../../model/neighbors/neighbor-table.ts';
import type { RestoredParts, RestoreJob } from '../messages.ts';
import {
  CLICK_NAME,
  GENERATION_NAME,
  type GenerationMark,
  NEIGHBORS_NAME,
  WEIGHTS_NAME,
} from '../model-mark.ts';
import { itemLabelsOf } from './click.ts';
import { cacheAt, withReads } from './stores.ts';

/** See `RestoreJob`. */
export async function restore(job: RestoreJob): Promise<RestoredParts> {
  const cache = cacheAt(job.cachePath);
  const mark = (await cache.getMark(GENERATION_NAME)) as GenerationMark | undefined;
  const isWhole = mark?.generation === job.generation;
  const click = isWhole && mark.hasClickThrough ? await cache.getBlob(CLICK_NAME) : undefined;
  const neighbors = isWhole && mark.hasItemNeighbors ? await cache.getBlob(NEIGHBORS_NAME) : undefined;
  const weights = isWhole && mark.hasItemWeights ? await cache.getBlob(WEIGHTS_NAME) : undefined;
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  return {
    clickThrough: click && placeClick(click, job),
    itemNeighbors: neighbors && decodeNeighborTable(neighbors),
    itemWeights: weights && decodeNeighborTable(weights),
    ranking: isWhole ? (mark.ranking ?? undefined) : undefined,
  };
}

function placeClick(bytes: Uint8Array, { dataPath, slots }: RestoreJob): PlacedFm {
  const model = decodeFm(bytes);
  return withReads(dataPath, (reads) => placeFm(model, itemLabelsOf(reads), slots));
}
