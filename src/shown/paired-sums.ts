import type { Config } from '../config/config.ts';
import type { ExperimentOutcome } from '../domain/placement-schemas.ts';
import { unpackChosen, unpackRanks } from '../recommend/placements/list-plan.ts';
import type { GivenFeedback, Outcome, SeenList } from './attribution.ts';
import { Counting, intervalOf } from './counted-user.ts';
import { measureInWords, type Standing, sentenceOf } from './experiment-words.ts';
import { ArmSums } from './statistics/arm-sums.ts';
import { compareWithin, RESPONDERS_MIN, ratioOf, usersToSee } from './statistics/compare-arms.ts';

type Settings = Config['experiment'][string];

/** Places whose rates are told apart; those beyond are taken together. */
const PLACES_MAX = 100;
/** Effective entries below which an estimate is refused, and the most of its places that may never be shown. */
const ENTRIES_MIN = 1000;
const NEVER_MAX = 0.05;
/** A chance below this is of an entry that exploration brought. */
const EXPLORED_CHANCE = 0.5;

/** Parts of an entry that are the rankings'. */
interface Told {
  /** Part of the second less that of the first. */
  readonly difference: number;
  /** Part of it that is the first's. */
  readonly first: number;
  /** Part of it that is the second's: for `estimate` 1 over the chance with which it was shown, 0 for what is not the second's. */
  readonly second: number;
  /** True where the other ranking has an item here that is never shown. */
  readonly isNever: boolean;
}

/**
 * Results of two rankings on the same users. By lists of both (`interleave`) each is credited by the places that it gave an entry. By lists
 * of the first with exploration (`estimate`) an entry counts for the second where it stood as the second has it, by the chance of that. A user
 * counts once, by the mean of the lists. The rate of the place is taken out of each entry, so that it matters to nobody who had the
 * better places; for `estimate` this is the doubly robust estimate (Dudik, Langford and Li 2011) with a model of the place alone.
 */
export class PairedSums {
  private readonly name: string;
  private readonly counting: Counting;
  private readonly isEstimate: boolean;
  private readonly names: readonly [string, string];
  /** Of the second less the first, beside what the places make of it. */
  private readonly differences = new ArmSums();
  /** Results of the first, and of the second beside the sum of its weights; a user's mean of lists each. */
  private readonly first = new ArmSums();
  private readonly second = new ArmSums();
  private readonly shownAt = new Float64Array(PLACES_MAX);
  private readonly cameAt = new Float64Array(PLACES_MAX);
  /** Sums of the users' differences by place. */
  private readonly differenceAt = new Float64Array(PLACES_MAX);
  private seen = 0;
  private entries = 0;
  private never = 0;
  private weights = 0;
  private weightSquares = 0;
  private results = 0;

  constructor(name: string, settings: Settings, nowMs: number) {
    this.name = name;
    this.counting = new Counting(name, settings, nowMs);
    this.isEstimate = settings.method === 'estimate';
    const [first, second] = settings.variants;
    this.names = [first?.name ?? '', second?.name ?? ''];
  }

  /** Adds a user, as `ExperimentSums.add` does. */
  add(
    lists: readonly SeenList[],
    _feedback: readonly GivenFeedback[],
    values: ReadonlyMap<Outcome, number>,
  ): void {
    const user = this.counting.take(lists);
    if (user === undefined) return;
    this.seen++;
    if (!user.isOver) return;
    const sums = { difference: 0, byPlace: 0, first: 0, second: 0, weight: 0, entries: 0 };
    const shown: [place: number, came: number][] = [];
    // Lists of before exploration was ready tell nothing.
    const tellers = user.shown.flatMap((list) => {
      const toldAt = tellerOf(list.plan ?? '');
      return toldAt === undefined ? [] : [{ list, toldAt }];
    });
    const listCount = tellers.length;
    if (listCount === 0) return;
    for (const { list, toldAt } of tellers) {
      const outcomes = user.cameOf([list]);
      for (const [row, { place }] of list.seen) {
        const told = toldAt(place);
        if (told === undefined) continue;
        const ofRow = outcomes.filter(({ itemRow }) => itemRow === row);
        const came = user.worth(ofRow, values);
        const at = Math.min(PLACES_MAX, place) - 1;
        shown.push([at, came]);
        sums.difference += told.difference * came;
        sums.byPlace += told.difference * this.rateAt(at);
        this.differenceAt[at]! += told.difference / listCount;
        sums.first += told.first * came;
        sums.second += told.second * came;
        sums.weight += told.second;
        sums.entries++;
        this.noteWeight(told, came);
      }
    }
    this.differences.add(sums.difference / listCount, sums.byPlace / listCount);
    this.first.add(sums.first / listCount, 0);
    this.second.add(sums.second / listCount, this.isEstimate ? sums.weight / Math.max(1, sums.entries) : 1);
    for (const [at, came] of shown) {
      this.shownAt[at]! += 1;
      this.cameAt[at]! += came;
    }
  }

