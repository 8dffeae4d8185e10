import type { ReplayGroup, ReplayRow, ReplayTable } from '../domain/evaluation-schemas.ts';
import { BlockIntervals, numberBlocks } from './block-interval.ts';
import { concludeReplay } from './conclusion.ts';
import { measureVariety } from './list-variety.ts';

/** People by the number of their likes: the most of each group. */
const LIKES: readonly (readonly [name: string, most: number])[] = [
  ['no likes yet', 0],
  ['1 like', 1],
  ['2 to 4 likes', 4],
  ['5 to 19 likes', 19],
  ['20 likes or more', Number.POSITIVE_INFINITY],
];
export const SINCE_FIT = 'items first seen since the fit';
export const SESSIONS = 'sessions';
const ALL = 'all questions';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** With fewer days the blocks of time are hours. */
const DAYS_MIN = 5;

/** A question with the place of what was liked in each list, from 0; -1 where it is not there. */
export interface Answer {
  readonly user: number;
  readonly timeMs: number;
  readonly groups: readonly string[];
  readonly places: ReadonlyMap<string, number>;
}

/** What a replay was, beside its answers. */
export type ReplayFacts = Pick<
  ReplayTable,
  'questions' | 'positives' | 'judgeable' | 'records' | 'fits' | 'hours'
> & { readonly seed: number };

/** The group of people with so many likes. */
export function likesGroup(likes: number): string {
  return LIKES.find(([, most]) => likes <= most)![0];
}

/** Sums the answers up, for all questions and by group, the way that is served first. */
export function tabulate(
  answers: readonly Answer[],
  people: ReadonlyMap<string, readonly Uint32Array[]>,
  { seed, ...facts }: ReplayFacts,
): ReplayTable {
  const met = new Set(answers.flatMap(({ groups }) => groups));
  const names = [...LIKES.map(([name]) => name), SINCE_FIT, SESSIONS].filter((name) => met.has(name));
  const ofUsers = answers.filter(({ groups }) => !groups.includes(SESSIONS));
  const groups = [
    group(ALL, ofUsers, seed),
    ...names.map((name) =>
      group(
        name,
        answers.filter(({ groups }) => groups.includes(name)),
        seed,
      ),
    ),
  ];
  const variety = Array.from(people, ([name, lists]) => ({ name, ...measureVariety(lists, seed) }));
  return { ...facts, groups, variety, conclusion: concludeReplay(groups) };
}

function group(name: string, answers: readonly Answer[], seed: number): ReplayGroup {
  const intervals = new BlockIntervals(blocksOf(answers), seed);
  const ways = [...(answers[0]?.places.keys() ?? [])];
  const served = gains(answers, ways[0]!);
  const rows = ways.map((way): ReplayRow => {
    const values = gains(answers, way);
    return {
      name: way,
      ndcg: intervals.of(values),
      againstServed: intervals.of(values.map((value, at) => value - served[at]!)),
      hits: values.filter((value) => value > 0).length,
    };
  });
  return { name, questions: answers.length, rows };
}

function blocksOf(answers: readonly Answer[]): Uint32Array[] {
  const days = numberBlocks(answers.map(({ timeMs }) => Math.floor(timeMs / DAY_MS)));
  const hours = numberBlocks(answers.map(({ timeMs }) => Math.floor(timeMs / HOUR_MS)));
  const users = numberBlocks(answers.map(({ user }) => user));
  return [users, new Set(days).size >= DAYS_MIN ? days : hours];
}

/** NDCG@10 of each question: one item is right. */
function gains(answers: readonly Answer[], way: string): number[] {
  return answers.map(({ places }) => {
    const place = places.get(way) ?? -1;
    return place < 0 ? 0 : 1 / Math.log2(place + 2);
  });
}
