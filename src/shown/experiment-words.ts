import type { Config } from '../config/config.ts';
import { groupDigits } from '../domain/group-digits.ts';
import type { ExperimentOutcome } from '../domain/placement-schemas.ts';
import {
  type Comparison,
  RESPONDERS_MIN,
  type SequenceRules,
  USERS_MIN,
  usersToSee,
} from './statistics/compare-arms.ts';

/** How an experiment stands, to be told. */
export interface Standing {
  readonly isSplitWrong: boolean;
  readonly controlName: string;
  readonly controlMean: number;
  readonly variants: readonly { readonly name: string; readonly of: Comparison }[];
  /** Guardrails that are certainly worse. */
  readonly falls: ExperimentOutcome['Guardrails'];
  /** Users with whom a difference of 5 % would be certain. */
  readonly asked: number;
  readonly usersADay: number;
  readonly rules: SequenceRules;
}

/** The measure of an experiment in words. */
export function measureInWords({
  measure,
  counts,
  method,
}: Pick<Config['experiment'][string], 'measure' | 'counts' | 'method'>): string {
  const what = measure === '' ? 'feedback' : measure;
  if (method !== 'split') {
    const of = method === 'interleave' ? ' of what one of the two chose' : '';
    const entries =
      counts === 'users' ? `entries with ${what}` : counts === 'value' ? `value of ${what}` : what;
    return `${entries}${of}, a list`;
  }
  switch (counts) {
    case 'users':
      return `share of users with ${what}`;
    case 'feedback':
      return `${what} a user`;
    case 'value':
      return `value of ${what} a user`;
  }
}

/** How it stands in a sentence or two, and in a word. */
export function sentenceOf(standing: Standing): Pick<ExperimentOutcome, 'Sentence' | 'State' | 'Winner'> {
  const { variants, controlName, falls } = standing;
  if (standing.isSplitWrong)
    return {
      State: 'split wrong',
      Sentence:
        'No comparison holds: users are split otherwise than they are to be. Look for what serves or tells of one variant less than of another.',
    };
  if (variants.every(({ of }) => !Number.isFinite(of.halfWidth)))
    return {
      State: 'too early',
      Sentence: `Too early to tell: each variant needs ${USERS_MIN} users whose time is over, ${RESPONDERS_MIN} of them with a result.`,
    };
  const better = variants.filter(({ of }) => of.difference > of.halfWidth);
  const worse = variants.filter(({ of }) => of.difference < -of.halfWidth);
  const best = better.toSorted((a, b) => b.of.difference - a.of.difference)[0];
  const tail = falls.map((fall) => ` But with ${fall.Variant} ${worseInWords(fall)}.`).join('');
  const told = (found: typeof variants, word: string) =>
    found
      .map(({ name, of }) => `${name} does ${word} than ${controlName} by ${lift(of, standing)}`)
      .join('; ');
  if (best !== undefined)
    return { State: 'decided', Winner: best.name, Sentence: `${told(better, 'better')}.${tail}` };
  const isDecided = worse.length === variants.length;
  if (isDecided)
    return { State: 'decided', Winner: controlName, Sentence: `${told(worse, 'worse')}.${tail}` };
  const open = variants.filter((each) => !worse.includes(each));
  const between = open.map(({ name, of }) => `${name} ${range(of, standing)}`).join(', ');
  return {
    State: 'open',
    Sentence: `No winner yet. Beside ${controlName}: ${between}. ${outlook(standing)}${tail}`,
  };
}

/** The measures in which a variant is worse than the first. */
function worseInWords({ Kind, Type, Difference, Low = 0, High = 0 }: Standing['falls'][number]): string {
  const by = (scale: number) =>
    `${figure(scale * Difference)} (${figure(scale * Low)} to ${figure(scale * High)})`;
  if (Kind === 'latency') return `a list takes ${by(1)} ms longer`;
  if (Kind === 'failures') return `lists fail for ${by(100)} of 100 users more`;
  return `fewer users have ${Type}`;
}

/** `3.1 % (1.2 to 5.0)`. */
function lift({ difference, halfWidth }: Comparison, { controlMean }: Standing): string {
  const [low, high] = [Math.abs(difference) - halfWidth, Math.abs(difference) + halfWidth];
  if (controlMean <= 0) return `${figure(Math.abs(difference))} (${figure(low)} to ${figure(high)})`;
  const share = (value: number) => figure((100 * value) / controlMean);
  return `${share(Math.abs(difference))} % (${share(low)} to ${share(high)})`;
}

/** `-2.0 to +4.1 %`. */
function range({ difference, halfWidth }: Comparison, { controlMean }: Standing): string {
  if (!Number.isFinite(halfWidth)) return 'has too few users';
  const scale = controlMean > 0 ? 100 / controlMean : 1;
  const signed = (value: number) => `${value > 0 ? '+' : ''}${figure(value * scale)}`;
  return `${signed(difference - halfWidth)} to ${signed(difference + halfWidth)}${controlMean > 0 ? ' %' : ''}`;
}

/** How long a decision takes at today's traffic. */
function outlook({ variants, asked, usersADay, rules }: Standing): string {
  const needed = variants
    .filter(({ of }) => Number.isFinite(of.halfWidth))
    .map(({ of }) => ({ of, users: usersToSee(of.difference, of.deviation, rules) }))
    .sort((a, b) => a.users - b.users)[0];
  const days = needed === undefined ? Infinity : Math.ceil((needed.users - needed.of.users) / usersADay);
  const asFound =
    days >= 1 && days <= 365
      ? `If it stays as it is, another ${days} ${days === 1 ? 'day' : 'days'} decide. `
      : '';
  return `${asFound}A difference of 5 % takes about ${groupDigits(asked)} users.`;
}

/** Users and days that a difference takes, by what people did before the experiment. */
export function expectedInWords(users: number, days: number): string {
  const time = days > 365 ? 'more than a year' : `${Math.max(1, Math.ceil(days))} days`;
  return `By what users of this placement did before, a difference of 5 % takes about ${groupDigits(users)} users, ${time} of its traffic.`;
}

/** Two significant digits, or all before the point. */
function figure(value: number): string {
  return String(Math.abs(value) >= 10 ? Math.round(value) : Number(value.toPrecision(2)));
}
