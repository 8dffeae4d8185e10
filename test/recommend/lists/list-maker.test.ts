import { describe, expect, it } from 'vitest';
import type { ColdItems } from '../../../src/recommend/neighbors/cold-item-index.ts';
import type { ListInputs } from '../../../src/recommend/sources/list-inputs.ts';
import type { ListSettings } from '../../../src/recommend/sources/list-settings.ts';
import {
  generation,
  historyOf,
  LIKE,
  make,
  neighborLists,
  popularity,
  READ,
  ranking,
  scoredModel,
  summedLists,
} from '../hand-made.ts';

/** Each recommender proposes items of its own: 10 and 11 are the latest, 20 and 21 popular, and so on. */
const PROPOSED: Partial<ListInputs> = {
  generation: generation({
    als: scoredModel(Array.from({ length: 52 }, (_, row) => row)),
    itemNeighbors: neighborLists(() => [
      [31, 0.7],
      [30, 0.5],
    ]),
  }),
  latestRows: () => [10, 11],
  popularRows: () => [20, 21],
  userBased: () => [40, 41],
  isListable: (row) => row < 50,
};

/** Likes item 0. */
const FAN = historyOf([{ item: 0 }]);
const STRANGER = historyOf([]);

function rowsOf(
  settings: Partial<ListSettings>,
  world: Partial<ListInputs> = PROPOSED,
  history = FAN,
): number[] | undefined {
  return make(settings, world, history)?.rows;
}

function sorted(rows: readonly number[] | undefined): number[] | undefined {
  return rows && [...rows].sort((a, b) => a - b);
}

describe('matching', () => {
  it('takes what the one recommender that is on proposes, and nothing else', () => {
    expect(sorted(rowsOf({ latest: true }))).toEqual([10, 11]);
    expect(sorted(rowsOf({ popular: true }))).toEqual([20, 21]);
    expect(sorted(rowsOf({ item_based: true }))).toEqual([30, 31]);
    expect(sorted(rowsOf({ user_based: true }))).toEqual([40, 41]);
    expect(sorted(rowsOf({ collaborative: true, cacheSize: 3 }))).toEqual([47, 48, 49]);
  });

  it('takes each item once when several recommenders propose it', () => {
    const world = { ...PROPOSED, latestRows: () => [10, 20], popularRows: () => [20, 10] };
    expect(sorted(rowsOf({ latest: true, popular: true }, world))).toEqual([10, 20]);
  });

  it('takes what the likes speak for in SLIM as collaborative too, the negative aside', () => {
    // Item 0 speaks for 60 and against 61; item 2, which the user did not like, for 62.
    const weights = new Map<number, [number, number][]>([
      [
        0,
        [
          [60, 0.2],
          [61, -0.1],
        ],
      ],
      [2, [[62, 0.3]]],
    ]);
    const slim = summedLists((row) => weights.get(row) ?? []);
    const parts = { als: scoredModel([0, 0.5]), slim, itemKnn: summedLists(() => [[70, 1]]) };
    const bySlim = ranking({ collaborative: 1, slim: 1 }, popularity());
    const world = { generation: generation({ ...parts, ranking: bySlim }) };
    const learned = { order: 'learned' } as const;
    expect(sorted(rowsOf({ ...learned, collaborative: true }, world))).toEqual([1, 60]);
    expect(rowsOf({ ...learned, latest: true }, world)).toBeUndefined();
    // What the ranking does not go by proposes nothing.
    const byOther = ranking({ collaborative: 1, item_knn: 1 }, popularity());
    const other = { generation: generation({ ...parts, ranking: byOther }) };
    expect(sorted(rowsOf({ ...learned, collaborative: true }, other))).toEqual([1, 70]);
  });

  it('makes no list when all recommenders are off, or none has anything', () => {
    expect(rowsOf({})).toBeUndefined();
    expect(rowsOf({ latest: true, popular: true }, {})).toBeUndefined();
    expect(rowsOf({ collaborative: true }, PROPOSED, STRANGER)).toBeUndefined();
  });

  it('takes nothing that was read or may not be listed', () => {
    const history = historyOf([{ item: 10, type: READ }, { item: 31 }]);
    const world = { ...PROPOSED, isListable: (row: number) => row !== 20 };
    const all = { latest: true, popular: true, item_based: true, user_based: true };
    expect(sorted(rowsOf(all, world, history))).toEqual([11, 21, 30, 40, 41]);
  });

  it('takes so many of each recommender as a list has entries', () => {
    const many = Array.from({ length: 30 }, (_, at) => at + 1);
    const world = { latestRows: () => many, isListable: (row: number) => row !== 1 };
    expect(rowsOf({ latest: true, cacheSize: 4 }, world)?.length).toBe(4);
    expect(sorted(rowsOf({ latest: true, cacheSize: 4 }, world))).toEqual([2, 3, 4, 5]);
  });

  it('takes fewer of each where these are twice as many as a list has entries', () => {
    const from = (row: number) => Array.from({ length: 9 }, (_, at) => row + at);
    const als = scoredModel(Array.from({ length: 40 }, (_, row) => row));
    const world = {
      generation: generation({ als, ranking: ranking({ collaborative: 1 }, popularity()) }),
      ...{ latestRows: () => from(1), popularRows: () => from(11), userBased: () => from(21) },
    };
    const few = { order: 'learned', latest: true, popular: true, cacheSize: 4, proposals: 3 } as const;
    expect(rowsOf({ ...few, user_based: true }, world)).toEqual([23, 22, 21, 13]);
    expect(rowsOf(few, world)).toEqual([14, 13, 12, 11]);
    // Of what a question asks for whole lists.
    const everything = { allowed: new Uint32Array(2).fill(0xffffffff), accepts: () => true };
    const views = () => [everything];
    const filter = {
      ...everything,
      views,
      members: undefined,
      isWide: true,
      boosted: (_: number, s: number) => s,
    };
    expect(make({ ...few, user_based: true }, world, FAN, filter)?.rows).toEqual([24, 23, 22, 21]);
  });

  it('looks for items like the latest likes, as many of them as configured', () => {
    const asked: number[] = [];
    const itemNeighbors = neighborLists((liked) => {
      asked.push(liked);
      return [[9, 1]];
    });
    const world = { generation: generation({ itemNeighbors }) };
    const history = historyOf([
      { item: 1, timeMs: 10 },
      { item: 2, timeMs: 30 },
      { item: 3, timeMs: 20 },
    ]);
    expect(rowsOf({ item_based: true, seedItems: 2 }, world, history)).toEqual([9]);
    expect(asked).toEqual([2, 3]);
  });
});

