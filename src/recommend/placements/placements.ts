import type { Config } from '../../config/config.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { Placement } from './placement.ts';

/** All placements by name. */
export class Placements {
  private readonly byName: ReadonlyMap<string, Placement>;

  constructor(placements: Config['placement']) {
    this.byName = new Map(
      Object.entries(placements).map(([name, settings]) => [name, new Placement(settings)]),
    );
  }

  /** @throws FurzeError PLACEMENT_NOT_FOUND, which names those that there are */
  named(name: string): Placement {
    const placement = this.byName.get(name);
    if (placement !== undefined) return placement;
    const known = [...this.byName.keys()].map((each) => JSON.stringify(each)).join(', ');
    throw new FurzeError(
      'PLACEMENT_NOT_FOUND',
      `There is no placement ${JSON.stringify(name)}; ${known === '' ? 'none is configured' : `there are ${known}`}.`,
    );
  }
}
