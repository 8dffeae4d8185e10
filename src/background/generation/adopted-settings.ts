import { isDeepStrictEqual } from 'node:util';
import { type AlsSettings, alsSettings } from '../../model/als/settings.ts';
import type { SavedStates } from '../../store/cache-store.ts';

/** State of the cache store: the settings that a search put in place. */
const ADOPTED = 'collaborative settings';

/** Settings found by a search, beside the configured ones that they take the place of. */
interface AdoptedState {
  readonly configured: AlsSettings;
  readonly adopted: AlsSettings;
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

/** The settings that a search has put in place, as stored; undefined for none. */
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
