import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { getOrPut } from '../../src/domain/get-or-put.ts';
import { editionOf } from '../../src/recommend/placements/experiment-split.ts';
import { packChosen, packRanks } from '../../src/recommend/placements/list-plan.ts';
import type { SeenList } from '../../src/shown/attribution.ts';
import { PairedSums } from '../../src/shown/paired-sums.ts';

const LIST_MS = Date.UTC(2026, 0, 10);
const NOW_MS = LIST_MS + 48 * 3_600_000;

const configured = new Map<string, ReturnType<typeof parsed>>();
const settingsOf = (method: string) => getOrPut(configured, method, () => parsed(method));

function parsed(method: string) {
  const { experiment } = parseConfig(`
    [placement.home]
    explore = 0.1
    [experiment.x]
    placement = "home"
    method = "${method}"
    measure = "like"
    counts = "feedback"
    variants = [{ name = "now", share = 0.5 }, { name = "new", share = 0.5, override = { length = 5 } }]`);
  return experiment.x!;
}

/** A list of rows, of which the user likes some. */
function list(method: string, rows: number[], liked: number[], plan: string): SeenList {
  const variant = method === 'estimate' ? 'now' : 'now+new';
  const seen = new Map(rows.map((row, at) => [row, { place: at + 1, lastMs: LIST_MS }]));
  const outcomes = liked.map((itemRow) => ({
    ...{ itemRow, type: 'like', kind: 'like', timeMs: LIST_MS + 1000, isNamed: true },
  }));
  const edition = editionOf('x', settingsOf(method));
  return { placement: 'home', variant, edition, plan, timeMs: LIST_MS, shownMs: LIST_MS, seen, outcomes };
}

describe('interleaving', () => {
  const sums = () => new PairedSums('x', settingsOf('interleave'), NOW_MS);
  const plan = packRanks([1, 2, 3], [1, 3, 9], [2, 3, 8]);

  it('credits each ranking with what it has, less what the place brings anyway', () => {
    const of = sums();
    // Likes of all three places as often: what stands at a place matters then, and the rates of places are the same.
    for (let user = 0; user < 900; user++)
      of.add(
        [list('interleave', [1, 2, 3], user % 3 === 0 ? [1 + ((user / 3) % 3)] : [], plan)],
        [],
        new Map(),
      );
    const { Variants, State, Measure } = of.outcome;
    expect(Measure).toBe('like of what one of the two chose, a list');
    expect(Variants.map(({ Users, Seen }) => [Users, Seen])).toEqual([
      [900, 900],
      [900, 900],
    ]);
    // Place 1 is the first's alone, place 2 the second's alone: each brings all of its credit, but the places explain all.
    expect(Variants[1]!.Difference).toBeCloseTo(0, 2);
    expect(State).toBe('open');
  });

  it('names the better one, whichever place its items had', () => {
    const of = sums();
    for (let user = 0; user < 2000; user++) {
      const isTurned = user % 2 === 1;
      const rows = isTurned ? [2, 1, 3] : [1, 2, 3];
      const liked = user % 5 === 0 ? [2] : user % 7 === 0 ? [1] : [];
      of.add([list('interleave', rows, liked, packRanks(rows, [1, 3, 9], [2, 3, 8]))], [], new Map());
    }
    const { State, Winner, Sentence } = of.outcome;
    expect([State, Winner]).toEqual(['decided', 'new']);
    expect(Sentence).toMatch(/^new does better than now by \d+ % \(\d+ to \d+\)\.$/);
  });

  it('counts no list of after the horizon, of which no result would count', () => {
    const [of, ofMore] = [sums(), sums()];
    const later = { timeMs: LIST_MS + 30 * 3_600_000, shownMs: LIST_MS + 30 * 3_600_000 };
    for (let user = 0; user < 900; user++) {
      const first = list('interleave', [1, 2, 3], user % 3 === 0 ? [2] : [], plan);
      of.add([first], [], new Map());
      ofMore.add([first, { ...first, ...later, outcomes: [] }], [], new Map());
    }
    expect(of.outcome.Variants[1]!.Mean).toBeGreaterThan(0);
    expect(ofMore.outcome).toEqual(of.outcome);
  });

  it('says nothing of few users, of other editions and of lists without a plan', () => {
    const of = sums();
    for (let user = 0; user < 99; user++) of.add([list('interleave', [1, 2], [2], plan)], [], new Map());
    of.add([{ ...list('interleave', [1, 2], [2], plan), edition: 'other' }], [], new Map());
    of.add([list('interleave', [1, 2], [2], '')], [], new Map());
    expect(of.outcome).toMatchObject({ State: 'too early', Variants: [{ Users: 99, Seen: 100 }, {}] });
  });
});

describe('an estimate', () => {
  /** The other ranking has `2` first, which is shown there to one in ten. */
  const plan = (isOther: boolean) =>
    packChosen([
      { chance: isOther ? 0.1 : 0.9, isOther, isNever: false },
      { chance: 1, isOther: true, isNever: false },
    ]);

  function filled(users: number, never = false): PairedSums {
    const of = new PairedSums('x', settingsOf('estimate'), NOW_MS);
    for (let user = 0; user < users; user++) {
      const isOther = user % 10 === 0;
      // Item 2 is liked by half of those who see it, item 1 by one in five.
      const isLiked = isOther ? user % 20 === 0 : user % 5 === 1;
      const unseen = packChosen([
        { chance: 1, isOther: false, isNever: true },
        { chance: 1, isOther: true, isNever: false },
      ]);
      const rows = isOther ? [2, 5] : [1, 5];
      of.add(
        [list('estimate', rows, isLiked ? [rows[0]!] : [], never ? unseen : plan(isOther))],
        [],
        new Map(),
      );
    }
    return of;
  }

  it('tells what a ranking would have come to that most were not shown', () => {
    const { Variants, Estimate, State, Winner } = filled(5000).outcome;
    const [now, other] = Variants;
    // What is shown: 0.9 of 2 in 9, and 0.1 of a half. The other: a half.
    expect(now!.Mean).toBeCloseTo(0.25, 2);
    expect(other!.Mean).toBeCloseTo(0.5, 1);
    expect(other!.Low!).toBeLessThan(0.25);
    expect(other!.High!).toBeGreaterThan(0.25);
    expect(Estimate!.Normalized!.Mean).toBeCloseTo(0.5, 1);
    expect(Estimate!.EffectiveEntries).toBeGreaterThan(1000);
    expect([State, Winner]).toEqual(['decided', 'new']);
  });

  it('is refused where too little tells of it', () => {
    const { State, Sentence, Variants, Estimate } = filled(400).outcome;
    expect([State, Variants[1]!.Low, Estimate!.Normalized]).toEqual(['too early', undefined, undefined]);
    expect(Sentence).toMatch(/^Too early to tell of new: what was shown tells as much of it as \d+ entries/);
  });

  it('is refused where it has items that are never shown', () => {
    const { State, Sentence } = filled(5000, true).outcome;
    expect(State).toBe('too early');
    expect(Sentence).toBe(
      'Nothing can be said of new: at 50 % of its places stand items that are never shown there.',
    );
  });
});
