import type { Config } from '../../config/config.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { ExperimentSplit, editionOf } from './experiment-split.ts';
import { Placement } from './placement.ts';

/** A placement, and the experiment that varies it. */
interface Varied {
  readonly own: Placement;
  readonly split?: ExperimentSplit;
  readonly variants?: ReadonlyMap<string, Placement>;
  readonly edition?: string;
}

/** Of which experiment a list is. */
export interface VariantClaims {
  /** `''` for none. */
  readonly variant: string;
  readonly edition?: string;
}

/** All placements by name, with their variants. */
export class Placements {
  private readonly byName: ReadonlyMap<string, Varied>;

  constructor({ placement, experiment }: Pick<Config, 'placement' | 'experiment'>) {
    const experiments = Object.entries(experiment);
    this.byName = new Map(
      Object.entries(placement).map(([name, settings]) => {
        const own = new Placement(settings);
        const varying = experiments.find(([, each]) => each.placement === name);
        if (varying === undefined) return [name, { own }];
        const [experimentName, { traffic, variants }] = varying;
        const placements = variants.map(
          (variant) => [variant.name, new Placement({ ...settings, ...variant.override })] as const,
        );
        const split = new ExperimentSplit(experimentName, traffic, variants);
        const edition = editionOf(experimentName, varying[1]);
        return [name, { own, split, variants: new Map(placements), edition }];
      }),
    );
  }

  /** The rules that a user's lists go by. @throws FurzeError PLACEMENT_NOT_FOUND, which names those that there are */
  named(name: string, userId: string): Placement {
    const { own, split, variants } = this.find(name);
    return (split && variants?.get(split.variantOf(userId))) ?? own;
  }

  /** The variant of a user in the experiment on a placement. @throws FurzeError as `named` */
  claimsOf(name: string, userId: string): VariantClaims {
    const { split, edition } = this.find(name);
    const variant = split?.variantOf(userId) ?? '';
    return variant === '' || edition === undefined ? { variant } : { variant, edition };
  }

  private find(name: string): Varied {
    const found = this.byName.get(name);
    if (found !== undefined) return found;
    const known = [...this.byName.keys()].map((each) => JSON.stringify(each)).join(', ');
    throw new FurzeError(
      'PLACEMENT_NOT_FOUND',
      `There is no placement ${JSON.stringify(name)}; ${known === '' ? 'none is configured' : `there are ${known}`}.`,
    );
  }
}
