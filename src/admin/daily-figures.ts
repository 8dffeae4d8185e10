import type { DailyFiguresView } from '../domain/activity-schemas.ts';
import type { Clock } from '../domain/clock.ts';
import { spreadBits } from '../domain/hash.ts';
import type { AnswerCounts } from '../recommend/answers/answer-counts.ts';
import type { SavedStates } from '../store/cache-store.ts';
import type { ChangeSet } from '../store/data-store.ts';

const DAY_MS = 86_400_000;
/** Days that are kept, the present one among them. */
const DAYS_MAX = 30;
/** Types counted by name on one day; more are counted together. */
const TYPES_MAX = 16;
const OTHERS = 'others';
/** Registers of the estimate of active users: a standard error of 3 %. A power of two. */
const REGISTERS = 1024;
const REGISTER_BITS = 10;
/** Records counted in one step: a fraction of a millisecond. */
const STEP_RECORDS = 512;
/** A crash loses what answers were counted since so many samples at most. */
const SAVE_EVERY = 60;
/** Name of the state that keeps the days over a restart. */
const STATE_NAME = 'daily-figures';

/** By name; names of types are a caller's. */
type Counts = Map<string, number>;

interface Day {
  readonly feedback: Counts;
  /** The longest run of zero bits by register, of the hashes of active users (Flajolet et al. 2007, HyperLogLog). */
  readonly active: Uint8Array;
  /** Additions, and answers by what made them. */
  readonly counts: Counts;
}

type SavedCounts = readonly (readonly [name: string, count: number])[];
/** Saved days, by number of the day since the epoch. */
type SavedDays = readonly (readonly [
  number: number,
  feedback: SavedCounts,
  active: Uint8Array,
  counts: SavedCounts,
])[];

interface Sizes {
  readonly users: number;
  readonly items: number;
}

/**
 * Counts of the last days: feedback by its own time, active users, what users and items came, and what made answers. Some
 * forty kilobytes, however much comes; counted as it is committed, never by looking at the store.
 */
export class DailyFigures {
  private readonly days = new Map<number, Day>();
  private readonly answers: AnswerCounts;
  private readonly states: SavedStates;
  private readonly clock: Clock;
  private sizes: Sizes | undefined;
  private counted: Counts = new Map();
  private unsaved = 0;

  constructor(answers: AnswerCounts, states: SavedStates, clock: Clock) {
    this.answers = answers;
    this.states = states;
    this.clock = clock;
  }

  /** Counts what a commit changed, with pauses. */
  *follow({ added, removed, feedbackTypes }: ChangeSet): Generator<undefined> {
    const nowMs = this.clock();
    for (const [records, sign] of [[removed, -1] as const, [added, 1] as const])
      for (let at = 0; at < records.length; at++) {
        if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
        const day = this.dayAt(records.timesMs[at]!, nowMs);
        if (day === undefined) continue;
        const type = feedbackTypes[records.types[at]!] ?? OTHERS;
        const isNamed = day.feedback.has(type) || day.feedback.size < TYPES_MAX;
        add(day.feedback, isNamed ? type : OTHERS, sign);
        if (sign === 1) noteActive(day.active, records.userRows[at]!);
      }
  }

  /** Counts what came since the last call, and saves it now and then. */
  async sample(sizes: Sizes): Promise<void> {
    const day = this.dayAt(this.clock())!;
    const before = this.sizes ?? sizes;
    this.sizes = { users: sizes.users, items: sizes.items };
    add(day.counts, 'new_users', Math.max(0, sizes.users - before.users));
    add(day.counts, 'new_items', Math.max(0, sizes.items - before.items));
    this.countAnswers();
    if (++this.unsaved >= SAVE_EVERY) await this.save();
  }

