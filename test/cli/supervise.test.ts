import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  write,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { isAlive } from '../../src/platform/process/is-alive.ts';
import { DirectStore } from '../store/direct-store.ts';
import { feedback, putFeedback, storeOptions } from '../store/helpers.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-supervise-'));
const sound = join(folder, 'sound');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const store = new DirectStore(sound, storeOptions(''));
  for (let user = 0; user < 400; user++)
    await store.write(
      putFeedback(
        Array.from({ length: 20 }, (_, i) => feedback('like', `u${user}`, `i${(user * 7 + i) % 90}`)),
      ),
    );
  await store.close();
  writeFileSync(join(folder, 'more.csv'), 'user,item\nnew,i1\n');
});

/** What is wrong with the pages behind the two at the head, and by what the engine ends on the way. */
const DAMAGES: Readonly<Record<string, (file: Buffer) => Buffer>> = {
  'junk that is taken for pages': (file) => file.fill(0x5a, 5 * 4096),
  'pages of nothing': (file) => file.fill(0, 5 * 4096),
  'pages of which the end is junk': (file) => {
    for (let page = 2; page < file.length / 4096; page++)
      file.fill(0xa5, page * 4096 + 30, (page + 1) * 4096);
    return file;
  },
};

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  export: ['export', 'feedback', '-o', 'out/feedback.ndjson', '--data', 'data'],
  backup: ['backup', 'out/backup', '--data', 'data'],
  compact: ['compact', 'data'],
  evaluate: ['evaluate', '--data', 'data', '--positive-types', 'like'],
  import: ['import', 'feedback', '../more.csv', '--data', 'data'],
};

describe.skipIf(process.platform === 'win32')('damaged pages', () => {
  for (const [name, damage] of Object.entries(DAMAGES)) {
    test.each(Object.entries(COMMANDS))(`${name} end %s in one line`, async (command, args) => {
      const own = mkdtempSync(join(folder, 'own-'));
      const temporary = join(own, 'tmp');
      for (const path of [temporary, join(own, 'out')]) mkdirSync(path);
      cpSync(sound, join(own, 'data'), { recursive: true });
      const file = join(own, 'data/data.mdb');
      const damaged = damage(readFileSync(file));
      writeFileSync(file, damaged);
      const run = new Furze(args, { TMPDIR: temporary }, [], own);
      expect(await run.exit).toBe(1);
      const told = run.output.split('\n').filter((line) => line.startsWith('furze: '));
      expect(told).toEqual([
        expect.stringMatching(
          /^furze: The data store in data is damaged: .+ Restore a backup .+"furze check data"/,
        ),
      ]);
      expect(run.output).not.toMatch(/\n\s+at /);
      const left = ['out', 'out/backup', 'data'].flatMap((path) =>
        existsSync(join(own, path)) ? readdirSync(join(own, path)) : [],
      );
      expect(left.filter((entry) => /part|compact|ndjson/.test(entry))).toEqual([]);
      expect(readdirSync(temporary).filter((entry) => entry.startsWith('furze-'))).toEqual([]);
      // Importing may have begun to write.
      if (command !== 'import') expect(readFileSync(file).equals(damaged)).toBe(true);
    });
  }
});

/** The process that does the work of a command which waits for a file to import. */
async function waiting(name: string): Promise<{ furze: Furze; pid: number; data: string }> {
  const pipe = join(folder, `${name}.csv`);
  const data = join(folder, name);
  execFileSync('mkfifo', [pipe]);
  // Whoever opens it both ways waits for nobody, and nobody else meets the end.
  const isRead = promisify(write)(openSync(pipe, 'r+'), `user,item\n${'u,i\n'.repeat(60_000)}`);
  const args = ['import', 'feedback', '--map', 'user=user,item=item', '--data', data, '-'];
  const furze = new Furze(args, {}, ['sh', '-c', 'exec "$@" < "$0"', pipe]);
  await isRead;
  const main = furze.process.pid!;
  const [pid] = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ').map(Number);
  return { furze, pid: pid!, data };
}

describe.skipIf(process.platform !== 'linux')('the process that does the work', () => {
  test('that ends by a signal with its files sound is told of as that', async () => {
    const { furze, pid, data } = await waiting('sound-import');
    process.kill(pid, 'SIGSEGV');
    expect(await furze.exit).toBe(1);
    expect(furze.output).toMatch(
      new RegExp(
        `^furze: "furze import" was ended by SIGSEGV, .+; no page of ${data} and ${data}/cache is damaged.$`,
        'm',
      ),
    );
  });

  test('goes with the one that was begun, however that ends', async () => {
    const { furze, pid } = await waiting('killed-import');
    furze.process.kill('SIGKILL');
    while (isAlive(pid)) await delay(20);
    await furze.exit;
    expect(furze.process.signalCode).toBe('SIGKILL');
  });

  test('stops when the command is stopped, and goes on with it', async () => {
    const { furze, pid } = await waiting('paused-import');
    const stateOf = (id: number) => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
    furze.process.kill('SIGTSTP');
    while (stateOf(pid) !== 'T' || stateOf(furze.process.pid!) !== 'T') await delay(20);
    furze.process.kill('SIGCONT');
    while (stateOf(pid) === 'T') await delay(20);
    expect(await furze.stop('SIGINT')).toBe(130);
  });

  test('ends by a closed pipe as a shell expects', () => {
    const main = join(inject('compiled'), 'src/main.js');
    const { stdout } = spawnSync(
      'bash',
      [
        '-c',
        `"$0" "$1" export feedback --data "$2" | head -n 1; echo "\${PIPESTATUS[0]}"`,
        process.execPath,
        main,
        sound,
      ],
      { encoding: 'utf8' },
    );
    expect(stdout).toMatch(/^\{"FeedbackType":"like".+\}\n141\n$/);
  });

  test.skipIf(process.platform !== 'linux')('says in one line that its output has no room', () => {
    const main = join(inject('compiled'), 'src/main.js');
    for (const args of [
      ['config', '--reference'],
      ['export', 'feedback', '--data', sound],
    ]) {
      const full = openSync('/dev/full', 'w');
      const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', full, 'pipe'],
      });
      closeSync(full);
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/^furze: standard output cannot be written: .*ENOSPC.*\n$/),
      ]);
    }
  });
});
