import type { Config, Rules as RulesByName } from '../../config/config.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { ExperimentSplit, editionOf } from './experiment-split.ts';
import { Placement } from './placement.ts';

type Experiment = Config['experiment'][string];

/** A placement, and the experiment that varies it. */
interface Varied {
  readonly own: Placement;
  readonly experiment?: {
    readonly method: Experiment['method'];
    readonly split: ExperimentSplit;
    readonly variants: ReadonlyMap<string, Placement>;
    readonly edition: string;
  };
}

/** The rules of a user's list. */
export interface Rules {
  readonly placement: Placement;
  /** Another ranking beside it, of which the list has entries; undefined for none. */
  readonly other?: Placement | undefined;
  /** True where the list has as much of either. */
  readonly isInterleaved?: boolean;
  /** Variant of an experiment, `''` for none, and its edition. */
  readonly claims: { readonly variant: string; readonly edition?: string };
}

/** The part of a question that names a placement, or has rules of its own. */
interface Asked {
  readonly placement?: string | undefined;
  readonly draft?: Config['placement'][string] | undefined;
}

/** All placements by name, with their variants. */
export class Placements {
  private byName: ReadonlyMap<string, Varied> = new Map();

  constructor(rules: RulesByName) {
    this.use(rules);
  }

  /** Answers by these rules from now on. */
  use({ placement, experiment }: RulesByName): void {
    const experiments = Object.entries(experiment);
    this.byName = new Map(
      Object.entries(placement).map(([name, settings]) => {
        const own = new Placement(settings);
        const varying = experiments.find(([, each]) => each.placement === name);
        if (varying === undefined) return [name, { own }];
        const [experimentName, { traffic, variants, method }] = varying;
        const placements = variants.map(
          (variant) => [variant.name, new Placement({ ...settings, ...variant.override })] as const,
        );
        const split = new ExperimentSplit(experimentName, traffic, variants);
        const edition = editionOf(experimentName, varying[1]);
        return [name, { own, experiment: { method, split, variants: new Map(placements), edition } }];
      }),
    );
  }

  /** Names of those of which the rules, or those of a variant, are such. */
  namesWith(isMeant: (placement: Placement) => boolean): string[] {
    return Array.from(this.byName).flatMap(([name, { own, experiment }]) =>
      [own, ...(experiment?.variants.values() ?? [])].some(isMeant) ? name : [],
    );
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** The rules of a question; undefined for none. @throws FurzeError PLACEMENT_NOT_FOUND */
  asked({ placement, draft }: Asked, userId: string): Rules | undefined {
    if (draft !== undefined) return { placement: new Placement(draft), claims: { variant: '' } };
    return placement === undefined ? undefined : this.of(placement, userId);
  }

  /** The rules of lists that are of no user. @throws FurzeError PLACEMENT_NOT_FOUND */
  own(name: string): Placement {
    return this.find(name).own;
  }

  /** The rules that a user's lists go by. @throws FurzeError PLACEMENT_NOT_FOUND, which names those that there are */
  of(name: string, userId: string): Rules {
    const { own, experiment } = this.find(name);
    const variant = experiment?.split.variantOf(userId) ?? '';
    if (experiment === undefined || variant === '') return { placement: own, claims: { variant: '' } };
    const { method, variants, edition } = experiment;
    if (method === 'split') return { placement: variants.get(variant) ?? own, claims: { variant, edition } };
    const [first = '', second = ''] = variants.keys();
    const pair = { placement: variants.get(first) ?? own, other: variants.get(second) };
    return method === 'estimate'
      ? { ...pair, claims: { variant: first, edition } }
      : { ...pair, isInterleaved: true, claims: { variant: `${first}+${second}`, edition } };
  }

  private find(name: string): Varied {
    const found = this.byName.get(name);
    if (found !== undefined) return found;
    const known = [...this.byName.keys()].map((each) => JSON.stringify(each)).join(', ');
    throw new FurzeError(
      'PLACEMENT_NOT_FOUND',
      `There is no placement ${JSON.stringify(name)}; ${known === '' ? 'there is none at all' : `there are ${known}`}.`,
    );
  }
}
