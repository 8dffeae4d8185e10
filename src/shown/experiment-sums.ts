import type { Config } from '../config/config.ts';
import type { ExperimentOutcome } from '../domain/placement-schemas.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import { editionOf } from '../recommend/placements/experiment-split.ts';
import type { GivenFeedback, Outcome, SeenList } from './attribution.ts';
import { measureInWords, type Standing, sentenceOf } from './experiment-words.ts';
import { ArmSums } from './statistics/arm-sums.ts';
import { type Comparison, compareArms, isSplitWrong, usersToSee } from './statistics/compare-arms.ts';

type Settings = Config['experiment'][string];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Time before a user took part whose feedback tells what would come anyway, milliseconds. */
const PAST_MS = 28 * DAY_MS;
/** A difference that people ask for, as a share of the mean. */
const ASKED_LIFT = 0.05;

/** Sums of one variant: of the measure, and of each guardrail. */
interface Arm {
  readonly name: string;
  readonly share: number;
  seen: number;
  readonly measure: ArmSums;
  readonly guardrails: readonly ArmSums[];
}

/**
 * What an experiment has come to so far. A user counts once, when `horizon_hours` since the first list are over, so that what counts of a
 * user does not change any more: the intervals then hold however often they are looked at.
 */
export class ExperimentSums {
  private readonly name: string;
  private readonly settings: Settings;
  private readonly nowMs: number;
  private readonly startMs: number;
  private readonly edition: string;
  private readonly arms: readonly Arm[];
  private mixed = 0;
  private firstMs = Number.POSITIVE_INFINITY;

  constructor(name: string, settings: Settings, nowMs: number) {
    this.name = name;
    this.settings = settings;
    this.nowMs = nowMs;
    this.startMs = settings.start === '' ? Number.NEGATIVE_INFINITY : parseTimestamp(settings.start);
    this.edition = editionOf(name, settings);
    this.arms = settings.variants.map(({ name: variant, share }) => ({
      ...{ name: variant, share, seen: 0, measure: new ArmSums() },
      guardrails: settings.guardrails.map(() => new ArmSums()),
    }));
  }

  /**
   * Adds a user.
   * @param lists all that the user saw @param feedback all of the user @param values the Value of outcomes that have one
   */
  add(
    lists: readonly SeenList[],
    feedback: readonly GivenFeedback[],
    values: ReadonlyMap<Outcome, number>,
  ): void {
    const { placement, horizon_hours, guardrails } = this.settings;
    const all = lists.filter((list) => list.placement === placement && list.timeMs >= this.startMs);
    const shown = all.filter(({ edition }) => edition === this.edition);
    const arm = this.arms.find(({ name }) => name === shown[0]?.variant);
    if (arm === undefined) return;
    // As of the answer: what is told to be seen after a click would make the click a thing of the past.
    const firstMs = shown.reduce((first, { timeMs }) => Math.min(first, timeMs), Number.POSITIVE_INFINITY);
    const untilMs = firstMs + horizon_hours * HOUR_MS;
    const isOther = ({ variant, timeMs }: SeenList) =>
      variant !== '' && variant !== arm.name && timeMs >= firstMs && timeMs <= untilMs;
    if (all.some(isOther)) {
      this.mixed++;
      return;
    }
    this.firstMs = Math.min(this.firstMs, firstMs);
    arm.seen++;
    if (this.nowMs < untilMs) return;
    const isIn = ({ timeMs }: GivenFeedback) => timeMs <= untilMs;
    const isPast = ({ timeMs }: GivenFeedback) => timeMs < firstMs && timeMs >= firstMs - PAST_MS;
    const came = shown.flatMap(({ outcomes }) => outcomes).filter((each) => isIn(each) && this.decides(each));
    const past = feedback.filter((each) => isPast(each) && this.decides(each)).length;
    arm.measure.add(this.outcomeOf(came, values), past);
    for (const [at, type] of guardrails.entries()) {
      const ofType = feedback.filter((each) => each.type === type || each.kind === type);
      const isThere = ofType.some((each) => each.timeMs >= firstMs && isIn(each));
      arm.guardrails[at]!.add(Number(isThere), ofType.filter(isPast).length);
    }
  }

  get outcome(): ExperimentOutcome {
    const { settings, name, arms, mixed } = this;
    const [control, ...others] = arms as [Arm, ...Arm[]];
    const rules = { alpha: settings.alpha / others.length, planUsers: settings.plan_users };
    // Any of them may raise an alarm.
    const guardRules = { ...rules, alpha: rules.alpha / Math.max(1, settings.guardrails.length) };
    const compared = others.map((arm) => ({
      arm,
      of: compareArms(control.measure, arm.measure, rules),
      falls: arm.guardrails.map((sums, at) => compareArms(control.guardrails[at]!, sums, guardRules)),
    }));
    const isWrong = isSplitWrong(
      arms.map(({ seen }) => seen),
      arms.map(({ share }) => share),
    );
    const controlMean = control.measure.outcomeMean;
    const deviation = Math.max(...compared.map(({ of }) => of.deviation));
    const asked = usersToSee(controlMean * ASKED_LIFT, deviation, rules);
    const guardrails = compared.flatMap(({ arm, falls }) =>
      falls.map((of, at) => ({
        ...{ Type: settings.guardrails[at]!, Variant: arm.name, Falls: of.difference + of.halfWidth < 0 },
        ...intervalOf(of),
      })),
    );
    const standing: Standing = {
      ...{ isSplitWrong: isWrong, controlName: control.name, controlMean, asked, rules },
      variants: compared.map(({ arm, of }) => ({ name: arm.name, of })),
      falls: guardrails
        .filter(({ Falls }) => Falls)
        .map(({ Type, Variant }) => ({ type: Type, variant: Variant })),
      usersADay: this.usersADay,
    };
    const measured = new Map(compared.map(({ arm, of }) => [arm, of]));
    return {
      ...{ Name: name, Placement: settings.placement, Measure: measureInWords(settings) },
      ...sentenceOf(standing),
      Variants: arms.map((arm) => {
        const { users: Users, responders: Responders, outcomeMean: Mean } = arm.measure;
        const of = measured.get(arm);
        const told = { Name: arm.name, Share: arm.share, Users, Seen: arm.seen, Responders, Mean };
        return { ...told, ...(of !== undefined && intervalOf(of)) };
      }),
      Guardrails: guardrails,
      Mixed: mixed,
      ...(controlMean > 0 && Number.isFinite(asked) && { UsersForFivePercent: asked }),
    };
  }

  private get usersADay(): number {
    const seen = this.arms.reduce((sum, arm) => sum + arm.seen, 0);
    return seen / Math.max(1, (this.nowMs - this.firstMs) / DAY_MS);
  }

  private decides({ type, kind }: GivenFeedback): boolean {
    const { measure } = this.settings;
    return measure === '' || measure === kind || measure === type;
  }

  private outcomeOf(came: readonly Outcome[], values: ReadonlyMap<Outcome, number>): number {
    switch (this.settings.counts) {
      case 'users':
        return Number(came.length > 0);
      case 'feedback':
        return came.length;
      case 'value':
        return came.reduce((sum, each) => sum + (values.get(each) ?? 0), 0);
    }
  }
}

function intervalOf({ difference, halfWidth }: Comparison): {
  Difference: number;
  Low?: number;
  High?: number;
} {
  if (!Number.isFinite(halfWidth)) return { Difference: difference };
  return { Difference: difference, Low: difference - halfWidth, High: difference + halfWidth };
}
