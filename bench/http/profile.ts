import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

const INTERVAL_US = 100;

/** Writes CPU profiles of the calling thread, one after the other. */
export interface Profiler {
  begin(): Promise<void>;
  /** @param more is written beside the profile */
  end(more?: object): Promise<void>;
}

/** @param folder where the profiles go, numbered; without one there are none */
export async function startProfiler(folder: string | undefined): Promise<Profiler | undefined> {
  if (folder === undefined) return undefined;
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  let written = 0;
  return {
    begin: () => session.post('Profiler.start'),
    async end(more = {}) {
      const { profile } = await session.post('Profiler.stop');
      writeFileSync(join(folder, `${written++}.cpuprofile`), JSON.stringify({ ...profile, ...more }));
    },
  };
}
