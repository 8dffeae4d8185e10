import type { ReplayGroup, ReplayRow, ReplayTable } from '../domain/evaluation-schemas.ts';
import { BlockIntervals, numberBlocks } from './block-intervals.ts';
import { concludeReplay, NO_LIKES } from './conclusion.ts';
import { describeVariety, measureVariety } from './list-variety.ts';

/** People by the number of their likes: the most of each group. */
const LIKES: readonly (readonly [name: string, most: number])[] = [
  [NO_LIKES, 0],
  ['1 like', 1],
  ['2 to 4 likes', 4],
  ['5 to 19 likes', 19],
  ['20 likes or more', Number.POSITIVE_INFINITY],
];
/** The way that is judged. */
export const SERVED = 'served lists';
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

export type Roles = ReadonlyMap<string, ReplayRow['role']>;

/** Facts of a replay beside its answers. */
export type ReplayFacts = Pick<
  ReplayTable,
  'questions' | 'positives' | 'judgeable' | 'records' | 'fits' | 'hours'
> & { readonly seed: number; readonly catalog: number; readonly roles: Roles };

export function likesGroup(likes: number): string {
  return LIKES.find(([, most]) => likes <= most)![0];
}

/** Sums the answers up, for all questions and by group, the way that is served first. @param people lists by way */
export function tabulate(
  answers: readonly Answer[],
  people: ReadonlyMap<string, readonly Uint32Array[]>,
  { seed, catalog, roles, ...facts }: ReplayFacts,
): ReplayTable {
  const met = new Set(answers.flatMap(({ groups }) => groups));
  const names = [...LIKES.map(([name]) => name), SINCE_FIT, SESSIONS].filter((name) => met.has(name));
  const ofUsers = answers.filter(({ groups }) => !groups.includes(SESSIONS));
  const counter = bestCounter(ofUsers, roles);
  const tabulateGroup = (name: string, some: readonly Answer[]): ReplayGroup => {
    return { name, questions: some.length, rows: rowsOf(some, roles, counter, seed) };
  };
  const groups = [
    tabulateGroup(ALL, ofUsers),
    ...names.map((name) =>
      tabulateGroup(
        name,
        answers.filter(({ groups }) => groups.includes(name)),
      ),
    ),
  ];
  const variety = Object.fromEntries(
    Array.from(people, ([way, lists]) => [way, measureVariety(lists, seed)]),
  );
  const alike = variety[SERVED] === undefined ? '' : ` ${describeVariety(variety[SERVED], catalog)}`;
  return { ...facts, groups, variety, conclusion: `${concludeReplay(groups)}${alike}` };
}

function rowsOf(
  answers: readonly Answer[],
  roles: Roles,
  counter: string | undefined,
  seed: number,
): ReplayRow[] {
  const intervals = new BlockIntervals(blocksOf(answers), seed);
  const served = gains(answers, SERVED);
  return Array.from(roles, ([name, role]) => {
    const values = gains(answers, name);
    const isHit = ({ places }: Answer, way: string | undefined) => (places.get(way ?? '') ?? -1) >= 0;
    const hits = answers.filter((answer) => isHit(answer, name));
    return {
      name,
      role,
      ndcg: intervals.of(values),
      againstServed: intervals.of(values.map((value, at) => value - served[at]!)),
      hits: hits.length,
      hitsBeyondCounter: hits.filter((answer) => !isHit(answer, counter)).length,
    };
  });
}

/** The counter that is best over all questions. */
function bestCounter(answers: readonly Answer[], roles: Roles): string | undefined {
  const counters = [...roles.keys()].filter((name) => roles.get(name) === 'counter');
  const sum = (name: string) => gains(answers, name).reduce((total, value) => total + value, 0);
  return counters.sort((a, b) => sum(b) - sum(a))[0];
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
