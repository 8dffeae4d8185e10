import { isDeepStrictEqual } from 'node:util';
import { type AlsSettings, alsSettings } from '../../model/als/settings.ts';
import type { Trial } from '../../model/successive-halving.ts';
import type { CacheStore } from '../../store/cache-store.ts';

/** Marks of the cache store: what the last search did, and the settings that a search put in place. */
const LAST_SEARCH = 'collaborative search';
const ADOPTED = 'collaborative settings';

/** Small values of the cache store. */
export type Marks = Pick<CacheStore, 'getMark' | 'putMark'>;

/** What is kept of a search until the next one. */
export interface SearchMark {
  /** How many searches there have been, this one among them. */
  readonly number: number;
  /** When it ended, milliseconds since the epoch. */
  readonly endedMs: number;
  readonly seconds: number;
  /** Of the data, see `fingerprint`. */
  readonly fingerprint: number;
  /** The settings that it set out from. */
  readonly present: AlsSettings;
  readonly trials: readonly Trial<AlsSettings>[];
  readonly adopted: boolean;
}

/** Settings found by a search, beside the configured ones that they take the place of. */
interface AdoptedMark {
  readonly configured: AlsSettings;
  readonly adopted: AlsSettings;
}

export async function readLastSearch(marks: Marks): Promise<SearchMark | undefined> {
  return (await marks.getMark(LAST_SEARCH)) as SearchMark | undefined;
}

export async function writeLastSearch(marks: Marks, mark: SearchMark): Promise<void> {
  await marks.putMark(LAST_SEARCH, mark);
}

/** The settings that a search found, or the configured ones: also when those have been changed since. */
export async function settingsInUse(marks: Marks, configured: Partial<AlsSettings>): Promise<AlsSettings> {
  const complete = alsSettings(configured);
  const mark = (await marks.getMark(ADOPTED)) as AdoptedMark | undefined;
  return mark !== undefined && isDeepStrictEqual(mark.configured, complete)
    ? alsSettings(mark.adopted)
    : complete;
}

/** What a search has put in place, as it is; undefined for nothing. */
export async function readAdopted(marks: Marks): Promise<unknown> {
  return (await marks.getMark(ADOPTED)) ?? undefined;
}

/** Puts in place what another node's search has. */
export function writeAdopted(marks: Marks, adopted: unknown): Promise<void> {
  return marks.putMark(ADOPTED, adopted);
}

/** Puts settings in the place of the configured ones until those are changed. */
export async function adoptSettings(
  marks: Marks,
  configured: Partial<AlsSettings>,
  adopted: AlsSettings,
): Promise<void> {
  await marks.putMark(ADOPTED, { configured: alsSettings(configured), adopted } satisfies AdoptedMark);
}
