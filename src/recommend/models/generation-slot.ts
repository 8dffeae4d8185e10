import type { Ranked } from '../../memory/ranked-rows.ts';
import type { AskedUser } from '../../model/neighbors/similar-users.ts';
import type { PartOpening } from '../../model/part/learned-part.ts';
import { type OpenedParts, openParts, type PlacedParts } from '../../model/registry.ts';
import { type Discovery, type Ranking, UNTAUGHT, withDiscovery } from './feature-names.ts';

/** Everything that one fit has learned. */
interface Learned<Parts> {
  /** Counts up. */
  readonly number: number;
  /** Weights of the features of `rankingFeatures`, which together tell the probability of positive feedback. */
  readonly ranking: Ranking | undefined;
  readonly parts: Parts;
}

/** A generation as one thread asks it. */
export type Generation = Learned<OpenedParts>;

/**
 * Opens a generation in shared memory as this thread's own.
 * @param discovery see `withDiscovery`
 */
export function openGeneration(
  { number, ranking, parts }: Learned<PlacedParts>,
  opening: PartOpening,
  discovery: Discovery = 0,
): Generation {
  return { number, ranking: withDiscovery(ranking, discovery), parts: openParts(parts, opening) };
}

/** The one place where the current generation stands; swapped by a single assignment. Before the first fit it has no models. */
export class GenerationSlot {
  current: Generation = { number: 0, ranking: UNTAUGHT, parts: {} };
  get hasModel(): boolean {
    return this.current.number > 0;
  }

  /** Told of models that serve from now on. */
  onServed: (parts: OpenedParts) => void = () => {};
  /** Finds the `k` users most like one in a thread; answers undefined where users were not laid out. */
  similarUsers:
    | ((asked: AskedUser, k: number, signal?: AbortSignal) => Promise<Ranked | undefined>)
    | undefined;
}