describe('ranking', () => {
  const scores = [0, 0.1, 0.9, 0.5, 0.3];
  const byModel = {
    latestRows: () => [1, 2, 3, 4],
    generation: generation({ als: scoredModel(scores) }),
  };

  it('orders by the collaborative score without a ranking model', () => {
    const list = make({ latest: true }, byModel, FAN)!;
    expect(list.rows).toEqual([2, 3, 4, 1]);
    expect(list.scores).toEqual([0.9, 0.5, 0.3, 0.1].map(Math.fround));
  });

  it('knows nothing by itself of a user without feedback, whatever a model remembers', () => {
    const click = {
      // The model remembers that the user at row 0 liked item 4 and its like.
      logits: (userRow: number, _labels: readonly string[], rows: readonly number[]) =>
        Float32Array.from(rows, (row) => (userRow === 0 ? row : -row)),
    };
    const world = {
      ...byModel,
      generation: generation({
        ...byModel.generation.parts,
        click,
        ranking: ranking({ click_through: 1 }, popularity()),
      }),
    };
    const first = (history = FAN) => make({ latest: true, order: 'learned' }, world, history)!.rows[0];
    expect(first(FAN)).toBe(4);
    expect(first(STRANGER)).not.toBe(4);
  });

  it('orders by the probability of positive feedback with one', () => {
    // The weight of ln(1 + positive feedback) alone is above 0: probability = 1 / (1 + 1 / (1 + count)).
    const counts = popularity({ scales: [[], [0, 3, 0, 1, 8]] });
    const world = {
      ...byModel,
      generation: { ...byModel.generation, ranking: ranking({ popular_12h: 1 }, counts) },
      popularity: counts,
    };
    const list = make({ latest: true, order: 'learned' }, world, FAN)!;
    expect(list.rows).toEqual([4, 1, 3, 2]);
    expect(list.scores[0]).toBeCloseTo(9 / 10, 12);
    expect(list.scores[1]).toBeCloseTo(4 / 5, 12);
    expect(list.scores[2]).toBeCloseTo(2 / 3, 12);
    expect(list.scores[3]).toBeCloseTo(1 / 2, 12);
    // The ranking model is not looked at when prediction is off.
    expect(make({ latest: true, order: 'collaborative' }, world, FAN)!.rows).toEqual([2, 3, 4, 1]);
  });

  it('brings up by itself what it goes by: the first of a popularity scale, the newest', () => {
    const counts = popularity({ scales: [[], [], [], [1, 1, 1]] });
    const als = scoredModel([0, 0.1, 0.2]);
    const world = {
      generation: generation({ als }),
      popularity: counts,
      trendingRows: (scale: number) => [[], [], [], [60, 61], [62]][scale] ?? [],
      latestRows: () => [70],
    };
    const rowsWith = (weights: Parameters<typeof ranking>[0], more: Partial<ListSettings> = {}, user = FAN) =>
      sorted(
        make(
          { collaborative: true, order: 'learned', ...more },
          { ...world, generation: generation({ als, ranking: ranking(weights, counts) }) },
          user,
        )?.rows,
      );
    expect(rowsWith({ collaborative: 1 })).toEqual([1, 2]);
    expect(rowsWith({ collaborative: 1, popular_7d: 1 })).toEqual([1, 2, 60, 61]);
    expect(rowsWith({ collaborative: 1, popular_7d: 1, popular_30d: -1, age: 1 })).toEqual([
      1, 2, 60, 61, 62, 70,
    ]);
    // Neither without prediction nor with all recommenders off.
    expect(rowsWith({ popular_7d: 1 }, { order: 'collaborative' })).toEqual([1, 2]);
    expect(rowsWith({ popular_7d: 1 }, { collaborative: false })).toBeUndefined();
    // Of somebody who has liked nothing the scales are all that there is to go by.
    expect(rowsWith({ collaborative: 1, popular_7d: 1 }, {}, STRANGER)).toEqual([60, 61]);
  });

  it('is a random order of the user and generation without either', () => {
    const world = { latestRows: () => Array.from({ length: 10 }, (_, at) => at) };
    const order = (userRow: number, seed = 1, number = 1) =>
      make({ latest: true, seed }, { ...world, generation: generation({ number }) }, historyOf([], userRow))!
        .rows;
    expect(sorted(order(0))).toEqual(world.latestRows());
    expect(order(0)).toEqual(order(0));
    expect(order(1)).not.toEqual(order(0));
    expect(order(0, 2)).not.toEqual(order(0));
    expect(order(0, 1, 2)).not.toEqual(order(0));
  });

  it('merges at random without preference: every item leads about as many lists as any other', () => {
    const firsts = new Map<number, number>();
    for (let user = 0; user < 3000; user++) {
      const [first] = make({ latest: true }, { latestRows: () => [0, 1, 2] }, historyOf([], user))!.rows;
      firsts.set(first!, (firsts.get(first!) ?? 0) + 1);
    }
    for (const row of [0, 1, 2]) expect(Math.abs(firsts.get(row)! - 1000)).toBeLessThan(120);
  });
});

