import { isDeepStrictEqual } from 'node:util';
import { type AlsSettings, alsSettings } from '../../model/als/settings.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import type { Trial } from './successive-halving.ts';

/** States of the cache store: what the last search did, and the settings that a search put in place. */
const LAST_SEARCH = 'collaborative search';
const ADOPTED = 'collaborative settings';

/** Small values of the cache store. */

/** What is kept of a search until the next one. */
export interface SearchState {
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
interface AdoptedState {
  readonly configured: AlsSettings;
  readonly adopted: AlsSettings;
}

export async function readLastSearch(states: SavedStates): Promise<SearchState | undefined> {
  return (await states.getState(LAST_SEARCH)) as SearchState | undefined;
}

export async function writeLastSearch(states: SavedStates, saved: SearchState): Promise<void> {
  await states.putState(LAST_SEARCH, saved);
}

/** The settings that a search found, or the configured ones: also when those have been changed since. */
export async function settingsInUse(
  states: SavedStates,
  configured: Partial<AlsSettings>,
): Promise<AlsSettings> {
  const complete = alsSettings(configured);
  const saved = (await states.getState(ADOPTED)) as AdoptedState | undefined;
  return saved !== undefined && isDeepStrictEqual(saved.configured, complete)
    ? alsSettings(saved.adopted)
    : complete;
}

/** What a search has put in place, as it is; undefined for nothing. */
export async function readAdopted(states: SavedStates): Promise<unknown> {
  return (await states.getState(ADOPTED)) ?? undefined;
}

/** Puts in place what another node's search has. */
export function writeAdopted(states: SavedStates, adopted: unknown): Promise<void> {
  return states.putState(ADOPTED, adopted);
}

/** Puts settings in the place of the configured ones until those are changed. */
export async function adoptSettings(
  states: SavedStates,
  configured: Partial<AlsSettings>,
  adopted: AlsSettings,
): Promise<void> {
  await states.putState(ADOPTED, { configured: alsSettings(configured), adopted } satisfies AdoptedState);
}
