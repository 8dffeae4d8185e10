import type { Chosen } from './explored-list.ts';

/** Places of a list that a plan tells of. */
const PLAN_PLACES_MAX = 100;
/** Steps of the logarithm of a chance; with 14 bits down to e^-16. */
const STEPS = 1024;
const STEPS_MAX = 0x3fff;
const IS_NEVER = 0x4000;
const IS_OTHER = 0x8000;

/** Places of an entry in two rankings, from 1; 0 where it does not stand in one. */
export interface Ranks {
  readonly first: number;
  readonly second: number;
}

/** The plan of an interleaved list for its token: `r` and a byte for each place in each ranking. */
export function packRanks(
  rows: readonly number[],
  first: readonly number[],
  second: readonly number[],
): string {
  const placeIn = (ranking: readonly number[]) => {
    const places = new Map(ranking.slice(0, 255).map((row, at) => [row, at + 1]));
    return (row: number) => places.get(row) ?? 0;
  };
  const [inFirst, inSecond] = [placeIn(first), placeIn(second)];
  const bytes = rows.slice(0, PLAN_PLACES_MAX).flatMap((row) => [inFirst(row), inSecond(row)]);
  return `r${Buffer.from(bytes).toString('base64url')}`;
}

/** The same by place, from the first; undefined for a plan of another kind. */
export function unpackRanks(plan: string): Ranks[] | undefined {
  if (!plan.startsWith('r')) return undefined;
  const bytes = Buffer.from(plan.slice(1), 'base64url');
  return Array.from({ length: bytes.length >>> 1 }, (_, at) => ({
    first: bytes[2 * at]!,
    second: bytes[2 * at + 1]!,
  }));
}

/** The plan of a list with exploration: `p` and two bytes for each place. */
export function packChosen(chosen: readonly Chosen[]): string {
  const bytes = Buffer.alloc(2 * Math.min(chosen.length, PLAN_PLACES_MAX));
  for (const [at, { chance, isOther, isNever }] of chosen.slice(0, PLAN_PLACES_MAX).entries()) {
    const steps = Math.min(STEPS_MAX, Math.round(-Math.log(chance) * STEPS));
    bytes.writeUInt16LE(steps | (isOther ? IS_OTHER : 0) | (isNever ? IS_NEVER : 0), 2 * at);
  }
  return `p${bytes.toString('base64url')}`;
}

/** The same by place, from the first; undefined for a plan of another kind. */
export function unpackChosen(plan: string): Chosen[] | undefined {
  if (!plan.startsWith('p')) return undefined;
  const bytes = Buffer.from(plan.slice(1), 'base64url');
  return Array.from({ length: bytes.length >>> 1 }, (_, at) => {
    const code = bytes.readUInt16LE(2 * at);
    const chance = Math.exp(-(code & STEPS_MAX) / STEPS);
    return { chance, isOther: (code & IS_OTHER) !== 0, isNever: (code & IS_NEVER) !== 0 };
  });
}
