import { NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { History } from '../history/history.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import type { Matcher } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** A user's vector against the current model, undefined without one. */
export type VectorOf = (history: History) => Float32Array | undefined;

/** The items with the highest scores by matrix factorization, for the user as it is now. */
export class CollaborativeSource implements Source {
  private readonly generations: GenerationSlot;
  private readonly vectorOf: VectorOf;
  private readonly catalogue: Catalogue;

  constructor(generations: GenerationSlot, vectorOf: VectorOf, catalogue: Catalogue) {
    this.generations = generations;
    this.vectorOf = vectorOf;
    this.catalogue = catalogue;
  }

  rank({ history, k, accept, categories, among, allowed }: Ask): Ranked {
    const model = this.generations.current.parts.als;
    const vector = model && this.vectorOf(history);
    if (model === undefined || vector === undefined) return NOTHING;
    const members = among ?? this.catalogue.narrowest(categories);
    const bits = allowed ?? (members === undefined ? this.catalogue.visibleBits() : undefined);
    return model.topItems(vector, k, accept, { read: history.readRowsInEffect(), members, allowed: bits });
  }
}

export const collaborativeMatcher: Matcher = {
  lists({ inputs, settings, k, read, vector, closest, accept, allowed }) {
    const model = settings.collaborative ? inputs.generation?.parts.als : undefined;
    if (model === undefined || vector === undefined) return [];
    return [closest ?? model.topItems(vector, k, accept, { read, allowed }).rows];
  },
  proposes({ inputs, settings, vector }) {
    const model = settings.collaborative ? inputs.generation?.parts.als : undefined;
    if (model === undefined || vector === undefined) return () => false;
    return (row) => model.scoreItems(vector, [row])[0] !== 0;
  },
};
