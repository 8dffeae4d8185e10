import { describe, expect, it } from 'vitest';
import {
  kindOf,
  looksAt,
  RANKING_FEATURES,
  type RankingFeature,
  scalesOf,
  withDiscovery,
} from '../../src/recommend/models/feature-names.ts';
import { LikeSums, writeSumFeature } from '../../src/recommend/models/like-sums.ts';
import { rankingFeatures } from '../../src/recommend/ranking/compute-features.ts';
import { KeptItemScores } from '../../src/recommend/ranking/kept-item-scores.ts';
import { rankCandidates } from '../../src/recommend/ranking/rank-candidates.ts';
import { generation, popularity, ranking, scoredModel, summedLists, world } from './hand-made.ts';

const DAY_MS = 86_400_000;
const case3 = {
  candidates: [2, 0, 7],
  userRow: 4,
  kind: 3,
  userLabels: () => ['tall'],
  vector: Float32Array.of(1),
};
const counts = popularity({
  scales: [[], [0, 0, 1], [2, 0, 3], [], [], [], [4, 0, 5]],
  asOfMs: 100 * DAY_MS,
});
const totals = counts.scales.map(({ total }) => total);
/** Item 2 came three days before the newest feedback, item 0 after it, item 7 at no known time. */
const timestampMsAt = (row: number) => [101 * DAY_MS, 0, 97 * DAY_MS][row] ?? Number.NaN;

/** Log-odds: the item's row, plus 100 for a user with the label `tall`, less the user's row. */
const click = {
  logits: (userRow: number, labels: readonly string[], rows: readonly number[]) =>
    Float32Array.from(rows, (row) => row + (labels.includes('tall') ? 100 : 0) - userRow),
};
const full = generation({ als: scoredModel([0.5, 0, 0.25]), click });

/** The features that are not 0 of each candidate, by name. */
function table(features: Float64Array): Record<string, number>[] {
  const width = RANKING_FEATURES.length;
  return Array.from({ length: features.length / width }, (_, at) =>
    Object.fromEntries(
      RANKING_FEATURES.map((name, feature) => [name, features[at * width + feature]!] as const).filter(
        ([, value]) => value !== 0,
      ),
    ),
  );
}

