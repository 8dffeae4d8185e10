import { expect, it } from 'vitest';
import { DailyFigures } from '../../src/admin/daily-figures.ts';
import { AnswerCounts } from '../../src/recommend/answers/answer-counts.ts';
import { type ChangeSet, FeedbackColumns } from '../../src/store/data-store.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2024-05-20T12:00:00Z');
const TODAY = 29;

function setUp() {
  const answers = new AnswerCounts();
  const saved = new Map<string, unknown>();
  const states = {
    getState: async (name: string) => structuredClone(saved.get(name)),
    putState: async (name: string, value: unknown) => void saved.set(name, structuredClone(value)),
  };
  const clock = { nowMs: START };
  const open = (counts = answers) => new DailyFigures(counts, states as never, () => clock.nowMs);
  return { answers, clock, open, figures: open() };
}

type Event = readonly [user: number, type: number, daysAgo: number];

function change(added: readonly Event[], removed: readonly Event[] = [], feedbackTypes = ['like', 'view']) {
  const columns = (events: readonly Event[]) => {
    const found = new FeedbackColumns();
    for (const [user, type, daysAgo] of events) found.push(user, 0, type, START - daysAgo * DAY_MS);
    return found;
  };
  return { added: columns(added), removed: columns(removed), feedbackTypes } as unknown as ChangeSet;
}

function follow(figures: DailyFigures, ...what: Parameters<typeof change>): number {
  return [...figures.follow(change(...what))].length;
}

it('counts feedback by type on the day of its own time, for thirty days, less what is taken back', () => {
  const { figures, clock } = setUp();
  follow(figures, [
    [1, 0, 0],
    [1, 0, 0],
    [2, 1, 0],
    [2, 0, 1],
    [2, 0, 29],
    [2, 0, 30],
    [2, 0, -1],
  ]);
  follow(figures, [], [[1, 0, 0]]);
  const { Feedback, ActiveUsers, Times } = figures.view();
  expect(Times[TODAY]! * 1000).toBe(Date.parse('2024-05-20T00:00:00Z'));
  expect([Feedback.like![0], Feedback.like![28], Feedback.like![TODAY]]).toEqual([1, 1, 1]);
  expect(Feedback.like!.reduce((a, b) => a + b)).toBe(3);
  expect(Feedback.view![TODAY]).toBe(1);
  expect([ActiveUsers[0], ActiveUsers[28], ActiveUsers[TODAY]]).toEqual([1, 1, 2]);
  clock.nowMs += 2 * DAY_MS;
  expect(figures.view().Feedback.like!.slice(-4)).toEqual([1, 1, 0, 0]);
});

it('estimates active users to some percent, however many there are, and counts with pauses', () => {
  for (const users of [10, 500, 3000, 200_000]) {
    const { figures } = setUp();
    const events = Array.from({ length: 2 * users }, (_, at): Event => [at % users, 0, 0]);
    expect(follow(figures, events)).toBe(Math.floor((2 * users) / 512));
    expect(Math.abs(figures.view().ActiveUsers[TODAY]! / users - 1)).toBeLessThan(0.1);
  }
});

it('names a bounded number of types, whatever they are called', () => {
  const { figures } = setUp();
  const types = ['__proto__', 'toString', ...Array.from({ length: 50 }, (_, at) => `type ${at}`)];
  follow(
    figures,
    types.map((_, at): Event => [1, at, 0]),
    [],
    types,
  );
  const { Feedback } = figures.view();
  expect(Object.keys(Feedback)).toHaveLength(17);
  expect(Object.entries(Feedback).reduce((sum, [, days]) => sum + days[TODAY]!, 0)).toBe(types.length);
  expect(Object.hasOwn(Feedback, '__proto__')).toBe(true);
});

it('counts what came and what made answers on the day, and goes on after a restart', async () => {
  const { figures, answers, clock, open } = setUp();
  await figures.sample({ users: 100, items: 50 });
  answers.all = 5;
  answers.withoutList = 2;
  answers.noteFilled('popular');
  await figures.sample({ users: 103, items: 49 });
  clock.nowMs += DAY_MS;
  answers.all = 6;
  await figures.sample({ users: 104, items: 51 });
  follow(figures, [[7, 0, 0]]);
  const told = figures.view();
  expect(told.Counts).toMatchObject({ answers: { [TODAY - 1]: 5, [TODAY]: 1 } });
  const last = (name: string) => told.Counts[name]!.slice(-2);
  expect([last('new_users'), last('new_items')]).toEqual([
    [3, 1],
    [0, 2],
  ]);
  expect([last('without_list'), last('filled_by_popular')]).toEqual([
    [2, 0],
    [1, 0],
  ]);
  await figures.save();
  const again = open(new AnswerCounts());
  await again.restore();
  expect(again.view()).toEqual(told);
});