  get outcome(): ExperimentOutcome {
    const { counting, differences, first, second } = this;
    const { settings } = counting;
    const rules = { alpha: settings.alpha, planUsers: settings.plan_users };
    const refusal = this.isEstimate ? this.refusal : undefined;
    const byPlace = this.differenceAt.reduce((sum, difference, at) => sum + difference * this.rateAt(at), 0);
    const isEnough = refusal === undefined && this.results >= RESPONDERS_MIN;
    const of = compareWithin(differences, byPlace / Math.max(1, differences.users), rules, isEnough);
    const controlMean = first.outcomeMean;
    const asked = usersToSee(0.05 * controlMean, of.deviation, rules);
    const [control, variant] = this.names;
    const standing: Standing = {
      ...{ isSplitWrong: false, controlName: control, controlMean, asked, rules, falls: [] },
      ...{ variants: [{ name: variant, of }], usersADay: counting.usersADay },
    };
    const sentence = sentenceOf(standing);
    const counts = { Share: 1, Users: differences.users, Seen: this.seen };
    const estimated = this.isEstimate ? controlMean + of.difference : second.outcomeMean;
    return {
      ...{ Name: this.name, Placement: settings.placement, Measure: measureInWords(settings) },
      ...sentence,
      ...(refusal !== undefined && differences.users > 0 && { Sentence: refusal }),
      Variants: [
        { Name: control, ...counts, Responders: first.responders, Mean: controlMean },
        { Name: variant, ...counts, Responders: second.responders, Mean: estimated, ...intervalOf(of) },
      ],
      Guardrails: [],
      Mixed: counting.mixed,
      ...(controlMean > 0 && Number.isFinite(asked) && { UsersForFivePercent: asked }),
      ...(this.isEstimate && { Estimate: this.estimateOf(refusal === undefined, rules) }),
    };
  }

  /** Entries of one weight that would tell as much of the second ranking (Kish 1965). */
  private get effective(): number {
    return this.weightSquares === 0 ? 0 : this.weights ** 2 / this.weightSquares;
  }

  private get neverShare(): number {
    return this.never / Math.max(1, this.entries);
  }

  /** Reason to say nothing of the second ranking; undefined for none. */
  private get refusal(): string | undefined {
    const name = this.names[1];
    if (this.neverShare > NEVER_MAX)
      return `Nothing can be said of ${name}: at ${Math.round(100 * this.neverShare)} % of its places stand items that are never shown there.`;
    if (this.effective >= ENTRIES_MIN && this.results >= RESPONDERS_MIN) return undefined;
    return `Too early to tell of ${name}: what was shown tells as much of it as ${Math.floor(this.effective)} entries of its own, ${this.results} of which exploration brought and had a result; ${ENTRIES_MIN} and ${RESPONDERS_MIN} are needed.`;
  }

  private estimateOf(isSaid: boolean, rules: { alpha: number; planUsers: number }) {
    const told = { EffectiveEntries: Math.floor(this.effective), NeverShown: this.neverShare };
    if (!isSaid) return told;
    const { ratio, halfWidth } = ratioOf(this.second, rules);
    return { ...told, Normalized: { Mean: ratio, Low: ratio - halfWidth, High: ratio + halfWidth } };
  }

  private noteWeight({ second: weight, difference, isNever }: Told, came: number): void {
    this.entries++;
    this.weights += weight;
    this.weightSquares += weight ** 2;
    if (isNever) this.never++;
    const tells = this.isEstimate ? weight > 1 / EXPLORED_CHANCE : difference !== 0;
    if (tells && came !== 0) this.results++;
  }

  /** Mean result of an entry at a place so far. */
  private rateAt(at: number): number {
    return this.cameAt[at]! / Math.max(1, this.shownAt[at]!);
  }
}

/** Tells of the entry at a place, from 1; undefined for a plan that tells nothing. */
function tellerOf(plan: string): ((place: number) => Told | undefined) | undefined {
  const ranks = unpackRanks(plan);
  if (ranks !== undefined)
    return (place) => {
      const entry = ranks[place - 1];
      if (entry === undefined) return undefined;
      const [first, second] = [worthOf(entry.first), worthOf(entry.second)];
      return { difference: second - first, first, second, isNever: false };
    };
  const chosen = unpackChosen(plan);
  if (chosen === undefined) return undefined;
  return (place) => {
    const entry = chosen[place - 1];
    if (entry === undefined) return undefined;
    const weight = entry.isOther ? 1 / entry.chance : 0;
    // Of what is never shown nothing is known: it is taken to be as good as what stands there.
    return { difference: entry.isNever ? 0 : weight - 1, first: 1, second: weight, isNever: entry.isNever };
  };
}

/** Part of its credit that an entry brings a ranking that has it at a place, from 1; 0 for one that has not. */
function worthOf(place: number): number {
  return place === 0 ? 0 : 1 / Math.log2(place + 1);
}
