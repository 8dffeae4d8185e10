import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-exchange-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs the command in this process. */
async function furze(...args: string[]): Promise<{ code: number; output: string }> {
  let output = '';
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      output += String(chunk);
      return true;
    }),
  );
  try {
    const code = await runProgram(args, {});
    return { code, output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

function lines(path: string): unknown[] {
  const text = readFileSync(path, 'utf8').trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
}

const USERS = [
  { UserId: 'ann', Labels: ['a|b', '[c'], Comment: 'says "hi",\nand goes', Subscribe: ['news'] },
  { UserId: 'bob', Labels: { city: 'Oslo', age: 3 }, Comment: '', Subscribe: [] },
  { UserId: 'cy', Labels: ['{"a":1}'], Comment: ' a\u2028b\r\nc ', Subscribe: ['{}'] },
];
const ITEMS = [
  {
    ItemId: 'tea',
    IsHidden: true,
    Categories: ['x', 'y'],
    Timestamp: '2024-05-01T00:00:00.123Z',
    Labels: [],
    Comment: 'é',
  },
];
const FEEDBACK = [
  {
    FeedbackType: 'like',
    UserId: 'ann',
    ItemId: 'tea',
    Timestamp: '2024-05-02T00:00:00Z',
    Comment: 'c',
    Value: 4.5,
  },
  {
    FeedbackType: 'like',
    UserId: 'ann',
    ItemId: 'ale',
    Timestamp: '0001-01-01T00:00:00Z',
    Comment: ' ',
    Value: -1e-9,
  },
  { FeedbackType: 'read', UserId: 'bob', ItemId: 'tea', Timestamp: '2024-05-02T00:00:01Z', Comment: '' },
];

describe('furze import and export', () => {
  it.each(['ndjson', 'csv'])('give the same records again by way of %s', async (format) => {
    const [one, other] = [join(folder, `${format}-1`), join(folder, `${format}-2`)];
    const kinds = { users: USERS, items: ITEMS, feedback: FEEDBACK };
    for (const [kind, records] of Object.entries(kinds)) {
      const given = file(`${kind}.ndjson`, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      expect(await furze('import', kind, given, '--data', one)).toMatchObject({ code: 0 });
      const out = join(folder, `${kind}-out.${format}`);
      expect(await furze('export', kind, '--data', one, '--output', out)).toMatchObject({ code: 0 });
      expect(await furze('import', kind, out, '--data', other)).toMatchObject({ code: 0 });
      const back = join(folder, `${kind}-back.ndjson`);
      await furze('export', kind, '--data', other, '--output', back);
      expect(lines(back)).toEqual(records);
    }
  });

  it('stores nothing of a file with a bad row, names the row, and stores the others when told to', async () => {
    const data = join(folder, 'bad');
    const path = file(
      'bad.csv',
      'user,item,time,stars\nann,tea,1700000000,5\nbob,a/b,1700000000,4\n,tea,1,1\n',
    );
    const refused = await furze('import', 'feedback', path, '--data', data);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain(`${path}:3: the item id holds a slash`);
    expect(refused.output).toContain(`${path}:4: the user id is empty`);
    expect(refused.output).toContain('nothing stored, 2 refused');
    const skipped = await furze('import', 'feedback', path, '--data', data, '--skip-bad', '--json');
    expect(skipped.code).toBe(1);
    expect(JSON.parse(skipped.output.split('\n').find((line) => line.startsWith('{'))!)).toMatchObject({
      files: [{ rows: 3, stored: 1, refused: 2 }],
      refusals: [{ line: 3 }, { line: 4 }],
    });
  });

  it('reads a folder of MovieLens by its names, users and items before feedback', async () => {
    const set = mkdtempSync(join(folder, 'ml-'));
    writeFileSync(join(set, 'u.data'), '1\t10\t5\t881250949\n1\t11\t3\t881250950\n');
    const flags = [0, 0, 0, 0, 0, 1, ...Array(13).fill(0)].join('|');
    writeFileSync(
      join(set, 'u.item'),
      Buffer.from(`10|Amélie (2001)|01-Jan-2001||http://x|${flags}\n`, 'latin1'),
    );
    writeFileSync(join(set, 'u.user'), '1|24|M|technician|85711\n');
    const data = join(folder, 'ml-data');
    const { code, output } = await furze('import', '--from', 'movielens', set, '--data', data);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output.indexOf('u.user')).toBeLessThan(output.indexOf('u.item'));
    expect(output.indexOf('u.item')).toBeLessThan(output.indexOf('u.data'));
    const out = join(folder, 'ml-items.ndjson');
    await furze('export', 'items', '--data', data, '--output', out);
    expect(lines(out)).toMatchObject([
      { ItemId: '10', Comment: 'Amélie (2001)', Timestamp: '2001-01-01T00:00:00Z', Labels: ['Comedy'] },
      { ItemId: '11' },
    ]);
    const feedback = join(folder, 'ml-feedback.ndjson');
    await furze('export', 'feedback', '--data', data, '--output', feedback);
    expect(lines(feedback)).toMatchObject([{ FeedbackType: 'like' }, { FeedbackType: 'read' }]);
  });

  /** Feedback of `count` distinct pairs of a few users and items. */
  function manyFeedback(name: string, count: number): string {
    const path = file(name, 'user,item,time\n');
    for (let from = 0; from < count; from += 10_000) {
      let text = '';
      for (let at = from; at < Math.min(from + 10_000, count); at++)
        text += `u${Math.floor(at / 400)},i${at % 400},${1_700_000_000 + at}\n`;
      appendFileSync(path, text);
    }
    return path;
  }

  const partials = (data: string) =>
    existsSync(data) ? readdirSync(data).filter((name) => name.startsWith('partial-')) : [];

  /** Bytes of a file of the store in the making, 0 while there is none. */
  function bytesOf(data: string, name: string): number {
    const [partial] = partials(data);
    return partial === undefined
      ? 0
      : (statSync(join(data, partial, name), { throwIfNoEntry: false })?.size ?? 0);
  }

  /** Runs an import and sends it the signal once `isTime`; again from the start when that was too late. */
  async function cutOff(
    data: string,
    files: readonly string[],
    isTime: () => boolean,
    signal: NodeJS.Signals,
  ): Promise<Furze> {
    for (;;) {
      const run = new Furze(['import', 'feedback', ...files, '--data', data]);
      while (!isTime() && run.process.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 2));
      const code = await run.stop(signal);
      if (code === 130 || (run.process.signalCode === signal && isTime())) return run;
      rmSync(data, { recursive: true });
    }
  }

  const checkpointsIn = (path: string) =>
    (existsSync(path) ? readdirSync(path) : []).filter((name) => /^furze-import-.*json$/.test(name));

  /** Kills an import once it has noted where to go on; none of its notes is left when that was too late. */
  async function killAtCheckpoint(run: Furze, path: string): Promise<void> {
    while (checkpointsIn(path).length === 0 && run.process.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 2));
    await run.stop('SIGKILL');
  }

  async function countFeedback(data: string): Promise<string> {
    const out = join(folder, 'count.ndjson');
    const { output } = await furze('export', 'feedback', '--data', data, '--output', out);
    return /([\d,]+) feedback/.exec(output)![1]!;
  }

  it.each([
    ['kill -9 while it reads', 'SIGKILL', 'runs', 1],
    ['kill -9 while it stores', 'SIGKILL', 'data.mdb', 800_000],
    ['Ctrl-C while it reads', 'SIGINT', 'runs', 1],
  ] as const)(
    'has stored nothing after %s, and everything when it is run again',
    async (name, signal, watched, bytesMin) => {
      const data = join(folder, name);
      // The end of a file is the end of a run.
      const [one, other] = [manyFeedback('one.csv', 100_000), manyFeedback('other.csv', 105_000)];
      const run = await cutOff(data, [one, other], () => bytesOf(data, watched) >= bytesMin, signal);
      if (signal === 'SIGINT') {
        expect(run.output).toContain('0 feedback stored or changed, cut off');
        expect(run.output).toContain('Interrupted');
      }
      expect(partials(data).length).toBe(signal === 'SIGKILL' ? 1 : 0);
      expect(await countFeedback(data)).toBe('0');
      const again = await furze('import', 'feedback', one, other, '--data', data, '--json');
      expect(again.code).toBe(0);
      const { files } = JSON.parse(again.output.split('\n').find((line) => line.startsWith('{'))!);
      expect(files).toMatchObject([
        { rows: 100_000, stored: 100_000 },
        { rows: 105_000, stored: 5000 },
      ]);
      expect(await countFeedback(data)).toBe('105,000');
      expect(partials(data)).toEqual([]);
    },
  );

  it('tells how many read feedback gave way to positive feedback, in the first import and in later ones', async () => {
    const config = file(
      'read.toml',
      `[database]\ndata_store = "lmdb://${join(folder, 'reads')}"\ncache_store = "lmdb://${join(folder, 'reads-cache')}"\n` +
        '[recommend.data_source]\npositive_feedback_types = ["buy"]\nread_feedback_types = ["view"]\n',
    );
    const importing = async (name: string, rows: readonly string[], ...more: string[]) => {
      const path = file(name, ['user,item,type,time', ...rows, ''].join('\n'));
      return (await furze('import', 'feedback', path, '--config', config, ...more)).output;
    };
    const said = 'read feedback were of a user and an item with positive feedback, which took their place';
    const first = await importing('first.csv', [
      'a,x,view,1700000000',
      'a,x,buy,1700000001',
      'b,x,view,1700000000',
      'b,y,buy,1',
      'c,x,buy,1',
      'c,x,view,1',
    ]);
    expect(first).toContain(
      '1 read feedback was of a user and an item with positive feedback, which took its place.',
    );
    const later = await importing('later.csv', [
      'b,x,buy,1700000002',
      'c,x,buy,2',
      'd,x,view,1',
      'd,x,buy,1',
    ]);
    expect(later).toContain(`2 ${said}`);
    expect(
      JSON.parse(/\{.*\}/.exec(await importing('last.csv', ['e,x,view,1700000000'], '--json'))![0]),
    ).toMatchObject({
      replacedReads: 0,
    });
  });

  it('stores the files before one with a bad row, and of that one neither feedback nor users', async () => {
    const data = join(folder, 'one-bad');
    const good = file('good.csv', 'user,item,time\nann,tea,1700000000\n');
    const bad = file('bad.csv', 'user,item,time\nbob,tea,1700000000\nbob,a/le,1700000000\n');
    const after = file('after.csv', 'user,item,time\nann,ale,1700000000\n');
    const { code, output } = await furze('import', 'feedback', good, bad, after, '--data', data);
    expect(code).toBe(1);
    expect(output).toContain(`${good}: 1 row read, 1 feedback stored or changed`);
    expect(output).toContain(`${bad}:3: the item id holds a slash`);
    expect(output).toContain(
      `${bad}: 2 rows read, nothing stored, 1 refused, 1 left out (--skip-bad stores it)`,
    );
    expect(await countFeedback(data)).toBe('1');
    const odd = file('odd.csv', 'user,item,time\nbob,tea,yesterday\n');
    const other = join(folder, 'one-odd');
    expect((await furze('import', 'feedback', good, odd, '--data', other)).output).toContain(
      'are not understood',
    );
    expect(await countFeedback(other)).toBe('1');
    const out = join(folder, 'one-bad-users.ndjson');
    await furze('export', 'users', '--data', data, '--output', out);
    expect(lines(out)).toMatchObject([{ UserId: 'ann' }]);
  });

  it.skipIf(process.platform === 'win32')('reads standard input and a named pipe once', async () => {
    const data = join(folder, 'streams');
    const [one, other] = [manyFeedback('piped.csv', 30_000), manyFeedback('more.csv', 31_000)];
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('cp', [one, pipe]);
    const written = once(writer, 'exit');
    const run = new Furze(['import', 'feedback', pipe, '--data', data]);
    expect([await run.exit, run.output]).toEqual([0, expect.stringContaining('30,000 feedback stored')]);
    expect((await written)[0]).toBe(0);
    const args = ['import', 'feedback', '-', '--data', data];
    const second = new Furze(args, {}, ['sh', '-c', `exec "$@" < '${other}'`, 'sh']);
    expect([await second.exit, second.output]).toEqual([0, expect.stringContaining('1,000 feedback stored')]);
  });

  it('goes on after kill -9 where it was in a store that had feedback, and ends with every record once', async () => {
    const count = 120_000;
    const path = manyFeedback('many.csv', count);
    const data = join(folder, 'killed');
    const first = file('first.csv', 'user,item,time\nann,tea,1700000000\n');
    const hasCheckpoint = () => checkpointsIn(data).length === 1;
    do {
      rmSync(data, { recursive: true, force: true });
      await furze('import', 'feedback', first, '--data', data);
      await killAtCheckpoint(new Furze(['import', 'feedback', path, '--data', data]), data);
    } while (!hasCheckpoint());
    const again = await furze('import', 'feedback', path, '--data', data);
    expect(again.code).toBe(0);
    // All are new, but for those of a batch that was stored just before the end.
    const told = / ([\d,]+) rows read behind those of an earlier run, ([\d,]+) feedback stored/.exec(
      again.output,
    )!;
    const [rows, stored] = [told[1]!, told[2]!].map((number) => Number(number.replaceAll(',', '')));
    expect(rows).toBeLessThan(count);
    expect(stored).toBeLessThanOrEqual(rows!);
    expect(hasCheckpoint()).toBe(false);
    expect(await countFeedback(data)).toBe('120,001');
  });

  it('sends to a running service with its key, and says so when none is there', async () => {
    const path = file('some.csv', 'user,item,time\nann,tea,1700000000\n');
    const gone = await furze('import', 'feedback', path, '--url', 'http://127.0.0.1:1');
    expect(gone.code).toBe(1);
    expect(gone.output).toMatch(/furze: http:\/\/127\.0\.0\.1:1 does not answer/);
    const key = { FURZE_SERVER_API_KEY: 'key' };
    const service = new Furze(['serve', '--port', '0', '--data', join(folder, 'served')], key);
    const [, url] = await service.waitFor(/"url":"(http[^"]+)"/);
    const wrong = await furze('import', 'feedback', path, '--url', url!);
    expect(wrong).toMatchObject({
      code: 1,
      output: expect.stringMatching(/asks for its key; set FURZE_SERVER_API_KEY/),
    });
    const right = new Furze(['import', 'feedback', path, '--url', url!], key);
    expect(await right.exit).toBe(0);
    // Which types are positive there is not known here.
    expect(right.output).not.toContain('positive feedback types');
    const tasks = await fetch(`${url}/api/admin/tasks`, { headers: { 'X-API-Key': 'key' } });
    expect(((await tasks.json()) as { Past: unknown[] }).Past).toContainEqual(
      expect.objectContaining({
        Kind: 'import',
        State: 'done',
        Result: { file: 'some.csv', 'feedback written': 1, refused: 0 },
      }),
    );
    const out = join(folder, 'served.ndjson');
    const exported = new Furze(['export', 'feedback', '--url', url!, '--output', out], key);
    expect(await exported.exit).toBe(0);
    expect(lines(out)).toMatchObject([{ UserId: 'ann', ItemId: 'tea' }]);
    await service.stop('SIGTERM');
  });

  it('sends smaller batches to a service that takes less at once', async () => {
    const count = 6000;
    const rows = Array.from({ length: count }, (_, at) => `u${at},i${at % 7},${1_700_000_000 + at}\n`);
    const path = file('many.csv', `user,item,time\n${rows.join('')}`);
    const limits = { FURZE_SERVER_MAX_BATCH_RECORDS: '1700', FURZE_SERVER_MAX_BODY_BYTES: '65536' };
    for (const [name, most] of Object.entries(limits)) {
      const service = new Furze(['serve', '--port', '0', '--data', join(folder, name)], { [name]: most });
      const [, url] = await service.waitFor(/"url":"(http[^"]+)"/);
      const { code, output } = await furze('import', 'feedback', path, '--url', url!, '--json');
      expect([code, output]).toEqual([0, expect.stringContaining(`"stored":${count}`)]);
      await service.stop('SIGTERM');
    }
  });

  it('goes on after kill -9 of an import to a service, which has every record once', async () => {
    const count = 60_000;
    const path = file(
      'sent.csv',
      `user,item,time\n${Array.from({ length: count }, (_, at) => `u${at % 997},i${at},${1_700_000_000 + at}\n`).join('')}`,
    );
    const home = mkdtempSync(join(folder, 'state-'));
    const state = join(home, 'furze');
    const data = join(folder, 'sent');
    const start = () => new Furze(['serve', '--port', '0', '--data', data]);
    const addressOf = async (of: Furze) => (await of.waitFor(/"url":"(http[^"]+)"/))[1]!;
    let service = start();
    let url = await addressOf(service);
    const argsTo = (to: string) => ['import', 'feedback', path, '--url', to, '--json'];
    const checkpoints = () => checkpointsIn(state);
    for (;;) {
      await killAtCheckpoint(new Furze(argsTo(url), { XDG_STATE_HOME: home }), state);
      if (checkpoints().length === 1) break;
      await service.stop('SIGTERM');
      rmSync(data, { recursive: true });
      service = start();
      url = await addressOf(service);
    }
    const args = argsTo(url);
    const again = new Furze(args, { XDG_STATE_HOME: home });
    expect(await again.exit).toBe(0);
    // What an import tells of a service's address and files is this user's alone.
    expect(statSync(state).mode & 0o777).toBe(0o700);
    const [result] = JSON.parse(again.output.split('\n').find((line) => line.startsWith('{'))!).files;
    expect(result.rows).toBeLessThan(count);
    expect(checkpoints()).toEqual([]);
    const out = join(folder, 'sent.ndjson');
    const exported = new Furze(['export', 'feedback', '--url', url, '--output', out]);
    expect(await exported.exit).toBe(0);
    expect(new Set(lines(out).map((row) => (row as { ItemId: string }).ItemId)).size).toBe(count);
    expect(lines(out)).toHaveLength(count);
    expect(await service.stop('SIGTERM')).toBe(0);
  });

  it('adds up the values of rows of one user and item where that is asked for, in a folder without feedback', async () => {
    const rows = 'user,item,qty\nann,tea,3\nann,tea,-1\nann,cup,1\nann,cup,-1\nbob,tea,-1\nbob,tea,2\n';
    const path = file('returns.csv', rows);
    const data = join(folder, 'returns');
    const sums = ['--type', 'purchase', '--sum-values', '--data', data];
    const { code, output } = await furze('import', 'feedback', path, ...sums);
    expect(code, output).toBe(0);
    expect(output).toContain(
      '3 rows are of a user, an item and a type that came before: their values are added up',
    );
    const exported = join(folder, 'returns.ndjson');
    expect((await furze('export', 'feedback', '-o', exported, '--data', data)).code).toBe(0);
    const found = lines(exported) as { UserId: string; ItemId: string; Value?: number }[];
    expect(found.map(({ UserId, ItemId, Value = 0 }) => [UserId, ItemId, Value]).sort()).toEqual([
      ['ann', 'cup', 0],
      ['ann', 'tea', 2],
      ['bob', 'tea', 1],
    ]);
    const again = await furze('import', 'feedback', path, ...sums);
    const twice = file('twice.csv', 'user,item,time\nann,tea,1700000000\nann,tea,1700000000\n');
    expect((await furze('import', 'feedback', twice, '--data', join(folder, 'twice'))).output).toContain(
      '; 1 row is of a user, an item and a type that came before',
    );
    expect(again.output).toContain('The folder has feedback already: values are not added up');
    expect(again.output).toContain(
      '6 rows are of a user, an item and a type that came before: of each the first counts',
    );
    const fresh = await furze('import', 'feedback', path, '--overwrite', '--data', join(folder, 'last'));
    expect(fresh.output).toContain(
      '3 rows are of a user, an item and a type that came before: of each the last counts',
    );
    expect((await furze('import', 'feedback', path, ...sums, '--overwrite')).code).toBe(2);
  });

  it('takes items out of orders that have titles and categories, once, and when asked to, without times of orders', async () => {
    const head = 'Kunde;Artikelnr;Bezeichnung;Warengruppe;Datum\n';
    const path = file('orders.csv', `${head}ann;7;Tea;Drinks;2024-05-01\nbob;7;Tea;Drinks;2024-05-02\n`);
    const data = join(folder, 'with-items');
    const first = await furze('import', path, '--data', data);
    expect(first.output).toContain('1 row read, 1 item stored or changed');
    expect(first.output).toContain('2 rows read, 2 feedback stored or changed');
    const out = join(folder, 'with-items.ndjson');
    await furze('export', 'items', '-o', out, '--data', data);
    const tea = { ItemId: '7', Comment: 'Tea', Categories: ['Drinks'], Labels: ['Drinks'] };
    expect(lines(out)).toMatchObject([tea]);
    const more = file('more.csv', `${head}ann;8;Cup;Ware;2024-06-01\nbob;7;Tee;Drinks;2024-06-02\n`);
    expect((await furze('import', more, '--data', data)).output).not.toContain('items stored');
    await furze('export', 'items', '-o', out, '--data', data);
    const bare = { ItemId: '8', Comment: '', Labels: [] };
    expect(lines(out)).toMatchObject([tea, bare]);
    expect((await furze('import', 'items', more, '--data', data)).output).toContain(
      '2 rows read, 2 items stored',
    );
    await furze('export', 'items', '-o', out, '--data', data);
    const cup = { ItemId: '8', Comment: 'Cup', Labels: ['Ware'] };
    expect(lines(out)).toMatchObject([{ ...tea, Comment: 'Tee' }, cup]);
    for (const item of lines(out)) expect(JSON.stringify(item)).not.toContain('2024-06');
  });

  it('opens nothing for a file that is not there', async () => {
    const data = join(folder, 'never');
    const { code, output } = await furze('import', join(folder, 'none.csv'), '--data', data);
    expect([code, output]).toEqual([1, `furze: there is no file ${join(folder, 'none.csv')}\n`]);
    expect(existsSync(data)).toBe(false);
  });

  it('asks for files when there are none', async () => {
    expect(await furze('import', 'users')).toEqual({
      code: 2,
      output: 'furze: name the files with users to import (see furze import --help)\n',
    });
  });

  it.each([
    [['import', 'feedback', 'none.csv', '--positive', 'x'], 2],
    [['import', 'feedback', 'none.csv', '--map', 'user'], 2],
    [['import', 'feedback', '/nonexistent.csv', '--dry-run'], 1],
    [['export', 'planets'], 2],
    [['export', 'items', '--data', '/nonexistent'], 1],
    [['export', 'items', '--output', '/nonexistent/items.xlsx'], 2],
    [['export', 'items', '--output', '/nonexistent/items.csv.zst'], 2],
    [['export', 'items', '--json'], 2],
    [['export', 'items', '--format', 'csv', '--output', '/nonexistent/items.ndjson.gz'], 2],
    [['export', 'items', '--format', 'parquet', '--output', '/nonexistent/items.csv'], 2],
  ] as const)('%j exits %i', async (args, code) => {
    expect((await furze(...args)).code).toBe(code);
  });
});
