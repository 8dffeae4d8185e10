// Two rankings of a world of known taste, for prove:experiments: the first is the second with a mistake more.
import { parseConfig } from '../src/config/config.ts';
import type { Random } from '../src/domain/random.ts';
import { editionOf } from '../src/recommend/placements/experiment-split.ts';
import { exploreList } from '../src/recommend/placements/explored-list.ts';
import { packChosen, packRanks } from '../src/recommend/placements/list-plan.ts';
import { teamDraft } from '../src/recommend/placements/team-draft.ts';
import type { SeenList } from '../src/shown/attribution.ts';
import { PairedSums } from '../src/shown/paired-sums.ts';
import { ArmSums } from '../src/shown/statistics/arm-sums.ts';
import { compareArms } from '../src/shown/statistics/compare-arms.ts';

const PLACES = 10;
const ITEMS = 30;
/** Standard deviations of what both rankings get wrong of the logarithm of an item's attraction, and the first beside it. */
const MISTAKE = 0.7;
const MISTAKE_OF_FIRST = 0.4;
const POOL = 8;
const EXPLORED = 0.1;
const NOW_MS = Date.UTC(2026, 1, 1);
const LIST_MS = Date.UTC(2026, 0, 10);
const LOOK_USERS = 60;
/** Users with whom an experiment that has not decided is given up. */
const USERS_MAX = 200_000;

/** What one user finds: attractions of items, and both rankings' lists. */
interface Visit {
  readonly activity: number;
  readonly past: number;
  readonly attractions: readonly number[];
  readonly lists: readonly [number[], number[]];
}

function visit(random: Random, poisson: (random: Random, mean: number) => number): Visit {
  const activity = Math.exp(0.8 * random.normal() - 0.32);
  const attractions = Array.from({ length: ITEMS + POOL }, () =>
    Math.min(0.6, 0.06 * Math.exp(0.8 * random.normal())),
  );
  const second = attractions.slice(0, ITEMS).map((each) => Math.log(each) + MISTAKE * random.normal());
  const first = second.map((score) => score + MISTAKE_OF_FIRST * random.normal());
  const lists = [ranked(first), ranked(second)] as const;
  return { activity, past: poisson(random, 2 * activity), attractions, lists };
}

function ranked(scores: readonly number[]): number[] {
  const items = scores.map((_, item) => item);
  return items.sort((a, b) => scores[b]! - scores[a]!).slice(0, PLACES);
}

/** Chance that the user takes the item at the place, from 0. */
function chanceOf({ attractions, activity }: Visit, item: number, at: number): number {
  return Math.min(1, (activity * attractions[item]!) / Math.sqrt(at + 1));
}

function expected(seen: Visit, rows: readonly number[]): number {
  return rows.reduce((sum, item, at) => sum + chanceOf(seen, item, at), 0);
}

function settingsOf(method: 'interleave' | 'estimate', planUsers: number) {
  const { experiment } = parseConfig(`
    [placement.home]
    explore = ${EXPLORED}
    [experiment.x]
    placement = "home"
    method = "${method}"
    counts = "feedback"
    plan_users = ${planUsers}
    variants = [{ name = "a", share = 0.5 }, { name = "b", share = 0.5 }]`);
  return experiment.x!;
}

/** What a user sees and does, as it is worked out from the log. */
function seenList(
  random: Random,
  seen: Visit,
  rows: readonly number[],
  variant: string,
  edition: string,
  plan: string,
): SeenList {
  const took = rows.filter((item, at) => random.float() < chanceOf(seen, item, at));
  return {
    ...{ placement: 'home', variant, edition, plan, timeMs: LIST_MS, shownMs: LIST_MS },
    seen: new Map(rows.map((row, at) => [row, { place: at + 1, lastMs: LIST_MS }])),
    outcomes: took.map((itemRow) => ({
      itemRow,
      type: 'click',
      kind: 'click',
      timeMs: LIST_MS + 1000,
      isNamed: true,
    })),
  };
}

type Poisson = (random: Random, mean: number) => number;

