import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../src/domain/random.ts';
import type { Checks } from '../checks.ts';
import { FurzeProcess, inFolder, pause, type Settings } from '../furze-process.ts';

const ROWS = 20_000;
const USERS = 500;
/** What a run says that has moved and compared everything. */
const MOVED = '20,000 feedback moved';
/** Runs are killed at most this long after they began: some before they do anything, some while they compare. */
const KILLED_MS_MAX = 2000;

export interface MigrateKills {
  readonly folder: string;
  /** An empty schema of PostgreSQL. */
  readonly database: string;
  readonly random: Random;
  readonly checks: Checks;
  /** Kills of each way. */
  readonly times: number;
}

/** Moves a store to PostgreSQL and back, each way killed and run again: the last run compares every record with its source. */
export async function killMigrations({
  folder,
  database,
  random,
  checks,
  times,
}: MigrateKills): Promise<void> {
  const own = join(folder, 'moved');
  mkdirSync(own, { recursive: true });
  const file = join(own, 'feedback.csv');
  const rows = Array.from(
    { length: ROWS },
    (_, at) => `u${at % USERS},i${Math.floor(at / USERS)},2024-05-01`,
  );
  writeFileSync(file, `user_id,item_id,timestamp\n${rows.join('\n')}\n`);
  await ended(['import', 'feedback', file, '--data', join(own, 'data'), '--type', 'like'], inFolder(own));
  const ways = [
    ['there', `lmdb://${join(own, 'data')}`, database],
    ['back', database, `lmdb://${join(own, 'back')}`],
  ] as const;
  for (const [name, from, to] of ways) {
    const args = ['migrate', '--from', from, '--to', to];
    const settings = { ...inFolder(own), DATABASE_REPLICA: `lmdb://${join(own, `replica-${name}`)}` };
    let kills = 0;
    let output = '';
    while (kills < times && !output.includes(MOVED)) {
      const run = FurzeProcess.start(args, settings);
      await Promise.race([run.ended, pause(random.below(KILLED_MS_MAX))]);
      if (!run.hasEnded) kills++;
      else if (run.child.exitCode !== 0)
        throw new Error(`${args.join(' ')} failed after ${kills} kills: ${run.output.slice(-2000)}`);
      await run.stop('SIGKILL');
      output = run.output;
    }
    if (!output.includes(MOVED)) output = await ended(args, settings);
    const last = output.trim().split('\n').at(-1);
    checks.check(`migrate ${name}, killed ${kills} times: all is there`, output.includes(MOVED), last);
  }
  const check = await ended(['check', join(own, 'back'), '--json'], inFolder(own));
  checks.check(`what came back is sound and has ${ROWS} feedback`, check.includes(`"feedback": ${ROWS}`));
}

/** @returns what it wrote @throws Error when it fails */
async function ended(args: readonly string[], settings: Settings): Promise<string> {
  const run = FurzeProcess.start(args, settings);
  await run.ended;
  if (run.child.exitCode !== 0)
    throw new Error(`${args.join(' ')} ended with ${run.child.exitCode}: ${run.output.slice(-2000)}`);
  return run.output;
}
