/**
 * A search of settings by successive halving (Jamieson and Talwalkar 2016): all candidates are trained a little, the
 * best third of them three times as long, and so on, until one has been trained to the end.
 *
 * Candidates are compared on one half of the judged users; whether the winner is really better than the present
 * settings is asked of the other half, because the best of many looks better than it is on those who chose it.
 */

/** Of the candidates of a round, one in so many goes on, to so many times the epochs. */
const REDUCTION = 3;
/** Standard errors of a one-sided 95 %. */
const ONE_SIDED = 1.645;
/** Fewer users than this cannot show that something is better. */
const COMPARED_USERS_MIN = 30;

/** Quality that a training reached. */
export interface Measured {
  /** NDCG of each judged user; the same users in the same order for all settings. */
  readonly values: ArrayLike<number>;
  /** Epochs done, fewer than allowed when it ended by itself. */
  readonly epochs: number;
  /** The epoch that the values are of. */
  readonly bestEpoch: number;
}

export interface Trial<Settings> {
  readonly settings: Settings;
  /** Round of the halving, from 1; 0 for the present settings. */
  readonly round: number;
  readonly epochs: number;
  readonly bestEpoch: number;
  /** Mean NDCG over all judged users; 0 when the training failed. */
  readonly quality: number;
  readonly seconds: number;
}

/** One round: so many candidates, each trained for at most so many epochs. */
export interface Round {
  readonly candidates: number;
  readonly epochs: number;
}

/** The rounds for a number of candidates; the last trains for `epochsMax`. */
export function halvingRounds(candidates: number, epochsMax: number): Round[] {
  const rounds: Round[] = [];
  for (let left = candidates; left >= 1; left = Math.floor(left / REDUCTION)) {
    rounds.push({ candidates: left, epochs: epochsMax });
  }
  return rounds.map((round, at) => ({
    ...round,
    epochs: Math.max(1, Math.round(epochsMax / REDUCTION ** (rounds.length - 1 - at))),
  }));
}

export interface SearchProgress {
  /** Trainings done and planned; some of those planned turn out not to be needed. */
  readonly done: number;
  readonly total: number;
  /** Seconds that the rest takes if epochs go on taking as long; trials that end early make it less. */
  readonly etaSeconds: number;
}

export interface SearchOptions<Settings> {
  readonly present: Settings;
  readonly candidates: readonly Settings[];
  /** Epochs of the last round. */
  readonly epochsMax: number;
  /** Epochs that the present settings are trained for. */
  readonly presentEpochs: number;
  /** Trains with settings for at most so many epochs; undefined when it diverged or was ended. */
  readonly measure: (settings: Settings, epochs: number) => Promise<Measured | undefined>;
  /** Asked before each training; true ends the search with what it has. */
  readonly isOver: () => boolean;
  /** Milliseconds, from any start. */
  readonly nowMs: () => number;
  readonly tell: (trial: Trial<Settings>, progress: SearchProgress) => void;
}

export interface SearchOutcome<Settings> {
  readonly trials: readonly Trial<Settings>[];
  /** The best candidate; undefined when none could be trained. */
  readonly winner?: Trial<Settings>;
  /** True when the winner is better than the present settings by more than chance. */
  readonly isBetter: boolean;
}

interface Entry<Settings> {
  readonly settings: Settings;
  readonly measured: Measured;
  readonly trial: Trial<Settings>;
}

