// npm run prove:experiments -- --experiments N: the statistics of experiments on simulated users whose truth is known.
import { createRandom, type Random } from '../src/domain/random.ts';
import { ArmSums } from '../src/shown/statistics/arm-sums.ts';
import { compareArms, isSplitWrong, type SequenceRules } from '../src/shown/statistics/compare-arms.ts';
import { runBehindHttp } from './experiments-behind-http.ts';
import { runProof } from './run-proof.ts';
import { estimateUnseen, interleaveSame, raceRankings } from './two-rankings.ts';

/** Two weeks, looked at every hour. */
const LOOKS = 14 * 24;
const USERS_A_LOOK = 60;
const LIFT = 1.05;
const RULES: SequenceRules = { alpha: 0.05, planUsers: 10_000 };
/** Of the normal distribution: 5 % on two sides, a power of 80 %. */
const FIXED_QUANTILES = 1.96 + 0.8416;
const USERS_RATIO_MAX = 1.3;
/** Of a fixed size: a run that has not decided by then never does here. */
const PATIENCE = 10;

/** Users of a measure, each with a taste of its own that the past tells of; `lift` multiplies what comes on the mean. */
interface Measure {
  readonly name: string;
  readonly taste: (random: Random) => number;
  readonly outcome: (random: Random, rate: number) => number;
  /** Mean of the outcome without a lift. */
  readonly mean: number;
}

/** Of whom one in 500 does a hundred times as much as the others. */
const FEW_HEAVY: Measure = {
  name: 'clicks a user of whom few are heavy',
  taste: (random) => (random.float() < 0.002 ? 100 : 0.8),
  outcome: (random, rate) => poisson(random, 0.5 * rate),
  mean: 0.5,
};

const spread = (random: Random) => 0.2 + 1.6 * random.float();
const MEASURES: readonly Measure[] = [
  {
    name: 'clicks a user',
    taste: (random) => Math.exp(0.8 * random.normal() - 0.32),
    outcome: (random, rate) => poisson(random, 0.5 * rate),
    mean: 0.5,
  },
  {
    name: 'users who buy',
    taste: spread,
    outcome: (random, rate) => Number(random.float() < 0.05 * rate),
    mean: 0.05,
  },
  {
    name: 'value a user',
    taste: spread,
    outcome: (random, rate) => (random.float() < 0.1 * rate ? Math.exp(random.normal()) : 0),
    mean: 0.1 * Math.exp(0.5),
  },
];

await runProof('experiments', 1000, async ({ amount, seed, folder }) => {
  const random = createRandom(seed);
  const lines: string[] = [];
  let holds = true;
  const note = (isRight: boolean, line: string) => {
    holds &&= isRight;
    lines.push(line);
    console.log(`${isRight ? 'holds ' : 'FAILS '} ${line}`);
  };
  for (const measure of MEASURES) {
    const same = lookAt(random, measure, 1, amount);
    note(
      same.everWrong <= 0.05,
      `A/A, ${measure.name}: ${percent(same.everWrong)} ever significant at any of ${LOOKS} looks`,
    );
    const better = lookAt(random, measure, LIFT, amount);
    note(
      better.leastCoverage >= 0.95,
      `+5 %, ${measure.name}: at the worst look ${percent(better.leastCoverage)} of the intervals hold the truth, at all looks ${percent(1 - better.everWrong)}`,
    );
  }
  for (const measure of [FEW_HEAVY, MEASURES[2]!])
    for (const share of [0.1, 0.9]) {
      const uneven = lookAt(random, measure, 1, amount, share);
      note(
        uneven.everWrong <= 0.05,
        `A/A, ${percent(share)} of the users in one, ${measure.name}: ${percent(uneven.everWrong)} ever significant`,
      );
    }
  const { ratio, found } = findLift(random, MEASURES[0]!, Math.max(200, amount / 2));
  note(
    ratio <= USERS_RATIO_MAX && found >= 0.8,
    `+5 %, ${MEASURES[0]!.name}: found in ${percent(found)}, on the mean with ${ratio.toFixed(2)} times the users of a fixed size with a power of 80 %`,
  );
  proveRankings(random, amount, note);
  const wrong = splitsNamed(random, 0.53, amount);
  const right = splitsNamed(random, 0.5, amount);
  note(wrong >= 0.95, `a split of 53 to 47 that is to be even is named in ${percent(wrong)}`);
  note(right <= 0.005, `an even split is named in ${percent(right)}`);
  const behind = Math.max(10, amount / 50);
  const {
    wrong: wrongBehind,
    found: foundBehind,
    unequal,
    users,
  } = await runBehindHttp(random, behind, folder);
  note(
    unequal === 0 && wrongBehind <= Math.max(2, 0.15 * behind) && foundBehind >= 0.3 * behind,
    `behind HTTP, ${behind} experiments of ${users} users in all, half of them A/A: intervals of ${wrongBehind} were ever wrong at a daily look, ${foundBehind} of the better variants were found, and ${unequal} sums were others than what users did`,
  );
  return { line: `${lines.length} statements on ${amount} experiments each`, holds };
});

