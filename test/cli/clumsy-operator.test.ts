import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-clumsy-'));
const store = join(folder, 'store');
const env = {
  FURZE_DATABASE_DATA_STORE: `lmdb://${store}`,
  FURZE_DATABASE_CACHE_STORE: `lmdb://${store}/cache`,
};

async function run(args: readonly string[], wrapper: string[] = []) {
  const furze = new Furze(args, env, wrapper);
  return { code: await furze.exit, output: furze.output };
}

beforeAll(async () => {
  const likes = join(folder, 'likes.csv');
  const lines = Array.from({ length: 20_000 }, (_, at) => `u${at % 500},i${at % 433}\n`);
  writeFileSync(likes, `user,item\n${lines.join('')}`);
  const { code, output } = await run(['import', 'feedback', '--map', 'user=user,item=item', likes]);
  expect([code, output]).toEqual([0, expect.stringContaining('20,000 rows')]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OUTPUTS = [
  ['export', 'feedback'],
  ['backup', '-'],
  ['backup', join(folder, 'beside-full')],
  ['check'],
  ['config'],
  ['compact'],
];

it.runIf(process.platform === 'linux').each(OUTPUTS)(
  'output that cannot be written is one line and exit code 1: %s',
  async (...args) => {
    const { code, output } = await run(args, ['sh', '-c', 'exec "$0" "$@" > /dev/full']);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^furze: standard output cannot be written: ENOSPC.*\n$/),
    ]);
  },
);

it('several commands that make a store in one folder at once: one does, each other says why not in a line', async () => {
  const source = join(folder, 'backup');
  expect((await run(['backup', source])).code).toBe(0);
  for (const args of [
    ['backup', join(folder, 'copied')],
    ['restore', source, '--data', join(folder, 'restored')],
  ]) {
    const ended = await Promise.all(Array.from({ length: 4 }, () => run(args)));
    expect(ended.map(({ code }) => code).sort(), args[0]).toEqual([0, 1, 1, 1]);
    for (const { code, output } of ended)
      if (code === 1)
        expect(output).toMatch(
          /^furze: (There is a data store in \S+ already\.|The folder \S+ is in use by) .+\n$/,
        );
    const made = args.at(-1) as string;
    expect(readdirSync(made).filter((name) => name.startsWith('partial-'))).toEqual([]);
    expect((await run(['check', made])).code).toBe(0);
  }
});

const likes = join(folder, 'likes.csv');

it.each([
  [['import', 'feedback', likes, '--type', ''], '--type', 'expected a name of 1 to 512 bytes'],
  [
    ['import', 'feedback', likes, '--low-type', 'x'.repeat(513)],
    '--low-type',
    'expected a name of 1 to 512 bytes',
  ],
  [['import', 'feedback', likes, '--data', ''], '--data', 'expected a folder'],
  [['serve', '--host', 'no such host'], '--host (server.host)', 'expected a host name'],
  [['init', likes, '--port', '0'], '--port', 'expected an integer from 1 to 65535'],
  [['compact', store, '--url', 'http://127.0.0.1:1'], 'one place at a time', '--url http://127.0.0.1:1'],
  [
    ['import', '--from-gorse', 'postgres://127.0.0.1:1/x', '--dry-run'],
    '--from-gorse',
    'leave out --dry-run',
  ],
  [['import', '--from-gorse', 'postgres://127.0.0.1:1/x', likes], '--from-gorse', `leave out ${likes}`],
  [['import', likes, '--sum-values', '--url', 'http://127.0.0.1:1'], '--sum-values', 'leave out --url'],
])('what is said is refused by the name of the option: %s', async (args, option, why) => {
  const { code, output } = await run(args);
  expect([code, output]).toEqual([2, expect.stringContaining(option)]);
  expect(output).toContain(why);
  expect(output).not.toContain('FURZE_');
});

it('a folder of Parquet is not written over, and is found before anything is read', async () => {
  const into = join(folder, 'parquet');
  const args = ['export', 'feedback', '--format', 'parquet', '-o', into];
  expect((await run(args)).code).toBe(0);
  const { code, output } = await run(args);
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(/^furze: There is something in .+; name a new folder\.\n$/),
  ]);
});

it('a page that cannot be written is told before lists are judged, and one that can is not left empty', async () => {
  const to = (html: string) => run(['evaluate', '--positive-types', 'none', '--html', html]);
  const lost = await to(join(folder, 'nowhere', 'page.html'));
  expect([lost.code, lost.output]).toEqual([1, expect.stringMatching(/^furze: .*nowhere.*ENOENT.*\n$/)]);
  expect((await to(join(folder, 'page.html'))).output).toContain('no feedback is positive');
  expect(readdirSync(folder)).not.toContain('page.html');
});

it('a check names what is wrong in each of the files, where an import ends at the first', async () => {
  const bad = ['one.csv', 'two.csv'].map((name) => join(folder, name));
  for (const path of bad) writeFileSync(path, 'user,item\nann,a/b\n');
  const checked = await run(['import', 'feedback', ...bad, '--dry-run']);
  for (const path of bad) expect(checked.output).toContain(`${path}:2: `);
  const stored = await run(['import', 'feedback', ...bad]);
  expect([checked.code, stored.code]).toEqual([1, 1]);
  expect(stored.output).not.toContain('two.csv:2: ');
});

it('a rating from which on rows are likes is told to make no difference where there are no ratings', async () => {
  const { code, output } = await run(['import', 'feedback', likes, '--positive', '4', '--dry-run']);
  expect([code, output]).toEqual([0, expect.stringContaining('warning, --positive 4 makes no difference')]);
});

it('rows are told to be of a time that came before where the events of their type count alone', async () => {
  const path = join(folder, 'twice.csv');
  writeFileSync(path, 'user,item,time\nann,tea,1700000000\nann,tea,1700000001\nann,tea,1700000001\n');
  const config = join(folder, 'counted.toml');
  writeFileSync(config, '[recommend.data_source]\nrepeated = { purchase = "count" }\n');
  const importAs = (type: string) =>
    run(['import', 'feedback', path, '-c', config, '--type', type, '--data', join(folder, type)]);
  expect((await importAs('like')).output).toContain(
    '2 rows are of a user, an item and a type that came before',
  );
  expect((await importAs('purchase')).output).toContain(
    '1 row is of a user, an item, a type and a time that came before',
  );
});
