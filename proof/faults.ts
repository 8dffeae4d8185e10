// npm run faults: full disks, failing flushes, damaged files, few file handles, and workers that die at every stage of a
// fit; each has a defined answer.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Checks, PATIENCE_MS, status, until } from './checks.ts';
import { failingFlush } from './failing-flush.ts';
import { fewHandles } from './few-handles.ts';
import { FurzeProcess, inFolder, type Settings } from './furze-process.ts';
import { runProof } from './run-proof.ts';
import { workersThatDie } from './worker-deaths.ts';

/** Room for an empty store and some writes. */
const DISK = 'size=24m';

/** Ways in which a file is damaged. */
const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  garbage: (path) => writeFileSync(path, Buffer.alloc(65_536, 'garbage')),
  'cut to half': (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  empty: (path) => truncateSync(path, 0),
  'both meta pages zero': (path) => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0, 0, 16_384));
  },
};

const checks = new Checks();
const check: Checks['check'] = (...said) => checks.check(...said);

await runProof('rounds', 1, async ({ folder }) => {
  const proofs = { fullDisk, fullCacheDisk, damagedData, damagedCache, failingFlush, fewHandles };
  for (const [name, prove] of Object.entries(proofs)) {
    const own = join(folder, name);
    mkdirSync(own);
    await prove(own, checks).catch((error: Error) => check(name, false, error.message));
  }
  for (const { stage, fault } of await workersThatDie(join(folder, 'workers')))
    check(`a worker dies while it does "${stage}"`, fault === undefined, fault);
  const { found, skipped } = checks;
  const wrong = found.filter(({ isRight }) => !isRight);
  return {
    line: `faults: ${found.length} checks of full disks, failing flushes, damaged files, few file handles and dying workers, ${wrong.length} wrong${skipped.length === 0 ? '' : `; SKIPPED ${skipped.join(', ')}`}`,
    holds: wrong.length === 0,
  };
});

/** A small file system at `folder`, where this process may make one. */
async function onSmallDisk(folder: string, name: string, prove: () => Promise<void>): Promise<void> {
  mkdirSync(folder, { recursive: true });
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', folder]).status !== 0) {
    return checks.skip(name, 'mounting is not permitted here');
  }
  try {
    await prove();
  } finally {
    execFileSync('umount', ['-l', folder]);
  }
}

/** Takes all the room that is left but so many bytes. @returns gives it back */
function fillUp(folder: string, leftBytes = 0): () => void {
  const path = join(folder, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=64k'], { stdio: 'ignore' });
  truncateSync(path, statSync(path).size - leftBytes);
  return () => rmSync(path);
}

function fullDisk(folder: string): Promise<void> {
  const disk = join(folder, 'data');
  return onSmallDisk(disk, 'the full disk of the data store', async () => {
    const settings: Settings = { DATABASE_CACHE_STORE: `lmdb://${folder}/cache` };
    const furze = await FurzeProcess.serve(folder, settings);
    const { url } = furze;
    const acknowledged: string[] = [];
    const write = async (id: string) => {
      const answer = await status(url, 'POST', '/api/user', { UserId: id, Comment: 'x'.repeat(20_000) });
      if (answer === 200) acknowledged.push(id);
      return answer;
    };
    await write('first');
    const free = fillUp(disk, 2 * 2 ** 20);
    let answer = 200;
    for (let at = 0; at < 2000 && answer === 200; at++) answer = await write(`u${at}`);
    check('full disk: a write is answered 503', answer === 503, String(answer));
    check('full disk: not ready', (await until(503, () => status(url, 'GET', '/api/health/ready'))) === 503);
    check('full disk: alive', (await status(url, 'GET', '/api/health/live')) === 200);
    check('full disk: reads go on', (await status(url, 'GET', '/api/user/first')) === 200);
    check('full disk: a copy is refused', (await status(url, 'POST', '/api/admin/backup')) === 503);
    free();
    check('room again: ready', (await until(200, () => status(url, 'GET', '/api/health/ready'))) === 200);
    check('room again: writes', (await until(200, () => write('after'))) === 200);
    await furze.stop('SIGKILL');
    const again = await FurzeProcess.serve(folder, settings);
    const lost: string[] = [];
    for (const id of acknowledged)
      if ((await status(again.url, 'GET', `/api/user/${id}`)) !== 200) lost.push(id);
    check(
      `full disk: none of ${acknowledged.length} acknowledged writes is lost`,
      lost.length === 0,
      lost.join(),
    );
    await again.stop();
  });
}

function fullCacheDisk(folder: string): Promise<void> {
  const disk = join(folder, 'cache');
  return onSmallDisk(disk, 'the full disk of the cache', async () => {
    const furze = await FurzeProcess.serve(folder);
    const { url } = furze;
    const likes = Array.from({ length: 300 }, (_, at) => ({
      FeedbackType: 'like',
      UserId: `u${at % 60}`,
      ItemId: `i${(at * 7) % 40}`,
      Timestamp: '2024-05-01',
    }));
    fillUp(disk);
    try {
      check('full cache: writes go on', (await status(url, 'POST', '/api/feedback', likes)) === 200);
      const answers = new Set<number>();
      const askAll = async () => {
        for (let at = 0; at < 60; at++) answers.add(await status(url, 'GET', `/api/recommend/u${at}`));
      };
      await askAll();
      await status(url, 'POST', '/api/admin/fit');
      await askAll();
      await pause(3000);
      await askAll();
      check('full cache: recommendations go on', answers.size === 1 && answers.has(200), [...answers].join());
      await furze.stop();
    } catch (error) {
      check('full cache: serves on', false, `${(error as Error).message}\n${furze.output.slice(-1500)}`);
    } finally {
      if (!furze.hasEnded) await furze.stop('SIGKILL');
    }
  });
}

async function withSomeData(folder: string): Promise<void> {
  const furze = await FurzeProcess.serve(folder);
  for (let at = 0; at < 20; at++)
    await status(furze.url, 'POST', '/api/user', { UserId: `u${at}`, Comment: 'x'.repeat(10_000) });
  await furze.stop();
}

async function damagedData(folder: string): Promise<void> {
  for (const [name, damage] of Object.entries(DAMAGES)) {
    if (name === 'empty') continue; // LMDB takes it for a new store.
    const own = join(folder, name.replaceAll(' ', '-'));
    await withSomeData(own);
    damage(join(own, 'data', 'data.mdb'));
    const furze = FurzeProcess.start(['serve'], inFolder(own));
    await Promise.race([furze.ended, pause(PATIENCE_MS)]);
    if (!furze.hasEnded) await furze.stop('SIGKILL');
    const { exitCode, signalCode } = furze.child;
    const isClear = exitCode === 1 && signalCode === null && !/\n\s+at /.test(furze.output);
    check(
      `damaged data, ${name}: one clear line and exit 1`,
      isClear,
      `${signalCode ?? exitCode} ${furze.output.trim().slice(-300)}`,
    );
  }
}

async function damagedCache(folder: string): Promise<void> {
  for (const [name, damage] of Object.entries(DAMAGES)) {
    const own = join(folder, name.replaceAll(' ', '-'));
    await withSomeData(own);
    damage(join(own, 'cache', 'data.mdb'));
    try {
      const furze = await FurzeProcess.serve(own);
      check(`damaged cache, ${name}: serves`, (await status(furze.url, 'GET', '/api/user/u1')) === 200);
      await furze.stop();
    } catch (error) {
      check(`damaged cache, ${name}: serves`, false, (error as Error).message.slice(-400));
    }
  }
}
