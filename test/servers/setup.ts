import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a PostgreSQL server for this run; `''` where there is none. */
    postgresUrl: string;
  }
}

/** Before the first test of the engines: a server of each, one for all tests of the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  if (postgres === undefined) {
    console.warn(
      'SKIPPED the tests over PostgreSQL, those of HTTP among them: there is none on this machine (apt-get install postgresql)',
    );
  }
  project.provide('postgresUrl', postgres?.url ?? '');
  return async () => {
    await postgres?.stop();
  };
}
