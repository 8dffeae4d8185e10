import { describe, expect, it } from 'vitest';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { planReplay, sample, sessionBefore } from '../../src/evaluate/replay-plan.ts';
import { Timeline } from '../../src/evaluate/timeline.ts';
import { HOUR_MS, pastOf, type TestRecord } from './past-of-records.ts';

const OPTIONS = { share: 0.5, questionsMax: 100, fitsMax: 3, fitPeriodMs: HOUR_MS, seed: 1 };

describe('a timeline', () => {
  const timeline = new Timeline(
    pastOf([
      [0, 1, 3],
      [0, 0, 1, false],
      [1, 1, 2],
      [0, 0, 4],
      [0, 0, 5],
      [0, 1, 5],
    ]),
  );

  it('puts records in the order of time, and those of one time in that of the input', () => {
    expect([...timeline.order]).toEqual([1, 2, 0, 3, 4, 5]);
  });

  it('tells the first record of a user on an item, and the first positive one', () => {
    expect([...timeline.isNew]).toEqual([1, 1, 1, 0, 0, 0]);
    expect([...timeline.isLike]).toEqual([0, 1, 1, 1, 0, 0]);
    expect([...timeline.firstOfItem]).toEqual([0, 1]);
  });

  it('knows of each moment what was before it and nothing of what comes', () => {
    expect([...timeline.likesOf(0, 2)]).toEqual([]);
    expect([...timeline.likesOf(0, 3)]).toEqual([2]);
    expect([...timeline.likesOf(0, 6, 1)]).toEqual([3]);
    expect([...timeline.likesOn(1, 2)]).toEqual([1]);
    expect([...timeline.seenBy(0, 1)]).toEqual([0]);
    expect([...timeline.seenBy(0, 6)]).toEqual([0, 1]);
  });

  it('dates an item by its first record unless it is older by itself', () => {
    const past = pastOf([
      [0, 0, 10],
      [0, 1, 10],
    ]);
    const item = (hour: number) => ({
      ...EMPTY_ITEM,
      ItemId: '',
      Timestamp: new Date(hour * HOUR_MS).toISOString(),
    });
    const dated = new Timeline({ ...past, items: [item(3), item(12)] });
    expect([dated.knownFromMs(0), dated.knownFromMs(1)]).toEqual([3 * HOUR_MS, 10 * HOUR_MS]);
  });
});

describe('the plan of a replay', () => {
  it('asks about likes that a list can hold: neither repeats nor what nobody has heard of', () => {
    const records: TestRecord[] = [
      [0, 0, 0],
      [1, 1, 1],
      [0, 2, 2, false],
      [1, 0, 3],
      [0, 0, 4],
      [0, 2, 5],
      [0, 3, 6],
      [2, 3, 7],
    ];
    const plan = planReplay(new Timeline(pastOf(records)), OPTIONS);
    expect([plan.from, plan.positives, plan.judgeable]).toEqual([4, 4, 1]);
    expect(plan.questions).toEqual([7]);
  });

  it('learns every period, and where that were too often as often as it may at equal distances', () => {
    const records = Array.from({ length: 200 }, (_, at): TestRecord => [at % 10, at % 7, at]);
    const fitsAt = (fitPeriodMs: number) =>
      planReplay(new Timeline(pastOf(records)), { ...OPTIONS, fitPeriodMs }).fitsMs.map((ms) => ms / HOUR_MS);
    expect(fitsAt(40 * HOUR_MS)).toEqual([140, 180]);
    expect(fitsAt(HOUR_MS)).toEqual([124.75, 149.5, 174.25]);
  });

  it('draws so many questions, the same ones for the same seed', () => {
    const records = Array.from({ length: 400 }, (_, at): TestRecord => [Math.floor(at / 7), at % 7, at]);
    const drawn = (seed: number) =>
      planReplay(new Timeline(pastOf(records)), { ...OPTIONS, questionsMax: 20, seed }).questions;
    expect(drawn(1)).toHaveLength(20);
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn(1)).not.toEqual(drawn(2));
    expect(drawn(1)).toEqual([...drawn(1)].sort((a, b) => a - b));
    expect(new Set(sample([1, 2, 3, 4], 3, 1)).size).toBe(3);
  });

  it('takes the likes before it that lie close together as the session', () => {
    const timeline = new Timeline(
      pastOf([
        [0, 0, 0],
        [0, 1, 2],
        [0, 2, 2.2, false],
        [0, 3, 2.4],
        [0, 4, 2.8],
        [0, 5, 9],
      ]),
    );
    expect([...sessionBefore(timeline, 0, 4)]).toEqual([1, 3]);
    expect([...sessionBefore(timeline, 0, 5)]).toEqual([]);
  });
});
