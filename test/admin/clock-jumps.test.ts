import { describe, expect, it } from 'vitest';
import { AutomaticCompaction } from '../../src/admin/automatic-compaction.ts';
import { DailyFigures } from '../../src/admin/daily-figures.ts';
import { MetricsRingBuffer, SAMPLED, type Sample } from '../../src/admin/metrics-ring-buffer.ts';
import { MetricsSampler } from '../../src/admin/metrics-sampler.ts';
import { TaskList } from '../../src/background/tasks/task-list.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { createRandom } from '../../src/domain/random.ts';
import { limitRepeats } from '../../src/platform/log/limit-log-repeats.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { AnswerCounts } from '../../src/recommend/answers/answer-counts.ts';
import { FruitlessAttempts } from '../../src/recommend/lists/fruitless-attempts.ts';
import { SeenLately } from '../../src/recommend/placements/seen-lately.ts';
import { ShownLessons } from '../../src/recommend/placements/shown-lessons.ts';
import { Impressions } from '../../src/shown/impressions.ts';
import type { SavedStates } from '../../src/store/cache-store.ts';
import { NOW_MS } from '../store/helpers.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
const JUMPS_MS = [SECOND_MS, 40 * SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS, YEAR_MS, 10 * YEAR_MS];

/** What the clock on the wall tells, and how much time has passed. */
class Times {
  wallMs = NOW_MS;
  passedMs = 0;
  readonly clock: Clock = () => this.wallMs;
  readonly elapsedMs: Clock = () => this.passedMs;

  pass(ms: number): void {
    this.wallMs += ms;
    this.passedMs += ms;
  }
}

/** Something that is tried all the time, and to happen once in a period. */
interface Rest {
  readonly name: string;
  readonly periodMs: number;
  /** How often it is tried. */
  readonly everyMs: number;
  /** True where it goes by the clock: one that jumps lets it happen earlier, or a period later at most. */
  readonly isByClock?: boolean;
  /** @param happens to be called whenever it happens @returns one try */
  start(times: Times, happens: () => void): () => unknown;
}

const states = (happens: () => void): SavedStates =>
  ({ getState: async () => undefined, putState: async () => happens() }) as unknown as SavedStates;

const RESTS: readonly Rest[] = [
  {
    name: 'a message that is told again',
    periodMs: MINUTE_MS,
    everyMs: 10 * SECOND_MS,
    start({ elapsedMs }, happens) {
      const report = limitRepeats(happens, elapsedMs);
      return () => report('it fails', undefined);
    },
  },
  {
    name: 'a compaction after one that failed',
    periodMs: HOUR_MS,
    everyMs: 10 * MINUTE_MS,
    start({ elapsedMs, clock }, happens) {
      const compact = () => {
        happens();
        return Promise.reject(new Error('no room'));
      };
      const data = { getStats: async () => ({ bytes: 1000 }), getTables: async () => [], compact } as never;
      const tasks = new TaskList(
        clock,
        states(() => {}),
      );
      const log = createLogger('silent' as never, { write: () => {} });
      const given = { data, tasks, freeShare: 0.1, freeBytesMin: 1, elapsedMs, log };
      const compaction = new AutomaticCompaction(given);
      return () => compaction.look();
    },
  },
  {
    name: 'the saving of curves',
    periodMs: 10 * MINUTE_MS,
    everyMs: 10 * SECOND_MS,
    start({ clock }, happens) {
      const requests = async () => ({ count: 0, errors: 0, boundsS: [], cumulated: [] });
      const sampler = new MetricsSampler({
        requests,
        sizes: async () => ({}) as never,
        states: states(happens),
        clock,
      });
      return () => sampler.sample();
    },
  },
  {
    name: 'the saving of figures of days',
    periodMs: 10 * MINUTE_MS,
    everyMs: 10 * SECOND_MS,
    start({ clock }, happens) {
      const figures = new DailyFigures(new AnswerCounts(), states(happens), clock);
      return () => figures.sample({ users: 1, items: 1 });
    },
  },
  {
    name: 'the reading of what a user was shown',
    periodMs: 30 * SECOND_MS,
    everyMs: 5 * SECOND_MS,
    start({ elapsedMs }, happens) {
      const ofUser = async () => {
        happens();
        return [];
      };
      const seen = new SeenLately({ ofUser }, elapsedMs);
      return () => seen.of('u');
    },
  },
  {
    name: 'the reading of all that was shown',
    periodMs: HOUR_MS,
    everyMs: 10 * MINUTE_MS,
    start({ elapsedMs }, happens) {
      async function* walk() {
        happens();
        yield [];
      }
      const lessons = new ShownLessons({ walk }, elapsedMs, [], () => {});
      return async () => {
        lessons.renew(false);
        for (let turn = 0; turn < 8; turn++) await new Promise(setImmediate);
      };
    },
  },
  {
    name: 'a list that could not be made',
    periodMs: MINUTE_MS,
    everyMs: 10 * SECOND_MS,
    isByClock: true,
    start({ clock }, happens) {
      const attempts = new FruitlessAttempts(clock, MINUTE_MS, () => 1);
      const history = { userRow: 1, nextEffectMs: Number.POSITIVE_INFINITY, untilMs: 0 };
      return () => {
        if (attempts.has(history)) return;
        happens();
        attempts.note(history);
      };
    },
  },
];