describe('the features of candidates', () => {
  it('are the scores, the logarithms of the counts on each scale, and the age', () => {
    expect(
      table(rankingFeatures(case3, world({ generation: full, popularity: counts, timestampMsAt }), totals)),
    ).toEqual([
      {
        collaborative: 0.25,
        click_through: 98,
        popular_12h: Math.log1p(1),
        popular_2d: Math.log1p(3),
        popular_ever: Math.log1p(5),
        age: Math.log1p(3),
      },
      { collaborative: 0.5, click_through: 96, popular_2d: Math.log1p(2), popular_ever: Math.log1p(4) },
      // Item 7 came after the model and the counts.
      { click_through: 103, age: Math.log1p(3650) },
    ]);
  });

  it('count feedback as shares: half as much of everything is the same', () => {
    const busy = world({ popularity: counts, timestampMsAt });
    const quiet = world({
      popularity: popularity({
        scales: [[], [0, 0, 0.5], [1, 0, 1.5], [], [], [], [2, 0, 2.5]],
        asOfMs: 100 * DAY_MS,
      }),
      timestampMsAt,
    });
    expect(rankingFeatures(case3, quiet, totals)).toEqual(rankingFeatures(case3, busy, totals));
  });

  it('hold the sum of what the likes of the user speak for', () => {
    const slim = summedLists((row) =>
      row === 1
        ? [
            [7, 0.5],
            [0, -0.25],
          ]
        : [[7, 0.125]],
    );
    const itemKnn = summedLists((row) => [[2, row]]);
    const sums = new LikeSums();
    const feature = (name: RankingFeature) =>
      table(rankingFeatures({ ...case3, sums }, world(), totals)).map((row) => row[name] ?? 0);
    sums.sumUp({ slim, itemKnn }, [1, 5], ['slim', 'item_knn']);
    expect(feature('slim')).toEqual([0, -0.25, 0.625]);
    expect(feature('item_knn')).toEqual([Math.log1p(20), 0, 0]);
    sums.sumUp({ slim, itemKnn }, [1, 5], ['slim']);
    expect(feature('item_knn')).toEqual([0, 0, 0]);
    sums.sumUp({ slim, itemKnn }, [], ['slim']);
    expect(feature('slim')).toEqual([0, 0, 0]);
  });

  it('count a recent like more in the recent sequence, as a share of the largest', () => {
    const sequence = summedLists((row) => [[row + 1, 1]]);
    const sums = new LikeSums();
    // Item 1 speaks for 2 and was liked last; item 6 for 7, five likes before.
    sums.sumUp({ sequence }, [1, 11, 11, 11, 11, 6], ['sequence', 'sequence_recent']);
    expect(sums.of('sequence')!.get(2)).toBe(1);
    expect(sums.of('sequence')!.get(7)).toBe(1);
    expect(sums.of('sequence_recent')!.get(2)).toBe(1);
    expect(sums.of('sequence_recent')!.get(7)).toBe(0.5);
    const largest = sums.of('sequence_recent')!.get(12);
    const features = new Float64Array(2);
    writeSumFeature('sequence_recent', sums.of('sequence_recent')!, [7, 99], features);
    expect([...features]).toEqual([Math.log1p((20 * 0.5) / largest), 0]);
    expect(sums.of('slim')).toBeUndefined();
  });

  it('are 0 where a model is missing, or the user has no vector', () => {
    const names = (one: typeof case3 | { vector: undefined }, parts = {}) =>
      table(rankingFeatures({ ...case3, ...one }, world(parts), totals)).flatMap(Object.keys);
    expect(new Set(names(case3))).toEqual(new Set(['age']));
    const collaborative = generation({ als: scoredModel([0.5, 0, 0.25]) });
    expect(names({ vector: undefined }, { generation: collaborative })).not.toContain('collaborative');
  });

  it('are worked out only where they are used', () => {
    const only = (feature: number) => RANKING_FEATURES[feature] === 'popular_2d';
    const some = rankingFeatures(
      case3,
      world({ generation: full, popularity: counts, timestampMsAt }),
      totals,
      only,
    );
    expect(table(some)).toEqual([{ popular_2d: Math.log1p(3) }, { popular_2d: Math.log1p(2) }, {}]);
  });
});

