import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DirectStore } from '../store/direct-store.ts';
import { feedback, putFeedback, storeOptions } from '../store/helpers.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-bad-input-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names of what the folder holds; commands run in it. */
const [GOOD, DAMAGED, CUT, HALF, FILE] = ['good', 'damaged', 'cut', 'half', 'file.csv'] as const;

beforeAll(async () => {
  const store = new DirectStore(join(folder, GOOD), storeOptions(''));
  await store.write(putFeedback(Array.from({ length: 500 }, (_, i) => feedback('like', `u${i}`, 'i'))));
  await store.close();
  const whole = readFileSync(join(folder, GOOD, 'data.mdb'));
  for (const name of [DAMAGED, CUT, HALF]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, DAMAGED, 'data.mdb'), Buffer.from(whole).fill(0xa5, 0, 4096));
  writeFileSync(join(folder, CUT, 'data.mdb'), whole.subarray(0, whole.length / 2));
  // What a backup leaves that was killed: its copy has no name yet.
  mkdirSync(join(folder, HALF, 'partial-abc'));
  writeFileSync(join(folder, HALF, 'partial-abc', 'data.mdb'), whole.subarray(0, whole.length / 2));
  writeFileSync(join(folder, FILE), 'user,item,time\nann,tea,1700000000\n');
});

const NOBODY = 'http://127.0.0.1:2';
const NO_STORE = /^furze: There is no data store in none\.\n$/;
const IS_DAMAGED = /^furze: The data store in (damaged|cut) is damaged: .+ Restore a backup .+\n$/m;
const IS_FILE = /^furze: (\S*\/)?file\.csv\b.* a file\b.+\n$/;
const NO_ANSWER = /^furze: http:\S+ does not answer \(ECONNREFUSED\); .+\n$/;

/** What is wrong, exit code, and what is said; nothing else is. */
const CASES: readonly (readonly [command: string, code: number, said: RegExp])[] = [
  ['serve --data file.csv --port 0', 1, IS_FILE],
  ['serve --data cut --port 0', 1, IS_DAMAGED],
  ['playground --data file.csv --port 0', 1, IS_FILE],
  ['init none.csv --yes', 1, /^furze: there is no file none\.csv\n$/],
  ['init file.csv --yes --data file.csv', 1, /^furze: file\.csv cannot be a folder/m],
  ['import feedback file.csv --data cut', 1, IS_DAMAGED],
  ['import feedback file.csv --data file.csv', 1, IS_FILE],
  [`import file.csv --url ${NOBODY}`, 1, /^furze: http:\S+ does not answer/m],
  [
    'import file.csv --map user=uid --data good',
    1,
    /^furze: file\.csv has no column "uid"; it has user, item, time\n$/,
  ],
  [
    'import file.csv ./file.csv --data good',
    1,
    /^furze: \.\/file\.csv is named twice; name each file once\n$/,
  ],
  ['import half --data good', 1, /^furze: half is a folder; .+\n$/],
  ['export feedback --data none', 1, NO_STORE],
  ['export feedback --data damaged', 1, IS_DAMAGED],
  ['export feedback --data cut', 1, IS_DAMAGED],
  ['export feedback --data file.csv', 1, IS_FILE],
  ['export feedback --data good -o none/x.csv', 1, /^furze: none\/x\.csv cannot be written: .+\n$/],
  [`export items --url ${NOBODY}`, 1, NO_ANSWER],
  ['migrate --from lmdb://none --to postgres://me@127.0.0.1:2/x', 1, NO_STORE],
  ['migrate --from lmdb://cut --to postgres://me@127.0.0.1:2/x', 1, IS_DAMAGED],
  ['migrate --from lmdb://good --to lmdb://good', 1, /^furze: --from and --to name the same store\.\n$/],
  [
    'migrate --from lmdb://good --to postgres://me:hush@127.0.0.1:2/x',
    1,
    /^furze: postgres:(?!.*hush).+ cannot be reached: .+\n$/,
  ],
  [
    'migrate --from lmdb://good',
    2,
    /required option '--to <store>' not specified\n\(see furze migrate --help\)\n$/,
  ],
  ['evaluate --data none', 1, NO_STORE],
  ['evaluate --data damaged', 1, IS_DAMAGED],
  ['evaluate none.csv', 1, /^furze: there is no file none\.csv\n$/],
  ['evaluate --share 2', 2, /expected a number between 0 and 1\n/],
  ['status --data none --timeout 0', 2, /above 0/],
  ['config --config good/data.mdb', 2, /good\/data\.mdb is not TOML/],
  ['compact none', 1, NO_STORE],
  ['compact damaged', 1, IS_DAMAGED],
  ['compact file.csv', 1, IS_FILE],
  ['compact good --lock-wait x', 2, /expected a number of seconds/],
  ['check none', 1, NO_STORE],
  ['check file.csv', 1, IS_FILE],
  ['backup new --data none', 1, NO_STORE],
  ['backup new --data damaged', 1, IS_DAMAGED],
  ['backup - --data cut', 1, IS_DAMAGED],
  ['backup file.csv --data good', 1, IS_FILE],
  ['backup good --data good', 1, /^furze: There is a data store in good already\. .+\n$/],
  ['restore none --data new', 1, /^furze: There is no backup in none\.\n$/],
  ['restore half --data new', 1, /^furze: There is no backup in half\.\n$/],
  ['restore half/partial-abc/data.mdb --data new', 1, /^furze: The backup is (cut short|damaged): .+\n$/],
  ['restore damaged --data new', 1, /^furze: The backup is damaged: .+\n$/],
  ['restore good --data file.csv', 1, IS_FILE],
];

describe('bad input', () => {
  it.each(CASES)('furze %s exits %i and says why', async (command, code, said) => {
    const env = { FURZE_DATABASE_REPLICA: 'lmdb://replica' };
    const furze = new Furze(command.split(' '), env, [], folder);
    expect([await furze.exit, furze.output]).toEqual([code, expect.stringMatching(said)]);
    // No stack, and no store where there was none.
    expect(furze.output).not.toMatch(/^ {4}at /m);
    const stores = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const made = stores.filter((name) => /^(?!good|damaged|cut|half).*data\.mdb$/.test(name));
    expect(made).toEqual([]);
  });

  /** Runs a command without root's right to write everything. */
  const plainly = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override'] : [];
  const isPlain = plainly.length === 0 || spawnSync(plainly[0]!, [...plainly.slice(1), 'true']).status === 0;
  it.runIf(isPlain && process.platform === 'linux')(
    'a store that may be read and not locked is not copied, since a service would write over what is read',
    async () => {
      chmodSync(join(folder, GOOD, 'lock.mdb'), 0o444);
      for (const args of [['backup', 'new'], ['export', 'users'], ['evaluate']]) {
        const furze = new Furze([...args, '--data', GOOD], {}, plainly, folder);
        expect([await furze.exit, furze.output]).toEqual([
          1,
          expect.stringMatching(/^furze: This user may not write good\/lock\.mdb, .+\n$/),
        ]);
      }
      chmodSync(join(folder, GOOD, 'lock.mdb'), 0o644);
    },
  );
});