/** Interleaving beside a split of users, and estimates of a ranking that nobody is shown. */
function proveRankings(random: Random, amount: number, note: (isRight: boolean, line: string) => void): void {
  const race = raceRankings(random, poisson, Math.max(5, amount / 50));
  note(
    race.interleaved <= race.split / 10 && race.wrong <= 0.05 * race.right,
    `a ranking that is ${percent(race.lift)} better: interleaving decides with ${Math.round(race.interleaved)} users on the mean, splitting with ${Math.round(race.split)}; ${race.right} rightly, ${race.wrong} wrongly`,
  );
  const same = interleaveSame(random, poisson, Math.max(20, amount / 5), 50);
  note(same <= 0.05, `interleaving of two that are as good: ${percent(same)} ever name a winner`);
  const unseen = estimateUnseen(random, poisson, Math.max(20, amount / 5), 6000);
  note(
    unseen.robust >= 0.95 && unseen.normalized >= 0.95,
    `a ranking that is not shown, ${percent(unseen.difference)} better: ${percent(unseen.robust)} of the doubly robust intervals hold the truth (half a width ${percent(unseen.width)}) and ${percent(unseen.normalized)} of the normalized ones; something was said in ${percent(unseen.said)}`,
  );
}

/** Watches experiments at every look. */
function lookAt(random: Random, measure: Measure, lift: number, experiments: number, share = 0.5) {
  const truth = measure.mean * (lift - 1);
  const covered = new Uint32Array(LOOKS);
  let everWrong = 0;
  for (let experiment = 0; experiment < experiments; experiment++) {
    const arms = [new ArmSums(), new ArmSums()] as const;
    let isWrong = false;
    for (let look = 0; look < LOOKS; look++) {
      for (let user = 0; user < USERS_A_LOOK; user++) enroll(random, measure, arms, lift, share);
      const { difference, halfWidth } = compareArms(...arms, RULES);
      if (Math.abs(difference - truth) <= halfWidth) covered[look]!++;
      else isWrong = true;
    }
    if (isWrong) everWrong++;
  }
  return { everWrong: everWrong / experiments, leastCoverage: Math.min(...covered) / experiments };
}

/** Users until a lift is certain, beside those of a test of fixed size. */
function findLift(random: Random, measure: Measure, experiments: number) {
  const pilot = [new ArmSums(), new ArmSums()] as const;
  for (let user = 0; user < 200_000; user++) enroll(random, measure, pilot, LIFT);
  const { deviation } = compareArms(...pilot, RULES);
  const fixed = ((FIXED_QUANTILES * deviation) / (measure.mean * (LIFT - 1))) ** 2;
  const rules = { ...RULES, planUsers: fixed };
  let users = 0;
  let found = 0;
  for (let experiment = 0; experiment < experiments; experiment++) {
    const arms = [new ArmSums(), new ArmSums()] as const;
    for (;;) {
      for (let user = 0; user < USERS_A_LOOK; user++) enroll(random, measure, arms, LIFT);
      const seen = compareArms(...arms, rules);
      const isFound = Math.abs(seen.difference) > seen.halfWidth;
      if (isFound && seen.difference > 0) found++;
      if (!isFound && seen.users < PATIENCE * fixed) continue;
      users += seen.users;
      break;
    }
  }
  return { ratio: users / experiments / fixed, found: found / experiments };
}

/** Share of experiments in which a split is called wrong at any look. */
function splitsNamed(random: Random, share: number, experiments: number): number {
  let named = 0;
  for (let experiment = 0; experiment < experiments; experiment++) {
    const users = [0, 0];
    let isNamed = false;
    for (let look = 0; look < LOOKS && !isNamed; look++) {
      for (let user = 0; user < USERS_A_LOOK; user++) users[Number(random.float() >= share)]!++;
      isNamed = isSplitWrong(users, [0.5, 0.5]);
    }
    if (isNamed) named++;
  }
  return named / experiments;
}

/** @param share of the users in the variant */
function enroll(
  random: Random,
  measure: Measure,
  arms: readonly [ArmSums, ArmSums],
  lift: number,
  share = 0.5,
): void {
  const taste = measure.taste(random);
  const isVariant = random.float() < share;
  const outcome = measure.outcome(random, taste * (isVariant ? lift : 1));
  arms[isVariant ? 1 : 0].add(outcome, poisson(random, 2 * taste));
}

/** A Poisson deviate (Knuth 1969), for means of a few. */
function poisson(random: Random, mean: number): number {
  const least = Math.exp(-mean);
  let count = 0;
  for (let product = random.float(); product > least; product *= random.float()) count++;
  return count;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