describe('ranking', () => {
  it('is the logistic function of the weighted features', () => {
    const byThree = ranking({ collaborative: 2, click_through: 0.01, popular_12h: 1 }, counts, -1);
    const ranked = world({ generation: { ...full, ranking: byThree }, popularity: counts });
    const [item2, item0, item7] = rankCandidates(case3, ranked, 'learned', 1);
    const probability = (logit: number) => 1 / (1 + Math.exp(-logit));
    expect(item2).toBeCloseTo(probability(-1 + 2 * 0.25 + 0.98 + Math.LN2), 12);
    expect(item0).toBeCloseTo(probability(-1 + 2 * 0.5 + 0.96), 12);
    expect(item7).toBeCloseTo(probability(-1 + 1.03), 12);
  });

  it('goes by what was learned for the kind of the user', () => {
    const byScore = ranking({ collaborative: 1 }, counts);
    const byCount = ranking({ popular_2d: 1 }, counts).byKind[0]!;
    const known = { ...byScore, byKind: byScore.byKind.with(case3.kind + 1, byCount) };
    const asked = world({ generation: { ...full, ranking: known }, popularity: counts });
    const best = (kind: number) => {
      const scores = rankCandidates({ ...case3, kind }, asked, 'learned', 1);
      return case3.candidates[scores.indexOf(Math.max(...scores))];
    };
    expect(best(case3.kind)).toBe(0);
    expect(best(case3.kind + 1)).toBe(2);
  });

  it('is the same where scores of items are kept, though many share a place, for each kind, until they are cleared', () => {
    const byCount = ranking({ collaborative: 1, popular_2d: 0.7, popular_ever: 0.3, age: -0.1 }, counts);
    const byAge = ranking({ age: -1 }, counts).byKind[0]!;
    const known = { ...byCount, byKind: byCount.byKind.with(case3.kind + 1, byAge) };
    const asked = world({ generation: { ...full, ranking: known }, popularity: counts, timestampMsAt });
    for (const kept of [new KeptItemScores(1), new KeptItemScores(64)]) {
      const scores = (more: object, kind = case3.kind) =>
        rankCandidates({ ...case3, kind }, { ...asked, ...more }, 'learned', 1);
      for (let round = 0; round < 2; round++)
        for (const kind of [case3.kind, case3.kind + 1])
          expect(scores({ kept }, kind)).toEqual(scores({}, kind));
      const later = { popularity: { ...counts, asOfMs: 200 * DAY_MS } };
      kept.clear();
      expect(scores({ kept, ...later })).toEqual(scores(later));
      expect(scores(later)).not.toEqual(scores({}));
    }
  });

  it('turns from what is popular to what is the person’s own as far as it is told', () => {
    const both = ranking({ collaborative: 2, popular_2d: 1, age: -1 }, counts);
    const own = withDiscovery(both, 0.75)!;
    const withoutLikes = [kindOf(0, 0), kindOf(0, Number.POSITIVE_INFINITY)];
    for (const kind of withoutLikes) expect(own.byKind[kind]).toBe(both.byKind[kind]);
    const weightsBy = (name: RankingFeature) =>
      [own, ...own.byKind.filter((_, kind) => !withoutLikes.includes(kind))].map(
        ({ weights }) => weights[RANKING_FEATURES.indexOf(name)],
      );
    expect(new Set(weightsBy('popular_2d'))).toEqual(new Set([0.25]));
    expect(new Set(weightsBy('collaborative'))).toEqual(new Set([2]));
    expect(new Set(weightsBy('age'))).toEqual(new Set([-1]));
    expect(withDiscovery(both, 0)).toBe(both);
    expect(scalesOf(withDiscovery(both, 1)!)).toEqual([]);
    expect(withDiscovery(own, 0)).toBe(both);
    expect(withDiscovery(own, 0.5)).toEqual(withDiscovery(both, 0.5));
    expect(withDiscovery(both, 'auto')).toBe(both);
    const chosen = { ...both, discoveries: both.byKind.map((_, kind) => (kind === 3 ? 0.75 : 0)) };
    const byItself = withDiscovery(chosen, 'auto')!;
    expect(byItself.byKind[3]).toEqual(own.byKind[3]);
    expect(byItself.byKind.toSpliced(3, 1)).toEqual(both.byKind.toSpliced(3, 1));
    expect(byItself.weights).toEqual(both.weights);
    expect(withDiscovery(byItself, 0)).toBe(chosen);
  });

  it('tells what it looks at', () => {
    const some = ranking({ popular_2d: 1, popular_ever: -1, age: 0.5 }, counts);
    expect(scalesOf(some)).toEqual([2, 6]);
    expect(looksAt(some, ['age'])).toBe(true);
    expect(looksAt(some, ['collaborative', 'slim'])).toBe(false);
  });

  it('falls back to the collaborative score, then to a seeded random order', () => {
    const collaborative = world({ generation: generation({ als: scoredModel([0.5, 0, 0.25]) }) });
    expect([...rankCandidates(case3, collaborative, 'learned', 1)]).toEqual([0.25, 0.5, 0]);
    const noVector = { ...case3, vector: undefined };
    const random = rankCandidates(noVector, collaborative, 'learned', 1);
    expect(new Set(random).size).toBe(3);
    expect(random.every((score) => score >= 0 && score < 1)).toBe(true);
    expect(rankCandidates(noVector, collaborative, 'learned', 1)).toEqual(random);
    expect(rankCandidates(noVector, collaborative, 'learned', 2)).not.toEqual(random);
  });

  it('goes by the collaborative score, or by chance, where that is asked for', () => {
    const byThree = ranking({ click_through: 1 }, counts, -1);
    const all = world({ generation: { ...full, ranking: byThree }, popularity: counts });
    expect([...rankCandidates(case3, all, 'collaborative', 1)]).toEqual([0.25, 0.5, 0]);
    const random = rankCandidates(case3, all, 'random', 1);
    expect(random).not.toEqual(rankCandidates(case3, all, 'random', 2));
    // An item's place hangs on nothing but itself, so that one that joins later finds its own.
    const reversed = { ...case3, candidates: [...case3.candidates].reverse() };
    expect([...rankCandidates(reversed, all, 'random', 1)].reverse()).toEqual([...random]);
  });
});
