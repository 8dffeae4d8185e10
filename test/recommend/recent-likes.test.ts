import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { SparseSums } from '../../src/memory/sparse-sums.ts';
import { RECENT_LIKES, RecentLikes } from '../../src/recommend/popularity/recent-likes.ts';

function summed(likes: RecentLikes, liked: readonly number[]): (row: number) => number {
  const sums = new SparseSums();
  likes.sumUp(liked, sums);
  return (row) => sums.get(row);
}

describe('the latest likes of all', () => {
  it('tell by the cosine of who liked both what goes with what', () => {
    const likes = new RecentLikes();
    const random = createRandom(3);
    const users = Array.from({ length: 40 }, () => new Set<number>());
    for (let at = 0; at < 300; at++) {
      const user = random.below(users.length);
      const item = random.below(12);
      if (users[user]!.has(item)) continue;
      users[user]!.add(item);
      likes.add(user, item, 1000 * at);
    }
    const of = (item: number) => users.filter((liked) => liked.has(item)).length;
    const both = (a: number, b: number) => users.filter((liked) => liked.has(a) && liked.has(b)).length;
    const cosine = (a: number, b: number) => both(a, b) / Math.sqrt(of(a) * of(b));
    const found = summed(likes, [4, 7]);
    for (const item of [0, 1, 2, 3, 5, 6])
      expect(found(item)).toBeCloseTo(cosine(4, item) + cosine(7, item), 10);
    expect(found(99)).toBe(0);
  });

  it('say what they say when they are read anew, whatever comes and is taken back between two questions', () => {
    const random = createRandom(8);
    const likes = new RecentLikes();
    const given: [number, number, number][] = [];
    for (let step = 0; step < 600; step++) {
      const like: [number, number, number] = [random.below(60), random.below(30), 1000 * step];
      if (random.below(4) === 0 && given.length > 0)
        likes.remove(...given.splice(random.below(given.length), 1)[0]!);
      else if (random.below(2) === 0) {
        likes.add(...like);
        given.push(like);
      }
      const liked = Array.from({ length: 1 + random.below(3) }, () => random.below(30));
      const again = new RecentLikes();
      again.restore(likes.save());
      const [found, anew] = [summed(likes, liked), summed(again, liked)];
      const latest = (of: RecentLikes) => Array.from({ length: 30 }, (_, row) => of.hasJustBeenLiked(row));
      for (let row = 0; row < 30; row++) expect(found(row)).toBe(anew(row));
      expect(latest(likes)).toEqual(latest(again));
      expect(likes.someUsers()).toEqual(again.someUsers());
    }
  });

  it('say the same of a few among many that were taken back', () => {
    const likes = new RecentLikes();
    for (let user = 0; user < 3000; user++) likes.add(user, user % 7, 1000);
    const [before, recent] = [likes.someUsers(), likes.hasJustBeenLiked(8)];
    for (let user = 3000; user < 6000; user++) likes.add(user, 8, 1000);
    for (let user = 3000; user < 6000; user++) likes.remove(user, 8, 1000);
    expect(likes.someUsers()).toEqual(before);
    expect(likes.hasJustBeenLiked(8)).toBe(recent);
  });

  it('say the same of more than there is room to keep, in whatever order they are asked', () => {
    const random = createRandom(5);
    const likes = new RecentLikes();
    for (let at = 0; at < 2 * RECENT_LIKES; at++) likes.add(random.below(3000), random.below(700), 1000);
    const { userRows, itemRows, seconds } = likes.save();
    const fresh = new RecentLikes();
    const sums = new SparseSums();
    const told = (of: RecentLikes, like: number) => {
      of.sumUp([like], sums);
      return sums.best(30, () => true);
    };
    for (const round of [0, 1, 2])
      for (let at = 0; at < 700; at++) {
        const like = round === 1 ? 699 - at : at;
        const before = told(likes, like);
        // It keeps a hundred of them.
        if (at % 100 === 0) fresh.restore({ userRows, itemRows, seconds });
        expect(before).toEqual(told(fresh, like));
      }
  });

  it('tell how many people liked an item since when, as far back as they go', () => {
    const likes = new RecentLikes();
    likes.add(1, 10, 5000);
    likes.add(2, 10, 9000);
    likes.add(2, 10, 6000);
    likes.add(3, 11, 9000);
    expect(likes.peopleWhoLiked(10, [4000, 6000, 9500])).toEqual([2, 1, 0]);
    expect(likes.peopleWhoLiked(99, [4000])).toEqual([0]);
    for (let user = 0; user < 4 * RECENT_LIKES; user++) likes.add(user, 10, 1000 * (100 + user));
    const last = 1000 * (99 + 4 * RECENT_LIKES);
    expect(likes.peopleWhoLiked(10, [4000, last - 9000])).toEqual([undefined, 10]);
    const again = new RecentLikes();
    again.restore(likes.save());
    expect(again.peopleWhoLiked(10, [4000, last - 9000])).toEqual([undefined, 10]);
  });

  it('forget what is taken back, and say the same once they were saved', () => {
    const likes = new RecentLikes();
    likes.add(1, 10, 5000);
    likes.add(1, 11, 6000);
    likes.add(2, 10, 7000);
    likes.add(2, 12, 8000);
    likes.remove(2, 12, 8000);
    likes.remove(3, 99, 8000);
    const again = new RecentLikes();
    again.add(9, 9, 1);
    again.restore(likes.save());
    for (const one of [likes, again]) {
      const found = summed(one, [10]);
      expect(found(11)).toBeCloseTo(1 / Math.sqrt(2), 10);
      expect(found(12)).toBe(0);
      expect(found(9)).toBe(0);
    }
  });

  it('are bounded: the oldest go, in whatever order all came', () => {
    const likes = new RecentLikes();
    const count = 3 * RECENT_LIKES;
    const step = 7919;
    for (let at = 0; at < count; at++) {
      const time = (at * step) % count;
      likes.add(time, time % 1000, 1000 * (1 + time));
    }
    const { seconds } = likes.save();
    expect(seconds.length).toBeGreaterThanOrEqual(RECENT_LIKES);
    expect(seconds.length).toBeLessThanOrEqual(2 * RECENT_LIKES);
    const kept = new Set(seconds);
    for (let time = count - RECENT_LIKES; time < count; time++) expect(kept.has(1 + time)).toBe(true);
  });

  it('tell what has just been liked, also where older likes of it are taken back', () => {
    const likes = new RecentLikes();
    for (let at = 0; at < 1000; at++) likes.add(at, at % 10, 1000 * at);
    for (let user = 0; user < 3; user++) likes.add(user, 50, 1_000_000);
    for (let user = 0; user < 40; user++) likes.add(user, 60, 2_000_000);
    expect([3, 50, 60, 70].map((row) => likes.hasJustBeenLiked(row))).toEqual([false, true, true, false]);
    for (let at = 3; at < 900; at += 10) likes.remove(at, 3, 1000 * at);
    expect(likes.hasJustBeenLiked(3)).toBe(true);
    const again = new RecentLikes();
    again.restore(likes.save());
    expect([2, 50, 60].map((row) => again.hasJustBeenLiked(row))).toEqual([false, true, true]);
  });

  it('go by their times where they were counted in another order, as a recount reads them', () => {
    const inTime = new RecentLikes();
    const byUser = new RecentLikes();
    const given = Array.from(
      { length: 600 },
      (_, at) => [at % 7, at % 50 === 49 ? 99 : at % 31, 1000 * (at + 1)] as const,
    );
    for (const [user, item, timeMs] of given) inTime.add(user, item, timeMs);
    for (const [user, item, timeMs] of given.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]))
      byUser.add(user, item, timeMs);
    for (const _ of byUser.order());
    expect(byUser.save()).toEqual(inTime.save());
    for (const likes of [byUser, inTime]) likes.link();
    for (let user = 0; user < 7; user++) expect(byUser.latestOf(user, 10)).toEqual(inTime.latestOf(user, 10));
    expect([...byUser.usersOf(99)]).toEqual([...inTime.usersOf(99)]);
  });

  it('stand in the order of their times once they are put in it, with what comes and is taken back meanwhile', () => {
    const random = createRandom(9);
    const likes = new RecentLikes();
    const given: [number, number, number][] = Array.from({ length: 20_000 }, () => [
      random.below(900),
      random.below(300),
      1000 * (1 + random.below(10_000_000)),
    ]);
    for (const like of given) likes.add(...like);
    const ordered = new RecentLikes();
    for (const like of given.toSorted((a, b) => a[2] - b[2])) ordered.add(...like);
    const told = (of: RecentLikes) => {
      of.link();
      return Array.from({ length: 300 }, (_, row) => [
        of.countOf(row),
        [...of.usersOf(row)],
        [...of.itemsOf(row)],
      ]);
    };
    expect(told(likes)).not.toEqual(told(ordered));
    let steps = 0;
    for (const _ of likes.order()) {
      const step = steps++;
      for (const some of [likes, ordered]) {
        some.add(step, 7, 2e10 + step);
        some.remove(...given[step]!);
      }
    }
    expect(steps).toBeGreaterThan(5);
    expect(told(likes)).toEqual(told(ordered));
    expect([...likes.order()]).toEqual([]);
  });

  it('are those that were counted anew, where these came while others were being put in order', () => {
    const likes = new RecentLikes();
    for (let at = 0; at < 5000; at++) likes.add(at, 1, 1000 * (5000 - at));
    const anew = new RecentLikes();
    anew.add(3, 4, 5000);
    for (const _ of likes.order()) likes.restore(anew.save());
    expect(likes.save()).toEqual(anew.save());
  });

  it('are in the order in which they came for all who read them, as after a restart and in threads', () => {
    const random = createRandom(11);
    const likes = new RecentLikes();
    for (let at = 0; at < 500; at++)
      likes.add(random.below(40), random.below(30), 1000 * (at + random.below(200)));
    const again = new RecentLikes();
    again.restore(likes.save());
    expect(again.save()).toEqual(likes.save());
    for (let row = 0; row < 30; row++) {
      expect([...again.usersOf(row)]).toEqual([...likes.usersOf(row)]);
      expect(again.hasJustBeenLiked(row)).toBe(likes.hasJustBeenLiked(row));
    }
    expect(again.someUsers()).toEqual(likes.someUsers());
  });

  it('lose the like that is taken back, where its user has given the item another one', () => {
    const likes = new RecentLikes();
    for (const [user, timeMs] of [1, 2, 1].map((user, at) => [user, 1000 * (at + 1)] as const))
      likes.add(user, 10, timeMs);
    likes.remove(1, 10, 1000);
    expect([...likes.save().seconds]).toEqual([2, 3]);
    // Of a time that is not known any more.
    likes.remove(1, 10, 500);
    expect([...likes.save().seconds]).toEqual([2]);
  });
});
