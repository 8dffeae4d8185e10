import type { AlsSettings } from '../../model/als/settings.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import type { Trial } from './successive-halving.ts';

/** State of the cache store. */
const LAST_SEARCH = 'collaborative search';

/** The record of a search that is kept until the next one. */
export interface SearchState {
  /** Searches so far, this one among them. */
  readonly number: number;
  /** Time of its end, milliseconds since the epoch. */
  readonly endedMs: number;
  readonly seconds: number;
  /** Of the data, see `fingerprint`. */
  readonly fingerprint: number;
  /** The settings that it set out from. */
  readonly present: AlsSettings;
  readonly trials: readonly Trial<AlsSettings>[];
  readonly adopted: boolean;
}

export async function readLastSearch(states: SavedStates): Promise<SearchState | undefined> {
  return (await states.getState(LAST_SEARCH)) as SearchState | undefined;
}

export async function writeLastSearch(states: SavedStates, saved: SearchState): Promise<void> {
  await states.putState(LAST_SEARCH, saved);
}
