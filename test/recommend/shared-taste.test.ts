import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { RecentLikes } from '../../src/recommend/popularity/recent-likes.ts';
import { type Directions, SharedTaste } from '../../src/recommend/popularity/shared-taste.ts';

const KNOWN = 40;
const HOT = 60;
const USERS = 120;

/** Items of even and of odd rows lie apart; those from `KNOWN` on the model does not know. */
function modelOf(random: Random): Directions {
  const vectors = Array.from({ length: KNOWN }, (_, row) => {
    const vector = Array.from(
      { length: 4 },
      (_, at) => (at === row % 2 ? 1 : 0) + 0.4 * (random.float() - 0.5),
    );
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  });
  return {
    factors: 4,
    knows: (row) => row < KNOWN,
    addDirection(row, sum) {
      vectors[row]?.forEach((value, at) => {
        sum[at]! += value;
      });
    },
  };
}

/** Each user likes some items of one taste. */
function likesOfTwoTastes(random: Random): { likes: RecentLikes; of: number[][] } {
  const likes = new RecentLikes();
  const of: number[][] = Array.from({ length: USERS }, () => []);
  for (let at = 0; at < 10 * USERS; at++) {
    const user = random.below(USERS);
    const item = 2 * random.below(KNOWN / 2) + (user % 2);
    if (of[user]!.includes(item)) continue;
    of[user]!.unshift(item);
    likes.add(user, item, 1000 * at);
  }
  return { likes, of };
}

/** The same worked out one by one, as the docstring has it. */
function reference(likes: RecentLikes, model: Directions, liked: readonly number[], row: number): number {
  const directionOf = (items: Iterable<number>) => {
    const sum = new Float64Array(model.factors);
    for (const item of items) model.addDirection(item, sum);
    return sum.map((value) => value / Math.hypot(...sum));
  };
  const own = directionOf(liked.slice(0, 10));
  // Vectors of people are kept in 32 bits.
  const likeness = (user: number) =>
    Float64Array.from(Float32Array.from(directionOf(likes.itemsOf(user).subarray(0, 10)))).reduce(
      (sum, value, at) => sum + value * own[at]!,
      0,
    );
  const others = likes.someUsers();
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const mean = meanOf(others.map(likeness));
  const deviation = Math.sqrt(meanOf(others.map((user) => (likeness(user) - mean) ** 2)));
  const givers = [...likes.usersOf(row)];
  const all = Math.min(256, likes.countOf(row));
  const toldBy = (known: number) => known / (known + 1);
  const steepness = toldBy(Math.min(10, liked.length)) * 2 * (all / 10) ** 0.3;
  const kernel = (user: number) => {
    const known = likes.latestOf(user, 10).filter((item) => model.knows(item)).length;
    const nearer = Math.max(-4, Math.min(4, (likeness(user) - mean) / deviation));
    return Math.exp(steepness * nearer * Math.fround(toldBy(known)));
  };
  const kernels = givers.map(kernel).sort((a, b) => a - b);
  const most = kernels[Math.ceil(0.9 * kernels.length) - 1]!;
  const found = meanOf(kernels.map((value) => Math.min(value, most)));
  return Math.log(((found / meanOf(others.map(kernel))) * all + 1) / (all + 1));
}

