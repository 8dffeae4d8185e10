import type { Catalogue } from '../catalogue.ts';
import type { ListMaker } from '../list-maker.ts';
import type { Ranked } from '../ranked.ts';
import type { GenerationSlot } from '../serving-model.ts';
import { type Ask, NOTHING, type Source } from './source.ts';

/** The items with the highest scores by matrix factorization, for the user as it is now. */
export class CollaborativeSource implements Source {
  private readonly generations: GenerationSlot;
  private readonly maker: Pick<ListMaker, 'vectorOf'>;
  private readonly catalogue: Catalogue;

  constructor(generations: GenerationSlot, maker: Pick<ListMaker, 'vectorOf'>, catalogue: Catalogue) {
    this.generations = generations;
    this.maker = maker;
    this.catalogue = catalogue;
  }

  rank({ history, k, accept, categories }: Ask): Ranked {
    const model = this.generations.current?.collaborative;
    const vector = model && this.maker.vectorOf(history);
    if (model === undefined || vector === undefined) return NOTHING;
    const members = this.catalogue.narrowest(categories);
    return model.topItems(
      vector,
      k,
      accept,
      members === undefined ? history.readRowsInEffect() : [],
      members,
    );
  }
}
