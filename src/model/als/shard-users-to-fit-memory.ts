import type { Interactions } from '../../dataset/interactions.ts';
import { MEMORY_BYTES_MAX } from '../../memory/shared-memory.ts';
import type { ServingShape } from '../part/learned-part.ts';
import { alsFitMemory } from './memory-estimate.ts';
import type { AlsShape } from './memory-layout.ts';
import { type Sharding, shardingOf } from './sharding.ts';

/**
 * How to divide the users of a training that does not fit as a whole: undefined where all fits in one memory and in the
 * room that there is, or where nothing would be saved.
 * @param roomBytes what training and models may take
 */
export function neededSharding(
  shape: AlsShape,
  interactions: Interactions,
  serving: ServingShape,
  roomBytes: number,
): Sharding | undefined {
  const { sharding: _none, ...whole } = shape;
  const { piece, training, models } = alsFitMemory(whole, serving);
  if (piece <= MEMORY_BYTES_MAX && training + models <= roomBytes) return undefined;
  const sharding = shardingOf(interactions, shape.factors);
  // The stages of a small training take more than dividing it would save.
  const saves = alsFitMemory({ ...whole, sharding }, serving).training < training;
  return saves || piece > MEMORY_BYTES_MAX ? sharding : undefined;
}