describe('the taste of those who like what no model knows', () => {
  it('speaks for it to those who share it, and against it to the others', () => {
    const random = createRandom(4);
    const model = modelOf(random);
    const { likes, of } = likesOfTwoTastes(random);
    for (let user = 0; user < USERS / 2; user += 2) likes.add(user, HOT, 5_000_000);
    const taste = new SharedTaste();
    for (let user = USERS / 2; user < USERS; user++) {
      expect(taste.sumUp(likes, model, of[user]!)).toBe(true);
      if (user % 2 === 0) expect(taste.get(HOT)).toBeGreaterThan(0.1);
      else expect(taste.get(HOT)).toBeLessThan(-2);
      expect(taste.get(HOT)).toBeCloseTo(reference(likes, model, of[user]!, HOT), 10);
      // Known to the model, or liked by nobody.
      expect([taste.get(1), taste.get(HOT + 1)]).toEqual([0, 0]);
    }
  });

  it('is that of a new comparison whatever came and was taken back, and whichever model it is by', () => {
    const random = createRandom(9);
    const models = [modelOf(random), modelOf(random)];
    const { likes, of } = likesOfTwoTastes(random);
    const taste = new SharedTaste();
    const given: [number, number, number][] = [];
    for (let step = 0; step < 300; step++) {
      const item = random.below(2) === 0 ? HOT : random.below(KNOWN);
      const like: [number, number, number] = [random.below(USERS), item, 5_000_000 + step];
      if (given.length > 0 && random.below(4) === 0)
        likes.remove(...given.splice(random.below(given.length), 1)[0]!);
      else {
        likes.add(...like);
        given.push(like);
      }
      const model = models[Number(step % 50 > 40)]!;
      const liked = of[random.below(USERS)]!;
      const fresh = new SharedTaste();
      taste.sumUp(likes, model, liked);
      fresh.sumUp(likes, model, liked);
      expect(taste.get(HOT)).toBe(fresh.get(HOT));
    }
    expect(given.some(([, item]) => item === HOT)).toBe(true);
  });

  it('keeps no more users than it has room for, and answers the same', () => {
    const random = createRandom(2);
    const model = modelOf(random);
    const { likes, of } = likesOfTwoTastes(random);
    const taste = new SharedTaste();
    const items = Array.from({ length: 480 }, (_, at) => HOT + at);
    // Fifty of each are looked at.
    for (let user = 1000; user < 25_000; user++) {
      likes.add(user, 2 * random.below(KNOWN / 2) + (user % 2), 6_000_000 + user);
      likes.add(user, items[user % items.length]!, 6_000_000 + user);
    }
    for (let turn = 0; turn < 2; turn++) {
      taste.sumUp(likes, model, of[turn]!);
      const fresh = new SharedTaste();
      fresh.sumUp(likes, model, of[turn]!);
      for (const item of items) expect(taste.get(item)).toBe(fresh.get(item));
      expect(taste.get(HOT) > 0).toBe(turn === HOT % 2);
    }
  });

  it('asks the model of nobody again whom it has prepared, and prepares no more for one that is not in use', () => {
    const random = createRandom(3);
    let asked = 0;
    const counted = (model: Directions): Directions => ({
      ...model,
      addDirection(row, sum) {
        asked++;
        model.addDirection(row, sum);
      },
    });
    const [model, next] = [counted(modelOf(random)), counted(modelOf(random))];
    const { likes, of } = likesOfTwoTastes(random);
    for (let user = 0; user < USERS; user += 3) likes.add(user, HOT, 5_000_000);
    const taste = new SharedTaste();
    const pauses = [...taste.prepare(likes, model)].length;
    expect(pauses).toBeGreaterThan(USERS / 3);
    asked = 0;
    taste.sumUp(likes, model, of[5]!);
    const fresh = new SharedTaste();
    expect(taste.get(HOT)).not.toBe(0);
    expect(asked).toBe(Math.min(10, of[5]!.length));
    fresh.sumUp(likes, model, of[5]!);
    expect(taste.get(HOT)).toBe(fresh.get(HOT));
    const preparing = taste.prepare(likes, model);
    preparing.next();
    taste.sumUp(likes, next, of[5]!);
    expect([...preparing]).toHaveLength(0);
    expect(taste.get(HOT)).not.toBe(fresh.get(HOT));
  });

  it('says nothing of somebody of whom the model knows no like, nor where nearly nobody is there', () => {
    const model = modelOf(createRandom(1));
    const likes = new RecentLikes();
    for (let user = 0; user < 5; user++) {
      likes.add(user, user, 1000);
      likes.add(user, HOT, 2000);
    }
    const taste = new SharedTaste();
    expect(taste.sumUp(likes, model, [])).toBe(false);
    expect(taste.sumUp(likes, model, [KNOWN + 3])).toBe(false);
    expect(taste.sumUp(likes, model, [3])).toBe(true);
    expect(taste.get(HOT)).toBe(0);
  });
});