describe('replacement', () => {
  const replacement = { positiveDecay: 0.8, readDecay: 0.6 };
  /** The user liked item 1 and only read item 2. */
  const reader = historyOf([
    { item: 1, type: LIKE },
    { item: 2, type: READ },
  ]);

  function replaced(
    scores: readonly number[],
    more: Partial<ListSettings> = {},
    world: Partial<ListInputs> = {},
  ) {
    const generationOf = generation({ als: scoredModel(scores) });
    return make(
      { collaborative: true, replacement, ...more },
      { generation: generationOf, ...world },
      reader,
    )!;
  }

  it('puts read items back with 0.8 of their score when they were liked, with 0.6 when only read', () => {
    // Item:          0    1    2    3    4
    const { rows, scores } = replaced([0.5, 1, 1, 0.7, 0.9]);
    expect(rows).toEqual([4, 1, 3, 2, 0]);
    for (const [at, score] of [0.9, 0.8, 0.7, 0.6, 0.5].entries()) expect(scores[at]).toBeCloseTo(score, 6);
  });

  it('makes a negative score so much lower, not higher', () => {
    const { rows, scores } = replaced([-1.3, -1, -1, -1.1, -1.5]);
    // -1 less 20 % is -1.2, less 40 % is -1.4.
    expect(rows).toEqual([3, 1, 0, 2, 4]);
    for (const [at, score] of [-1.1, -1.2, -1.3, -1.4, -1.5].entries())
      expect(scores[at]).toBeCloseTo(score, 6);
  });

  it('does not put back what may not be listed, and keeps the length', () => {
    expect(replaced([0.5, 1, 1, 0.7, 0.9], {}, { isListable: (row) => row !== 1 }).rows).toEqual([
      4, 3, 2, 0,
    ]);
    expect(replaced([0.5, 1, 1, 0.7, 0.9], { cacheSize: 3 }).rows).toEqual([4, 1, 3]);
  });

  it('leaves read items out when it is off', () => {
    expect(replaced([0.5, 1, 1, 0.7, 0.9], { replacement: undefined }).rows).toEqual([4, 3, 0]);
  });
});