  /** The last days, the present one last; 0 on days without any. */
  view(): DailyFiguresView {
    this.countAnswers();
    const last = Math.floor(this.clock() / DAY_MS);
    const numbers = Array.from({ length: DAYS_MAX }, (_, at) => last - DAYS_MAX + 1 + at);
    const days = numbers.map((number) => this.days.get(number));
    const columns = (of: (day: Day) => Counts) => {
      const names = new Set(days.flatMap((day) => (day === undefined ? [] : [...of(day).keys()])));
      return Object.fromEntries(
        [...names].map((name) => [name, days.map((day) => Math.max(0, (day && of(day).get(name)) ?? 0))]),
      );
    };
    return {
      Times: numbers.map((number) => (number * DAY_MS) / 1000),
      Feedback: columns(({ feedback }) => feedback),
      ActiveUsers: days.map((day) => (day === undefined ? 0 : estimated(day.active))),
      Counts: columns(({ counts }) => counts),
    };
  }

  /** Reads back what was saved, as if it had come before all else. */
  async restore(): Promise<void> {
    const saved = ((await this.states.getState(STATE_NAME)) ?? []) as SavedDays;
    for (const [number, feedback, active, counts] of saved) {
      const day = this.dayAt(number * DAY_MS);
      if (day === undefined || active.length !== REGISTERS) continue;
      for (const [name, count] of feedback) add(day.feedback, name, count);
      for (const [name, count] of counts) add(day.counts, name, count);
      active.forEach((run, at) => {
        day.active[at] = Math.max(day.active[at]!, run);
      });
    }
  }

  async save(): Promise<void> {
    this.countAnswers();
    this.unsaved = 0;
    const saved: SavedDays = Array.from(this.days, ([number, { feedback, active, counts }]) => [
      number,
      [...feedback],
      active,
      [...counts],
    ]);
    await this.states.putState(STATE_NAME, saved);
  }

  /** Counts the answers since the last time. */
  private countAnswers(): void {
    const day = this.dayAt(this.clock())!;
    const { all, withoutList, filledBy } = this.answers;
    const counted: Counts = new Map([
      ['answers', all],
      ['without_list', withoutList],
    ]);
    for (const [name, count] of Object.entries(filledBy)) counted.set(`filled_by_${name}`, count);
    for (const [name, count] of counted) add(day.counts, name, count - (this.counted.get(name) ?? 0));
    this.counted = counted;
  }

  /** The day of a time; undefined for one that is not kept, or to come. */
  private dayAt(timeMs: number, nowMs = this.clock()): Day | undefined {
    const last = Math.floor(nowMs / DAY_MS);
    const number = Math.floor(timeMs / DAY_MS);
    if (!(number > last - DAYS_MAX && number <= last)) return undefined;
    let day = this.days.get(number);
    if (day === undefined) {
      // Only where there are many: a clock that runs ahead for a while takes no day away.
      if (this.days.size >= 2 * DAYS_MAX)
        for (const old of this.days.keys()) if (old <= last - DAYS_MAX || old > last) this.days.delete(old);
      this.days.set(
        number,
        (day = { feedback: new Map(), active: new Uint8Array(REGISTERS), counts: new Map() }),
      );
    }
    return day;
  }
}

function add(counts: Counts, name: string, more: number): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

function noteActive(registers: Uint8Array, userRow: number): void {
  const hash = spreadBits(userRow + 1);
  const at = hash & (REGISTERS - 1);
  const run = Math.clz32(hash >>> REGISTER_BITS) - REGISTER_BITS + 1;
  registers[at] = Math.max(registers[at]!, run);
}

/** The number of different users, by linear counting where there are few. */
function estimated(registers: Uint8Array): number {
  let sum = 0;
  let empty = 0;
  for (const run of registers) {
    sum += 2 ** -run;
    empty += Number(run === 0);
  }
  const raw = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS ** 2) / sum;
  const isFew = raw <= 2.5 * REGISTERS && empty > 0;
  return Math.round(isFew ? REGISTERS * Math.log(REGISTERS / empty) : raw);
}
