import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ErrorPlace, FurzeError } from './furze-error.ts';

/** A body with a thousand faults names this many of them. */
const PLACES_MAX = 20;
/** Entries of a list that are looked through for the place of a fault: naming one takes a hundred times as long as seeing that there is one. */
const ENTRIES_NAMED_MAX = 4096;

/** The code that is generated for a schema. */
export interface Checker<T> {
  Check(value: unknown): value is T;
  Errors(value: unknown): readonly CheckFault[];
}

interface CheckFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** A validator that is generated when it is first used: most threads use few of them. */
export function lazily<T>(schema: TSchema): () => Checker<T> {
  let checker: Checker<T> | undefined;
  return () => (checker ??= Compile(schema) as unknown as Checker<T>);
}

/** @throws FurzeError INVALID_BODY for what does not fit */
export function checkBody<T>(value: unknown, checker: Checker<T>): T {
  if (checker.Check(value)) return value;
  throw invalidBody(placesIn(value, checker, ''));
}

/** The faults of a body or record, at a cost that does not grow with its lists. */
function placesIn<T>(value: unknown, checker: Checker<T>, prefix: string): ErrorPlace[] {
  const some = shortened(value) as Record<string, unknown>;
  const fits = (body: unknown): boolean => checker.Check(body);
  if (!fits(some)) return checker.Errors(some).flatMap((error) => toPlaces(prefix, error));
  // Which list it is: one after the other stands there whole.
  const name = Object.entries(value as object).find(([key, list]) => {
    if (!isLong(list) || key === '__proto__') return false;
    const short = some[key];
    some[key] = list;
    const isWrong = !fits(some);
    some[key] = short;
    return isWrong;
  })?.[0];
  const path = name === undefined ? prefix : `${prefix}/${name}`;
  return [{ path, message: `has a wrong entry beyond the first ${ENTRIES_NAMED_MAX}` }];
}

const isLong = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > ENTRIES_NAMED_MAX;

/** An object with the first entries of its long lists. */
function shortened(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      isLong(entry) ? entry.slice(0, ENTRIES_NAMED_MAX) : entry,
    ]),
  );
}

/** The faults of an array, record by record, so that finding them stays cheap in a large one. */
export function findPlaces<T>(records: readonly unknown[], checker: Checker<T>): ErrorPlace[] {
  const places: ErrorPlace[] = [];
  for (let i = 0; i < records.length && places.length < PLACES_MAX; i++) {
    if (checker.Check(records[i])) continue;
    places.push(...placesIn(records[i], checker, `/${i}`));
  }
  return places;
}

function toPlaces(prefix: string, error: CheckFault): ErrorPlace[] {
  const path = prefix + error.instancePath;
  if (error.keyword === 'type')
    return [{ path, message: mustBe(error.params as { type: TypeName | TypeName[] }) }];
  if (error.keyword !== 'required') return [{ path, message: error.message }];
  const { requiredProperties } = error.params as { requiredProperties: readonly string[] };
  return requiredProperties.map((name) => ({ path: `${path}/${name}`, message: 'is required' }));
}

const IN_WORDS = {
  ...{ array: 'an array', object: 'an object', string: 'a text', number: 'a number', integer: 'an integer' },
  ...{ boolean: 'true or false', null: 'null' },
};
type TypeName = keyof typeof IN_WORDS;

/** The message for a value of another type. */
export function mustBe({ type }: { readonly type: TypeName | readonly TypeName[] }): string {
  return `must be ${[type]
    .flat()
    .map((name) => IN_WORDS[name])
    .join(' or ')}`;
}

/** Names the first of the places in its message, and some of them all. */
export function invalidBody(allPlaces: readonly ErrorPlace[]): FurzeError {
  const places = allPlaces.slice(0, PLACES_MAX);
  const first = places[0]!;
  return new FurzeError('INVALID_BODY', `${first.path || 'The body'} ${first.message}.`, places);
}