describe('exploration', () => {
  const OWN = Array.from({ length: 20 }, (_, at) => at);
  const explored: Partial<ListInputs> = {
    generation: generation({ als: scoredModel(OWN.map((row) => 20 - row)) }),
    popularRows: () => Array.from({ length: 40 }, (_, at) => 100 + at),
    latestRows: () => Array.from({ length: 40 }, (_, at) => 200 + at),
    isListable: (row) => row < 20 || row >= 100,
  };

  function list(popular: number, latest: number, userRow = 0, cacheSize = 10) {
    const user = historyOf([{ item: 500 }], userRow);
    return make({ collaborative: true, cacheSize, explore: { popular, latest } }, explored, user)!;
  }

  it('is the popular list when all of it is to be popular, the latest when all is to be new', () => {
    expect(list(1, 0).rows).toEqual(OWN.slice(0, 10).map((at) => 100 + at));
    expect(list(0, 1).rows).toEqual(OWN.slice(0, 10).map((at) => 200 + at));
    expect(list(0, 0).rows).toEqual(OWN.slice(0, 10));
  });

  it('puts in the proportions that are configured, over many users', () => {
    const users = 1000;
    let popular = 0;
    let latest = 0;
    for (let user = 0; user < users; user++) {
      const { rows, scores } = list(0.3, 0.2, user);
      expect(rows).toHaveLength(10);
      expect(new Set(rows).size).toBe(10);
      for (let at = 1; at < 10; at++) expect(scores[at]!).toBeLessThanOrEqual(scores[at - 1]!);
      // The list's own entries keep their order.
      const own = rows.filter((row) => row < 100);
      expect(own).toEqual(sorted(own));
      popular += rows.filter((row) => row >= 100 && row < 200).length;
      latest += rows.filter((row) => row >= 200).length;
    }
    // The standard deviation of a share of 10,000 draws is below 0.005.
    expect(Math.abs(popular / (users * 10) - 0.3)).toBeLessThan(0.02);
    expect(Math.abs(latest / (users * 10) - 0.2)).toBeLessThan(0.02);
  });

  it('goes on with the own entries when nothing popular is left, and never repeats one', () => {
    const world = { ...explored, popularRows: () => [3, 1] };
    const user = historyOf([{ item: 500 }]);
    const found = make({ collaborative: true, explore: { popular: 1, latest: 0 } }, world, user)!;
    expect(found.rows).toEqual([3, 1, 0, 2, 4, 5, 6, 7, 8, 9]);
  });

  it('puts in nothing that was read or may not be listed', () => {
    const user = historyOf([{ item: 500 }, { item: 100, type: READ }]);
    const world = { ...explored, isListable: (row: number) => row !== 101 && row < 500 };
    const found = make(
      { collaborative: true, cacheSize: 3, explore: { popular: 1, latest: 0 } },
      world,
      user,
    )!;
    expect(found.rows).toEqual([102, 103, 104]);
  });
});

describe('new items', () => {
  /** Item 50 is new: thrice as like item 1 as it is like item 2. */
  const coldItems: ColdItems = {
    rows: Uint32Array.of(50),
    starts: Uint32Array.of(0, 2),
    likes: Uint32Array.of(1, 0),
    similarities: Float32Array.of(0.75, 0.25),
    knownRows: Uint32Array.of(2, 1),
  };
  const scores = [0.1, 1, 0.2, 0.79, 0.81];
  const parts = { coldItems, generation: generation({ als: scoredModel(scores) }) };

  it('get the mean of what they are like, weighted by how like they are', () => {
    // 0.75 * 1 + 0.25 * 0.2 = 0.8: between items 4 and 3. The user likes item 5.
    const { rows, scores: listed } = make({ collaborative: true }, parts, historyOf([{ item: 5 }]))!;
    expect(rows).toEqual([1, 4, 50, 3, 2, 0]);
    expect(listed[2]).toBeCloseTo(0.8, 6);
  });

  it('speak for the known items that they are like when they are liked', () => {
    const folded: number[][] = [];
    const model = {
      ...scoredModel(scores),
      foldIn: (liked: readonly number[]) => void folded.push([...liked]),
    };
    const world = { ...parts, generation: generation({ als: model }) };
    make({ collaborative: true }, world, historyOf([{ item: 50 }]));
    make({ collaborative: true }, world, historyOf([{ item: 5 }]));
    expect(folded).toEqual([[50, 1, 2], [5]]);
  });

  it('are judged by known items also when those were read', () => {
    const { rows } = make({ collaborative: true }, parts, historyOf([{ item: 1 }]))!;
    expect(rows).toEqual([4, 50, 3, 2, 0]);
  });

  it('are left out when they are read or may not be listed, and stand once and no lower when also proposed', () => {
    const read = historyOf([{ item: 5 }, { item: 50, type: READ }]);
    expect(make({ collaborative: true }, parts, read)!.rows).not.toContain(50);
    const hidden = { ...parts, isListable: (row: number) => row !== 50 };
    expect(make({ collaborative: true }, hidden, historyOf([{ item: 5 }]))!.rows).not.toContain(50);
    const both = { ...parts, latestRows: () => [50] };
    const proposed = make({ collaborative: true, latest: true }, both, historyOf([{ item: 5 }]))!;
    expect(proposed.rows).toEqual([1, 4, 50, 3, 2, 0]);
  });
});