/** Runs a search; it ends early, with the best so far, when `isOver` says so. */
export async function successiveHalving<Settings>(
  options: SearchOptions<Settings>,
): Promise<SearchOutcome<Settings>> {
  const { present, candidates, epochsMax, presentEpochs, isOver } = options;
  const rounds = halvingRounds(candidates.length, epochsMax);
  const run = new Trainings(options, [{ candidates: 1, epochs: presentEpochs }, ...rounds]);
  const base = isOver() ? undefined : await run.train(present, presentEpochs, 0);
  let left: readonly Candidate<Settings>[] = candidates.map((settings) => ({ settings }));
  let best: Entry<Settings> | undefined;
  for (let at = 0; at < rounds.length && !isOver(); at++) {
    const { candidates: count, epochs } = rounds[at]!;
    const entries: Entry<Settings>[] = [];
    for (const { settings, entry } of left.slice(0, count)) {
      if (isOver()) break;
      // What ended by itself would end there again.
      const isDone = entry !== undefined && entry.measured.epochs < rounds[at - 1]!.epochs;
      const next = isDone ? entry : await run.train(settings, epochs, at + 1);
      if (next !== undefined) entries.push(next);
    }
    entries.sort((a, b) => choice(b.measured) - choice(a.measured));
    // A round that was cut short may have missed the one that led before it.
    const leader = entries[0];
    if (leader !== undefined && (!isOver() || best === undefined || isAhead(leader, best))) best = leader;
    left = entries.map((entry) => ({ settings: entry.settings, entry }));
  }
  const isBetter = base !== undefined && best !== undefined && beats(best.measured, base.measured);
  return { trials: run.trials, isBetter, ...(best !== undefined && { winner: best.trial }) };
}

interface Candidate<Settings> {
  readonly settings: Settings;
  readonly entry?: Entry<Settings>;
}

function isAhead<Settings>(a: Entry<Settings>, b: Entry<Settings>): boolean {
  return choice(a.measured) > choice(b.measured);
}

/** Runs the trainings of a search and keeps count. */
class Trainings<Settings> {
  readonly trials: Trial<Settings>[] = [];
  private readonly options: SearchOptions<Settings>;
  private readonly total: number;
  private epochsLeft: number;
  private epochsDone = 0;
  private seconds = 0;

  constructor(options: SearchOptions<Settings>, rounds: readonly Round[]) {
    this.options = options;
    this.total = rounds.reduce((sum, { candidates }) => sum + candidates, 0);
    this.epochsLeft = rounds.reduce((sum, { candidates, epochs }) => sum + candidates * epochs, 0);
  }

  async train(settings: Settings, epochs: number, round: number): Promise<Entry<Settings> | undefined> {
    const { measure, nowMs, tell } = this.options;
    const startedMs = nowMs();
    const measured = await measure(settings, epochs);
    const seconds = (nowMs() - startedMs) / 1000;
    const trial: Trial<Settings> = {
      settings,
      round,
      epochs: measured?.epochs ?? 0,
      bestEpoch: measured?.bestEpoch ?? 0,
      quality: measured === undefined ? 0 : mean(measured.values, 1),
      seconds,
    };
    this.trials.push(trial);
    this.epochsLeft -= epochs;
    this.epochsDone += measured?.epochs ?? epochs;
    this.seconds += seconds;
    const etaSeconds = (this.seconds / Math.max(1, this.epochsDone)) * Math.max(0, this.epochsLeft);
    tell(trial, { done: this.trials.length, total: this.total, etaSeconds });
    return measured && { settings, measured, trial };
  }
}

/** The measure that chooses candidates: the mean over every second user. */
function choice({ values }: Measured): number {
  return mean(values, 2);
}

function mean(values: ArrayLike<number>, step: number): number {
  let sum = 0;
  let count = 0;
  for (let at = 0; at < values.length; at += step) {
    sum += values[at]!;
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

/** True where the users that did not choose the challenger show it better by more than chance: a paired one-sided test. */
export function beats(challenger: Measured, present: Measured): boolean {
  const differences: number[] = [];
  for (let at = 1; at < challenger.values.length; at += 2) {
    differences.push(challenger.values[at]! - present.values[at]!);
  }
  const count = differences.length;
  if (count < COMPARED_USERS_MIN) return false;
  const average = mean(differences, 1);
  const squares = differences.reduce((sum, difference) => sum + (difference - average) ** 2, 0);
  return average > ONE_SIDED * Math.sqrt(squares / (count - 1) / count) && average > 0;
}
