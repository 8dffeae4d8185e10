import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cachePathOf } from '../http/processes.ts';
import type { WorldSize } from '../http/world.ts';
import { type CourseFigures, followFirstFit } from './course.ts';
import { importData } from './data.ts';

export interface SizeFigures extends CourseFigures {
  readonly size: WorldSize;
  readonly importSeconds: number;
}

/** Imports a set into a folder unless an earlier run did, then starts the service on it and follows its first fit. */
export async function measureSize(options: {
  readonly folder: string;
  readonly size: WorldSize;
  readonly memoryMb: number;
  readonly idleMs: number;
  readonly listSecondsMax: number;
}): Promise<SizeFigures> {
  const { folder, size } = options;
  const importSeconds = await importOnce(folder, size);
  // A model of an earlier run would leave nothing to learn.
  await rm(cachePathOf(folder), { recursive: true, force: true });
  return { size, importSeconds, ...(await followFirstFit(options)) };
}

async function importOnce(folder: string, size: WorldSize): Promise<number> {
  const mark = join(folder, 'imported.json');
  if (existsSync(mark)) return (JSON.parse(readFileSync(mark, 'utf8')) as { seconds: number }).seconds;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const seconds = await importData(folder, size);
  writeFileSync(mark, JSON.stringify({ seconds }));
  console.log(`  imported in ${seconds.toFixed(1)} s`);
  return seconds;
}
