// npm run crash -- --rounds N: kills the service at random moments of writes, deletes, fits, list passes, recovery and
// compaction, and the commands import, backup, restore, compact and init; compares all that is stored with what was acknowledged.
import { createRandom } from '../src/domain/random.ts';
import { CommandKills } from './command-kills.ts';
import { FurzeProcess, inFolder, pause, type Settings } from './furze-process.ts';
import { ImportKills } from './import-kill.ts';
import { runProof } from './run-proof.ts';
import { type Records, Writer } from './writer.ts';

const WRITERS = 6;
/** A round of writes is killed at most this long after its first is acknowledged. */
const ROUND_MS_MAX = 2500;
/** A recovery is killed at most this long after the process began. */
const RECOVERY_MS_MAX = 900;
const COMPACTION_MS_MAX = 700;
/** Fits and passes all the time. */
const SETTINGS: Settings = {
  RECOMMEND_COLLABORATIVE_MODEL_FIT_PERIOD: '300ms',
  RECOMMEND_OFFLINE_CHECK_RECOMMEND_PERIOD: '100ms',
};

await runProof('rounds', 200, async ({ amount: rounds, seed, folder }) => {
  const random = createRandom(seed);
  const writers = Array.from(
    { length: WRITERS },
    (_, at) => new Writer(`w${at}`, createRandom(seed + at + 1)),
  );
  const imports = new ImportKills(folder);
  const commands = new CommandKills(folder);
  const kills = { writing: 0, compacting: 0, recovery: 0, compaction: 0 };
  const wrong: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    const furze = await FurzeProcess.serve(folder, SETTINGS);
    const stored = await readAll(furze.url);
    wrong.push(...writers.flatMap((writer) => writer.settle(stored) ?? []));
    const writing = Promise.all(writers.map((writer) => writer.run(furze.url)));
    const before = acknowledgedBy(writers);
    while (acknowledgedBy(writers) === before && !furze.hasEnded) await pause(5);
    // In every other round one compaction follows the other, so that the kill comes at some moment of one.
    const compacting = round % 2 === 0 ? Promise.resolve('') : compactOn(furze);
    await Promise.race([writing, pause(random.below(ROUND_MS_MAX))]);
    if (round % 10 === 6) await commands.backupAndRestore(random, ['--url', furze.url]);
    await furze.stop('SIGKILL');
    await writing;
    const failure = await compacting;
    if (failure !== '') wrong.push(failure);
    kills.writing++;
    if (round % 2 === 1) kills.compacting++;
    if (round % 2 === 0) {
      await killAfter(
        FurzeProcess.start(['serve'], inFolder(folder, SETTINGS)),
        random.below(RECOVERY_MS_MAX),
      );
      kills.recovery++;
    }
    if (round % 4 === 0) await imports.once(random);
    if (round % 10 === 1) await commands.backupAndRestore(random);
    if (round % 10 === 3) await commands.init(random);
    if (round % 5 === 0) {
      await killAfter(FurzeProcess.start(['compact'], inFolder(folder)), random.below(COMPACTION_MS_MAX));
      kills.compaction++;
    }
    if (round % 20 === 0) console.log(`round ${round}: ${wrong.length} faults`);
  }
  const furze = await FurzeProcess.serve(folder);
  const stored = await readAll(furze.url);
  wrong.push(...writers.flatMap((writer) => writer.settle(stored) ?? []));
  wrong.push(...imports.missing(stored).map((pair) => `imported feedback ${pair} is not stored`));
  wrong.push(...commands.wrong);
  await furze.stop();
  const check = FurzeProcess.start(
    ['check', `${folder}/data`, '--cache', `${folder}/cache`],
    inFolder(folder),
  );
  await check.ended;
  if (check.child.exitCode !== 0) wrong.push(`furze check: ${check.output.slice(-1000)}`);
  for (const line of wrong.slice(0, 20)) console.log(line);
  const acknowledged = acknowledgedBy(writers);
  return {
    line: `crash: ${kills.writing} kills while writing, ${kills.compacting} of them in live compactions, ${kills.recovery} in recovery, ${kills.compaction} in compaction, ${imports.kills} in imports, ${commands.kills.backup} in backups, ${commands.kills.restore} in restores, ${commands.kills.init} in set-ups; ${acknowledged.toLocaleString('en')} acknowledged writes, ${wrong.length} lost, half done or undone`,
    holds: wrong.length === 0 && acknowledged > 0,
  };
});

/** Compacts again and again until the service is gone. @returns what went wrong */
async function compactOn(furze: FurzeProcess): Promise<string> {
  for (;;) {
    try {
      const { Past } = (await (await fetch(`${furze.url}/api/admin/compact`, { method: 'POST' })).json()) as {
        readonly Past: readonly { readonly Kind: string; readonly State: string; readonly Error?: string }[];
      };
      const failed = Past.find(({ Kind, State }) => Kind === 'compaction' && State === 'failed');
      if (failed !== undefined) return `a compaction failed: ${failed.Error}`;
    } catch {
      return '';
    }
    await pause(10);
  }
}

function acknowledgedBy(writers: readonly Writer[]): number {
  return writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
}

async function killAfter(furze: FurzeProcess, ms: number): Promise<void> {
  await Promise.race([furze.ended, pause(ms)]);
  if (!furze.hasEnded) await furze.stop('SIGKILL');
}

/** All users, items and feedback by their comments. */
async function readAll(url: string): Promise<Records> {
  const users = await pages<{ UserId: string; Comment?: string }>(url, 'users', 'Users');
  const items = await pages<{ ItemId: string; Comment?: string }>(url, 'items', 'Items');
  const feedback = await pages<{ UserId: string; ItemId: string; Comment?: string }>(
    url,
    'feedback',
    'Feedback',
  );
  return {
    users: new Map(users.map(({ UserId, Comment = '' }) => [UserId, Comment])),
    items: new Map(items.map(({ ItemId, Comment = '' }) => [ItemId, Comment])),
    feedback: new Map(feedback.map(({ UserId, ItemId, Comment = '' }) => [`${UserId} ${ItemId}`, Comment])),
  };
}

async function pages<T>(url: string, path: string, field: string): Promise<T[]> {
  const records: T[] = [];
  let cursor = '';
  do {
    const answer = await fetch(`${url}/api/${path}?n=1000&cursor=${encodeURIComponent(cursor)}`);
    if (answer.status !== 200) throw new Error(`GET /api/${path} was answered ${answer.status}`);
    const page = (await answer.json()) as Record<string, unknown>;
    records.push(...(page[field] as T[]));
    cursor = page.Cursor as string;
  } while (cursor !== '');
  return records;
}