/** Users until it is certain which ranking is better, by splitting users and by interleaving; and how often it was the right one. */
export function raceRankings(random: Random, poisson: Poisson, experiments: number) {
  let lift = 0;
  for (let user = 0; user < 50_000; user++) {
    const seen = visit(random, poisson);
    lift += expected(seen, seen.lists[1]) / expected(seen, seen.lists[0]) / 50_000;
  }
  const totals = { split: 0, interleaved: 0, right: 0, wrong: 0 };
  const settings = settingsOf('interleave', 1000);
  const edition = editionOf('x', settings);
  for (let experiment = 0; experiment < experiments; experiment++) {
    const arms = [new ArmSums(), new ArmSums()] as const;
    for (let users = LOOK_USERS; users < USERS_MAX; users += LOOK_USERS) {
      for (let user = 0; user < LOOK_USERS; user++) {
        const seen = visit(random, poisson);
        const list = seenList(random, seen, seen.lists[user % 2]!, '', edition, '');
        arms[user % 2]!.add(list.outcomes.length, seen.past);
      }
      const { difference, halfWidth } = compareArms(...arms, { alpha: 0.05, planUsers: 20_000 });
      totals.split += LOOK_USERS;
      if (Math.abs(difference) > halfWidth) break;
    }
    const sums = new PairedSums('x', settings, NOW_MS);
    for (let users = LOOK_USERS; users < USERS_MAX; users += LOOK_USERS) {
      for (let user = 0; user < LOOK_USERS; user++) {
        const seen = visit(random, poisson);
        const rows = teamDraft(...seen.lists, PLACES, random);
        sums.add(
          [seenList(random, seen, rows, 'a+b', edition, packRanks(rows, ...seen.lists))],
          [],
          new Map(),
        );
      }
      totals.interleaved += LOOK_USERS;
      const { State, Winner } = sums.outcome;
      if (State !== 'decided') continue;
      totals[Winner === 'b' ? 'right' : 'wrong']++;
      break;
    }
  }
  const { split, interleaved, right, wrong } = totals;
  return { lift: lift - 1, split: split / experiments, interleaved: interleaved / experiments, right, wrong };
}

/** Interleaving of two rankings that make the same mistakes, looked at often: the share of experiments that ever name a winner. */
export function interleaveSame(random: Random, poisson: Poisson, experiments: number, looks: number): number {
  const settings = settingsOf('interleave', 10_000);
  const edition = editionOf('x', settings);
  let named = 0;
  for (let experiment = 0; experiment < experiments; experiment++) {
    const sums = new PairedSums('x', settings, NOW_MS);
    for (let look = 0; look < looks; look++) {
      for (let user = 0; user < LOOK_USERS; user++) {
        const seen = visit(random, poisson);
        const swapped = random.float() < 0.5;
        const [first, second] = swapped ? [seen.lists[1], seen.lists[0]] : seen.lists;
        const rows = teamDraft(first, second, PLACES, random);
        sums.add(
          [seenList(random, seen, rows, 'a+b', edition, packRanks(rows, first, second))],
          [],
          new Map(),
        );
      }
      if (sums.outcome.State !== 'decided') continue;
      named++;
      break;
    }
  }
  return named / experiments;
}

/** Estimates of a ranking that is not shown: how often the truth lies within the intervals, and how often nothing was said. */
export function estimateUnseen(random: Random, poisson: Poisson, runs: number, users: number) {
  const settings = settingsOf('estimate', users);
  const edition = editionOf('x', settings);
  const pool = Array.from({ length: POOL }, (_, at) => ({ row: ITEMS + at, share: 1 / POOL }));
  const shown = (seen: Visit) =>
    exploreList({
      ...{ rows: seen.lists[0], other: seen.lists[1], isFree: () => true, pool, share: EXPLORED, random },
    });
  let [own, other] = [0, 0];
  const trials = 200_000;
  for (let trial = 0; trial < trials; trial++) {
    const seen = visit(random, poisson);
    own += expected(seen, shown(seen).rows) / trials;
    other += expected(seen, seen.lists[1]) / trials;
  }
  const held = { robust: 0, normalized: 0, said: 0, width: 0 };
  for (let run = 0; run < runs; run++) {
    const sums = new PairedSums('x', settings, NOW_MS);
    for (let user = 0; user < users; user++) {
      const seen = visit(random, poisson);
      const { rows, chosen } = shown(seen);
      sums.add([seenList(random, seen, rows, 'a', edition, packChosen(chosen))], [], new Map());
    }
    const { Variants, Estimate } = sums.outcome;
    const { Low, High } = Variants[1]!;
    const normalized = Estimate?.Normalized;
    if (Low === undefined || High === undefined || normalized === undefined) continue;
    held.said++;
    held.width += (High - Low) / 2 / own;
    if (Low <= other - own && other - own <= High) held.robust++;
    if (normalized.Low <= other && other <= normalized.High) held.normalized++;
  }
  const { robust, normalized, said, width } = held;
  return {
    difference: other / own - 1,
    said: said / runs,
    robust: robust / said,
    normalized: normalized / said,
    width: width / said,
  };
}
