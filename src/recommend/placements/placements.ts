import type { Config, Rules as RulesByName } from '../../config/config.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { ExperimentSplit, editionOf } from './experiment-split.ts';
import { Placement } from './placement.ts';

type Experiment = Config['experiment'][string];

/** A placement, and the experiment that varies it. */
interface Varied {
  readonly own: Placement;
  /** Of whoever takes no part in an experiment. */
  readonly rules: Rules;
  readonly experiment?: {
    readonly split: ExperimentSplit;
    readonly variants: ReadonlyMap<string, Placement>;
    readonly rulesOf: (variant: string) => Rules;
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
  /** Made once of a draft that is shown to several users. */
  private readonly drafts = new WeakMap<object, Placement>();
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
        const rules: Rules = { placement: own, claims: { variant: '' } };
        if (varying === undefined) return [name, { own, rules }];
        const [experimentName, experiment] = varying;
        const { traffic, variants } = experiment;
        const placements = variants.map(
          (variant) => [variant.name, new Placement({ ...settings, ...variant.override })] as const,
        );
        const split = new ExperimentSplit(experimentName, traffic, variants);
        const rulesOf = rulesByVariant(own, experiment, placements, editionOf(experimentName, experiment));
        return [name, { own, rules, experiment: { split, variants: new Map(placements), rulesOf } }];
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
    if (draft !== undefined) {
      const placement = this.drafts.get(draft) ?? new Placement(draft);
      this.drafts.set(draft, placement);
      return { placement, claims: { variant: '' } };
    }
    return placement === undefined ? undefined : this.of(placement, userId);
  }

  /** The rules of lists that are of no user. @throws FurzeError PLACEMENT_NOT_FOUND */
  own(name: string): Placement {
    return this.find(name).own;
  }

  /** The rules that a user's lists go by. @throws FurzeError PLACEMENT_NOT_FOUND, which names those that there are */
  of(name: string, userId: string): Rules {
    const { rules, experiment } = this.find(name);
    const variant = experiment?.split.variantOf(userId) ?? '';
    return experiment === undefined || variant === '' ? rules : experiment.rulesOf(variant);
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

/** The rules that each variant of an experiment stands for: its own, or those of a list of the first two. */
function rulesByVariant(
  own: Placement,
  { method }: Experiment,
  placements: readonly (readonly [string, Placement])[],
  edition: string,
): (variant: string) => Rules {
  if (method === 'split') {
    const all = new Map(
      placements.map(([variant, placement]) => [variant, { placement, claims: { variant, edition } }]),
    );
    return (variant) => all.get(variant)!;
  }
  const [[first, placement] = ['', own] as const, [second, other] = ['', undefined] as const] = placements;
  const rules =
    method === 'estimate'
      ? { placement, other, claims: { variant: first, edition } }
      : { placement, other, isInterleaved: true, claims: { variant: `${first}+${second}`, edition } };
  return () => rules;
}
