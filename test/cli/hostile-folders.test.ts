import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DirectStore } from '../store/direct-store.ts';
import { feedback, putFeedback, storeOptions } from '../store/helpers.ts';
import { chanceOf, FOREIGN, MUTATIONS } from './hostile-folders.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let sound: Buffer;
beforeAll(async () => {
  const path = join(folder, 'sound');
  const store = new DirectStore(path, storeOptions(''));
  for (let user = 0; user < 400; user++)
    await store.write(
      putFeedback(
        Array.from({ length: 17 }, (_, at) =>
          feedback('like', `u${user}`, `i${(user * 7 + at * at) % 90}`, { Value: at }),
        ),
      ),
    );
  await store.close();
  sound = readFileSync(join(path, 'data.mdb'));
});

/** One command of each way to open a folder. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  check: ['check', 'data'],
  'export of feedback': ['export', 'feedback', '-o', 'out/f.ndjson', '--data', 'data'],
  'export of users': ['export', 'users', '-o', 'out/u.csv', '--data', 'data'],
  backup: ['backup', 'out/backup', '--data', 'data'],
  compact: ['compact', 'data'],
  restore: ['restore', 'data', '--data', 'out/restored'],
  evaluate: ['evaluate', '--data', 'data', '--positive-types', 'like'],
  import: ['import', 'feedback', 'more.csv', '--data', 'data'],
  init: ['init', 'more.csv', '--data', 'data', '--yes'],
  migrate: ['migrate', '--from', 'lmdb://data', '--to', 'lmdb://out/moved'],
  serve: ['serve', '--data', 'data', '--port', '0'],
};

/** What LMDB itself says on standard error, and the log of a service. */
const NOT_OURS = /^(?:internal error, index points to|page \d+ not found|\{"level")/;
const TRACE = /\n\s+at |\\n\s+at |\b(?:Type|Range|Reference)Error\b|Cannot read prop/;
/** Arguments or a configuration are wrong. */
const USAGE = 2;

/** Runs a command on a folder of its own and judges how it ended. @returns its exit code */
async function judge(name: string, make: (data: string) => void | Promise<void>): Promise<number> {
  const own = mkdtempSync(join(folder, 'own-'));
  try {
    for (const path of ['data', 'out', 'tmp']) mkdirSync(join(own, path));
    writeFileSync(join(own, 'more.csv'), 'user,item\nnew,i1\nnew,i2\n');
    await make(join(own, 'data'));
    const furze = new Furze(COMMANDS[name]!, { TMPDIR: join(own, 'tmp'), HOME: own }, [], own);
    if (name === 'serve')
      await furze.waitFor(/"msg":"listening"/).then(
        () => furze.stop('SIGTERM'),
        () => undefined,
      );
    const code = (await furze.exit) ?? -1;
    const { output } = furze;
    expect(furze.process.signalCode, output).toBeNull();
    expect(output).not.toMatch(TRACE);
    if (code === 0 || code === USAGE) return code;
    expect(code, output).toBe(1);
    const lines = output.split('\n').filter((line) => line.startsWith('furze: ') && !NOT_OURS.test(line));
    expect(lines, output).toHaveLength(1);
    expect(existsSync(join(own, 'out/f.ndjson'))).toBe(false);
    return code;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

const ROUNDS = Number(process.env.HOSTILE_ROUNDS ?? 1);
/** Command that each folder meets, whatever its number. */
const ALWAYS = ['check'];

/** The commands for a folder: every third one in turn, so that each meets a third of the folders; all in a long run. */
function commandsFor(names: readonly string[], name: string): string[] {
  const number = names.indexOf(name);
  return Object.keys(COMMANDS).filter(
    (command, at) => ROUNDS > 1 || ALWAYS.includes(command) || (number + at) % 3 === 0,
  );
}

describe.skipIf(process.platform === 'win32')('a store of which bytes are others', () => {
  test.each(Object.keys(MUTATIONS))(
    '%s: each command ends in order, with one line where it fails',
    async (name) => {
      for (let seed = 1; seed <= ROUNDS; seed++) {
        const hostile = MUTATIONS[name]!(Buffer.from(sound), chanceOf(seed));
        for (const command of commandsFor(Object.keys(MUTATIONS), name))
          await judge(command, (data) => writeFileSync(join(data, 'data.mdb'), hostile));
      }
    },
  );
});

/** Of folders that hold no store at all, or one that is sound with something else beside it. */
const TAKEN = /^(?:no locks|data in|a link to nothing)/;

describe.skipIf(process.platform === 'win32')('a folder of something else', () => {
  test.each(Object.keys(FOREIGN))(
    '%s: each command ends in order, with one line where it fails',
    async (name) => {
      const codes = new Map<string, number>();
      for (const command of commandsFor(Object.keys(FOREIGN), name))
        codes.set(command, await judge(command, (data) => FOREIGN[name]!(data, Buffer.from(sound))));
      // What is no store of this version is neither read nor written.
      if (!TAKEN.test(name) && !/cache|places of locks/.test(name))
        expect([...codes].filter(([, code]) => code === 0)).toEqual([]);
    },
  );
});
