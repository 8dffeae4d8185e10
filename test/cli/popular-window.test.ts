import { describe, expect, it } from 'vitest';
import { chooseWindow, type Like } from '../../src/cli/init/popular-window.ts';
import { readSample } from '../../src/cli/playground/sample.ts';
import { getOrPut } from '../../src/domain/get-or-put.ts';
import { createRandom } from '../../src/domain/random.ts';

const DAY_MS = 86_400_000;
const USUAL_MS = 30 * DAY_MS;

/** One newcomer an hour over so many days, who likes what `itemOf` says. */
function hourly(days: number, itemOf: (hour: number, chance: number) => number): Like[] {
  const random = createRandom(7);
  return Array.from({ length: days * 24 }, (_, hour) => [
    hour,
    itemOf(hour, random.float()),
    hour * 3_600_000,
  ]);
}

describe('the window of popular items that is chosen', () => {
  it('is short where hits change by the day, and says by how much it is better', () => {
    const hits = hourly(200, (hour, chance) => Math.floor(hour / 48) * 8 + Math.floor(chance * 8));
    const { windowMs, asked, quality, usual } = chooseWindow(hits, USUAL_MS)!;
    expect(windowMs).toBe(DAY_MS);
    expect(asked).toBe(480);
    expect(quality).toBeGreaterThan(usual + 0.1);
  });

  it('is some hours long where hits change by the hour', () => {
    const hits = hourly(200, (hour, chance) => Math.floor(hour / 48) * 8 + Math.floor(chance * 8));
    const faster = hits.map(([user, item, timeMs]): Like => [user, item, timeMs / 12]);
    expect(chooseWindow(faster, USUAL_MS)!.windowMs).toBe(DAY_MS / 8);
  });

  it('is the usual one where no other is better beyond noise, and where there is next to nothing', () => {
    const steady = hourly(200, (_, chance) => Math.floor(chance ** 2 * 100));
    expect(chooseWindow(steady, USUAL_MS)).toBeUndefined();
    expect(chooseWindow(steady.slice(0, 3), USUAL_MS)).toBeUndefined();
    expect(chooseWindow([], USUAL_MS)).toBeUndefined();
  });

  it('is longer where the same things come back after months', () => {
    const rare = hourly(600, (_, chance) => Math.floor(chance ** 2 * 3000));
    expect(chooseWindow(rare, DAY_MS)!.windowMs).toBeGreaterThan(DAY_MS);
  });

  it('counts an item as high as the mean of the places that it shares with others', () => {
    // Each of four items has been liked once when the newcomer takes the last of them.
    const likes: Like[] = [0, 1, 2, 3].flatMap((item) => [[item, item, item]]);
    const twice = Array.from({ length: 40 }, (_, at): Like => [100 + at, 9, at * 40 * DAY_MS]);
    // Within 30 days nothing has been liked; within 90 the one item of the last 40 days has.
    expect(chooseWindow([...likes, ...twice], USUAL_MS)).toMatchObject({ quality: 1, usual: 0 });
  });

  it('is a day on the sample of the playground', () => {
    const rows = new Map<string, number>();
    const rowOf = (id: string) => getOrPut(rows, id, () => rows.size);
    const likes = readSample().feedback.flatMap(({ FeedbackType, UserId, ItemId, Timestamp }): Like[] =>
      FeedbackType === 'like'
        ? [[rowOf(`user ${UserId}`), rowOf(`item ${ItemId}`), Date.parse(Timestamp)]]
        : [],
    );
    const choice = chooseWindow(likes, USUAL_MS)!;
    expect(choice.asked).toBe(1338);
    expect(choice.windowMs).toBeLessThanOrEqual(7 * DAY_MS);
    expect(choice.quality).toBeGreaterThan(choice.usual * 1.2);
  });
});