describe.each(RESTS)('a clock that jumps and $name', ({ start, periodMs, everyMs, isByClock }) => {
  it.each([[0], [1], [2], [3]])('waits its own period, seed %i', async (seed) => {
    const times = new Times();
    const random = createRandom(seed);
    const happenedMs: number[] = [];
    const attempt = start(times, () => void happenedMs.push(times.passedMs));
    const steps = Math.ceil((8 * periodMs) / everyMs);
    for (let step = 0; step < steps; step++) {
      await attempt();
      times.pass(everyMs);
      if (random.below(4) > 0) continue;
      const jump = JUMPS_MS[random.below(JUMPS_MS.length)]!;
      times.wallMs = Math.max(10 * YEAR_MS, times.wallMs + (random.below(2) === 0 ? jump : -jump));
    }
    const ends = [...happenedMs, times.passedMs];
    const waits = ends.slice(1).map((ms, at) => ms - ends[at]!);
    expect(Math.max(...waits)).toBeLessThanOrEqual((isByClock ? 2 : 1) * periodMs + everyMs);
    // The last one is cut off by the end.
    if (!isByClock) expect(Math.min(...waits.slice(0, -1))).toBeGreaterThanOrEqual(periodMs);
  });
});

it('curves go on at once after a clock that ran ahead, also over a restart, and what was before it stays', () => {
  const of = (value: number) =>
    Object.fromEntries(Object.keys(SAMPLED).map((name) => [name, value])) as Sample;
  for (const [ahead, isRestarted] of [
    [3, false],
    [3, true],
    [10 * YEAR_MS, false],
    [10 * YEAR_MS, true],
  ] as const) {
    let ring = new MetricsRingBuffer(SECOND_MS, 10);
    for (let at = 0; at < 5; at++) ring.push(NOW_MS + at * SECOND_MS, of(at));
    ring.push(NOW_MS + 4 * SECOND_MS + ahead * SECOND_MS, of(99));
    if (isRestarted) {
      const kept = ring.keep();
      ring = new MetricsRingBuffer(SECOND_MS, 10);
      ring.restore(kept);
    }
    for (let at = 5; at < 12; at++) {
      ring.push(NOW_MS + at * SECOND_MS, of(at));
      const seen = ring.read(10, NOW_MS + at * SECOND_MS).Values.users!;
      expect(seen.at(-1)).toBe(at);
      expect(seen).not.toContain(99);
    }
    if (ahead === 3) expect(ring.read(10, NOW_MS + 11 * SECOND_MS).Values.users).toContain(4);
  }
});

it('figures of days outlast a clock that runs ten years ahead for a while', async () => {
  const times = new Times();
  const answers = new AnswerCounts();
  const figures = new DailyFigures(
    answers,
    states(() => {}),
    times.clock,
  );
  await figures.sample({ users: 1, items: 1 });
  await figures.sample({ users: 6, items: 1 });
  for (let day = 0; day < 100; day++) {
    times.wallMs = NOW_MS + 10 * YEAR_MS + day * DAY_MS;
    await figures.sample({ users: 6, items: 1 });
    if (day === 2) {
      times.wallMs = NOW_MS;
      expect(figures.view().Counts.new_users!.at(-1)).toBe(5);
    }
  }
  expect((Reflect.get(figures, 'days') as ReadonlyMap<number, unknown>).size).toBeLessThanOrEqual(60);
});

it('a task takes as long as it takes, whatever the clock does', () => {
  const times = new Times();
  const tasks = new TaskList(
    times.clock,
    states(() => {}),
    () => {},
    times.elapsedMs,
  );
  const task = tasks.begin('fit');
  for (const jump of [-YEAR_MS, 10 * YEAR_MS]) {
    times.wallMs += jump;
    times.pass(SECOND_MS);
    expect(task.tell('one', times.passedMs / SECOND_MS, 10).perSecond ?? 1).toBe(1);
  }
  task.done({});
  expect(tasks.ended[0]!.Seconds).toBe(2);
});

it('a clock that is ten years ahead for less than an hour takes no impression away', async () => {
  const times = new Times();
  const pruned: number[] = [];
  const log = { prune: async (nowMs: number) => void pruned.push(nowMs - NOW_MS) };
  const given = { log, clock: times.clock, elapsedMs: times.elapsedMs, onTrouble: () => {} };
  const impressions = new Impressions(given as never);
  const prune = async () => {
    times.pass(HOUR_MS);
    await (Reflect.get(impressions, 'prune') as () => Promise<void>).call(impressions);
  };
  await prune();
  times.wallMs += 10 * YEAR_MS;
  await prune();
  times.wallMs -= 10 * YEAR_MS;
  await prune();
  expect(pruned).toEqual([HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS]);
  // One that stays there is believed, and one that goes back at once.
  times.wallMs += YEAR_MS;
  await prune();
  await prune();
  times.wallMs -= 2 * YEAR_MS;
  await prune();
  expect(pruned.slice(3)).toEqual([4 * HOUR_MS, YEAR_MS + 5 * HOUR_MS, 6 * HOUR_MS - YEAR_MS]);
  impressions.stop();
});
