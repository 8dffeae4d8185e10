import type { Config } from '../config/config.ts';
import type { ExperimentOutcome } from '../domain/placement-schemas.ts';
import type { GivenFeedback, Outcome, SeenList } from './attribution.ts';
import { Counting, intervalOf } from './counted-user.ts';
import { expectedInWords, measureInWords, type Standing, sentenceOf } from './experiment-words.ts';
import { ArmSums } from './statistics/arm-sums.ts';
import {
  compareArms,
  isSplitWrong,
  RESPONDERS_MIN,
  type SequenceRules,
  USERS_MIN,
  usersToSee,
} from './statistics/compare-arms.ts';

type Settings = Config['experiment'][string];

/** A difference that people ask for, as a share of the mean. */
const ASKED_LIFT = 0.05;

/** An answer that takes longer counts as this, milliseconds: one that stands still says nothing of a variant. */
const TOOK_MS_MAX = 10_000;

/** Guardrails: measures that must not be worse with a variant. */
interface Guardrail {
  readonly kind: 'feedback' | 'latency' | 'failures';
  readonly type: string;
}

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
  private readonly counting: Counting;
  private readonly arms: readonly Arm[];
  private readonly guardrails: readonly Guardrail[];
  /** Users of the placement before the experiment, or who take no part: what is to be expected of it. */
  private readonly pilot = new ArmSums();
  private pilotFirstMs = Number.POSITIVE_INFINITY;

  constructor(name: string, settings: Settings, nowMs: number) {
    this.name = name;
    this.settings = settings;
    this.counting = new Counting(name, settings, nowMs);
    this.guardrails = [
      ...settings.guardrails.map((type) => ({ kind: 'feedback', type }) as const),
      { kind: 'latency', type: 'milliseconds a list' },
      { kind: 'failures', type: 'users with a list that failed' },
    ];
    this.arms = settings.variants.map(({ name: variant, share }) => ({
      ...{ name: variant, share, seen: 0, measure: new ArmSums() },
      guardrails: this.guardrails.map(() => new ArmSums()),
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
    const before = this.counting.before(lists);
    if (before?.isOver === true) {
      before.addTo(this.pilot, feedback, values);
      this.pilotFirstMs = Math.min(this.pilotFirstMs, before.firstMs);
    }
    const user = this.counting.take(lists);
    const arm = this.arms.find(({ name }) => name === user?.variant);
    if (user === undefined || arm === undefined) return;
    arm.seen++;
    if (!user.isOver) return;
    user.addTo(arm.measure, feedback, values);
    for (const [at, { kind, type }] of this.guardrails.entries()) {
      const sums = arm.guardrails[at]!;
      if (kind === 'feedback') {
        const ofType = feedback.filter((each) => each.type === type || each.kind === type);
        const isThere = ofType.some((each) => user.isIn(each));
        sums.add(Number(isThere), ofType.filter((each) => user.isPast(each)).length);
      } else if (kind === 'failures') sums.add(Number(user.shown.some(({ seen }) => seen.size === 0)), 0);
      else {
        const took = user.shown.flatMap(({ tookMs }) =>
          tookMs === undefined ? [] : Math.min(tookMs, TOOK_MS_MAX),
        );
        if (took.length > 0) sums.add(took.reduce((sum, ms) => sum + ms, 0) / took.length, 0);
      }
    }
  }

  get outcome(): ExperimentOutcome {
    const { settings, name, arms, counting, guardrails: all } = this;
    const [control, ...others] = arms as [Arm, ...Arm[]];
    const rules = { alpha: settings.alpha / others.length, planUsers: settings.plan_users };
    // Any of them may raise an alarm.
    const guardRules = { ...rules, alpha: rules.alpha / all.length };
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
      falls.map((of, at) => {
        const { kind: Kind, type: Type } = all[at]!;
        const Falls = (Kind === 'feedback' ? -1 : 1) * of.difference > of.halfWidth;
        return { Kind, Type, Variant: arm.name, Falls, ...intervalOf(of) };
      }),
    );
    const standing: Standing = {
      ...{ isSplitWrong: isWrong, controlName: control.name, controlMean, asked, rules },
      variants: compared.map(({ arm, of }) => ({ name: arm.name, of })),
      falls: guardrails.filter(({ Falls }) => Falls),
      usersADay: counting.usersADay,
    };
    const told = sentenceOf(standing);
    const measured = new Map(compared.map(({ arm, of }) => [arm, of]));
    return {
      ...{ Name: name, Placement: settings.placement, Measure: measureInWords(settings) },
      ...told,
      ...(told.State === 'too early' && { Sentence: `${told.Sentence}${this.outlook(rules)}` }),
      Variants: arms.map((arm) => {
        const { users: Users, responders: Responders, outcomeMean: Mean } = arm.measure;
        const of = measured.get(arm);
        const told = { Name: arm.name, Share: arm.share, Users, Seen: arm.seen, Responders, Mean };
        return { ...told, ...(of !== undefined && intervalOf(of)) };
      }),
      Guardrails: guardrails,
      Mixed: counting.mixed,
      ...(controlMean > 0 && Number.isFinite(asked) && { UsersForFivePercent: asked }),
    };
  }

  /** How many users a difference takes, by what users of the placement did before; `''` where too few did. */
  private outlook(rules: SequenceRules): string {
    const { pilot, counting, arms, pilotFirstMs } = this;
    if (pilot.users < USERS_MIN || pilot.responders < RESPONDERS_MIN) return '';
    const slope = pilot.pastSpread === 0 ? 0 : pilot.shared / pilot.pastSpread;
    const variance = pilot.residualVariance(slope);
    const [control = 1, ...others] = arms.map(({ share }) => share);
    const deviation = Math.sqrt(variance / control + variance / Math.min(...others));
    const users = usersToSee(pilot.outcomeMean * ASKED_LIFT, deviation, rules);
    const days = users / (counting.perDay(pilot.users, pilotFirstMs) * counting.settings.traffic);
    return ` ${expectedInWords(users, days)}`;
  }
}
