import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { parseMap } from '../../src/cli/common/column-options.ts';
import { findAnswers } from '../../src/cli/init/answers.ts';
import type { Given } from '../../src/cli/init/given.ts';
import { createPrompt, type Prompt } from '../../src/cli/init/prompt.ts';
import { parseConfig } from '../../src/config/config.ts';
import { configTemplate } from '../../src/config/print.ts';
import { Furze, QUICK_FIT } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-init-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const USERS = 80;
const ITEMS = 40;
const RATINGS = 12;

/** Users of two tastes, who rate items of their own taste high and others low, each in an order of its own. */
function ratings(header: string): string {
  let text = `${header}\n`;
  for (let at = 0; at < RATINGS; at++) {
    for (let user = 0; user < USERS; user++) {
      const isOwn = at % 4 !== 3;
      const step = (user * 7 + at * 3) % (ITEMS / 2);
      const item = step * 2 + (isOwn ? user % 2 : 1 - (user % 2));
      text += `u${user},i${item},${isOwn ? 5 : 1},${1_400_000_000 + (at * USERS + user) * 600}\n`;
    }
  }
  return text;
}

const items = file(
  'items.csv',
  `sku,title\n${Array.from({ length: ITEMS }, (_, item) => `i${item},Item ${item}`).join('\n')}\n`,
);
const plain = file('ratings.csv', ratings('user,item,rating,time'));
const clicks = file('clicks.csv', 'user,item,event\nann,tea,view\nann,tea,purchase\nbob,tea,view\n');

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const furze = new Furze(['init', ...args], { ...QUICK_FIT, FURZE_RECOMMEND_RANKER: 'collaborative' });
  const code = await furze.exit;
  return { code, output: furze.output };
}

/** Answers the questions in their order, by a word of each. */
function scripted(...answers: [word: string, answer: string][]): Prompt & { readonly said: string[] } {
  const said: string[] = [];
  const ask = async (question: string, proposal = '') => {
    const [word, answer] = answers.shift() ?? ['(nothing more)', ''];
    expect(question).toContain(word);
    return answer === '' ? proposal : answer;
  };
  return { said, ask, say: (line) => said.push(line), close: () => expect(answers).toEqual([]) };
}

const nothingGiven: Given = { paths: [], preset: 'csv', takesProposals: false };

describe('furze init with flags', () => {
  it('adds up what was bought and given back over several files', async () => {
    const bought = file('bought.csv', 'customer,sku,quantity\nann,tea,3\nann,ale,2\nbob,tea,1\n');
    const returned = file('returned.csv', 'customer,sku,quantity\nann,tea,-1\nann,ale,-2\nbob,mug,1\n');
    const [config, data] = [join(folder, 'returns.toml'), join(folder, 'returns')];
    const done = await run(bought, returned, '--config', config, '--data', data, '--yes');
    expect(done).toMatchObject({ code: 0 });
    const stored = join(folder, 'returns.ndjson');
    const exported = new Furze(['export', 'feedback', '--data', data, '--output', stored]);
    expect(await exported.exit).toBe(0);
    const records = readFileSync(stored, 'utf8').trim().split('\n');
    const values = records.map((line) => {
      const { UserId, ItemId, Value = 0 } = JSON.parse(line) as Record<string, string | number>;
      return [UserId, ItemId, Value].join(' ');
    });
    expect(values.sort()).toEqual(['ann ale 0', 'ann tea 2', 'bob mug 1', 'bob tea 1']);
  });

  it('leaves out what was cancelled, tells how much of it, and an import does the same again', async () => {
    const rows = [
      'ann,tea,paid',
      'ann,ale,cancelled',
      'bob,tea,on hold',
      'bob,ale,refunded',
      'cem,tea,refunded',
    ];
    const orders = file('shop-orders.csv', `customer,sku,status\n${rows.join('\n')}\n`);
    const [config, data] = [join(folder, 'states.toml'), join(folder, 'states')];
    const done = await run(orders, '--config', config, '--data', data, '--yes');
    expect(done).toMatchObject({ code: 0 });
    expect(done.output).toContain(
      `${orders}, "status": refunded 2 rows, paid 1 row, cancelled 1 row, on hold 1 row\n` +
        '3 rows of cancelled, refunded are left out; --leave-out names other states, or none.',
    );
    const left = 'cancelled 1 row, refunded 2 rows';
    expect(done.output).toContain(
      `5 rows read, 2 feedback stored or changed, 3 left out (${left}; --leave-out none takes them)`,
    );
    expect((await run('--show', '--config', config)).output).toContain(`\nLeft out: ${left}\n`);
    // What was said goes before, and is remembered with the type that the rows were taken for.
    const [other, at] = [join(folder, 'other.toml'), join(folder, 'other')];
    await run(orders, '--config', other, '--data', at, '--yes', '--leave-out', 'on hold,refunded');
    const shown = (await run('--show', '--config', other)).output;
    expect(shown).toMatch(/Left out: on hold 1 row, refunded 2 rows\n.* --leave-out 'on hold,refunded' /);
    const more = file('more.csv', 'customer,sku,status\ndee,tea,cancelled\ndee,ale,refunded\n');
    const imported = new Furze(['import', more, '--config', other, '--json']);
    expect(await imported.exit).toBe(0);
    expect(imported.output).toContain('"rows":2,"kept":1,"stored":1,"refused":0,"leftOut":{"refunded":1}');
    expect(imported.output).toContain('all of type "purchase"');
  });

  it('writes a configuration, imports and trains; the printed requests answer from it', async () => {
    const config = join(folder, 'shop.toml');
    const data = join(folder, 'shop');
    const source = file('odd.csv', ratings('member,thing,stars,ts'));
    // What was left by a try that was cut off may be for all to read.
    file('shop.toml.partial', '# cut');
    const done = await run(
      ...[items, source, '--map', 'user=member,item=thing', '--positive', '4', '--port', '8123'],
      ...['--api-key', 'a-secret', '--config', config, '--data', data],
    );
    expect(done).toMatchObject({ code: 0 });
    expect(done.output).toContain('feedback: UserId from "member", ItemId from "thing"');
    expect(done.output).not.toContain('a-secret');
    const shown = await run('--show', '--config', config);
    expect(shown.output).toMatch(
      /feedback: UserId from "member".*\n[\s\S]*Positive: like; ratings from 4 on\nRead: read\n/,
    );
    const import5 = new Furze([
      'import',
      source,
      '--map',
      'user=member,item=thing',
      '--positive',
      '5',
      '--config',
      config,
      '--dry-run',
    ]);
    await import5.exit;
    expect(import5.output).toContain(
      'was set up with ratings from 4 on as likings, and here they are from 5 on',
    );
    const text = readFileSync(config, 'utf8');
    const { server, recommend } = parseConfig(text);
    expect(server).toMatchObject({ port: 8123, api_key: 'a-secret' });
    expect(recommend.data_source).toMatchObject({
      positive_feedback_types: ['like'],
      read_feedback_types: ['read'],
    });
    expect(text).toMatch(/^# Default: port = \d+\nport = 8123$/m);
    expect(statSync(config).mode & 0o077).toBe(0);

    expect(done.output).toMatch(new RegExp(`^  node \\S+/main\\.js serve --config ${config}$`, 'm'));
    const paths = Array.from(
      done.output.matchAll(/^ {2}curl 'http:\/\/127\.0\.0\.1:8123(\S+)' -H "X-API-Key/gm),
      ([, path]) => path,
    );
    expect(paths).toHaveLength(3);
    const serve = new Furze(['serve', '--config', config, '--port', '0']);
    const url = (await serve.waitFor(/"url":"([^"]+)"/))[1];
    for (const path of paths) {
      const answer = await fetch(`${url}${path}`, { headers: { 'X-API-Key': 'a-secret' } });
      expect(await answer.json()).toHaveLength(5);
    }
    const body = /^ {2}curl -X POST '.*\/api\/feedback' -H .* -d '(.*)'$/m.exec(done.output)?.[1];
    const headers = { 'X-API-Key': 'a-secret' };
    const sent = await fetch(`${url}/api/feedback`, { method: 'POST', headers, body });
    expect(await sent.json()).toEqual({ RowAffected: 1 });
    expect(await serve.stop('SIGTERM')).toBe(0);

    const again = await run(source, '--positive', '4', '--config', config, '--data', data);
    expect(again).toMatchObject({ code: 1 });
    expect(again.output).toContain(`serve --config ${config} starts the service`);
    const mixed = await run(source, '--positive', '4', '--config', `${config}.other`, '--data', data);
    expect(mixed).toMatchObject({ code: 1 });
    expect(mixed.output).toContain(`${data} holds data already`);
  });

  it('prints one object and nothing else with --json', async () => {
    const [config, data] = [join(folder, 'json.toml'), join(folder, 'json')];
    const main = join(inject('compiled'), 'src/main.js');
    const args = [
      'init',
      plain,
      '--json',
      '--positive',
      '4',
      '--port',
      '8124',
      '--config',
      config,
      '--data',
      data,
    ];
    const output = execFileSync(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    const told = JSON.parse(String(output));
    expect(told).toMatchObject({
      config,
      data,
      files: [{ path: plain, kind: 'feedback' }],
      positiveTypes: ['like'],
      url: 'http://127.0.0.1:8124',
    });
    expect(told.requests).toHaveLength(3);
    const likes = told.examples.map((each: { likes: number }) => each.likes);
    expect(new Set(likes).size).toBe(likes.length);
    expect(likes).toEqual([...likes].sort((a, b) => a - b));
    expect(told.examples.at(-1).recommended).toHaveLength(5);
  });

  it('writes nothing over', async () => {
    const config = file('mine.toml', '# mine\n');
    const { code, output } = await run(plain, '--yes', '--config', config);
    expect(code).toBe(1);
    expect(output).toContain(`${config} is there already and is not written over`);
    expect(readFileSync(config, 'utf8')).toBe('# mine\n');
  });

  it('says in one line which answer is missing where there is no terminal', async () => {
    const config = join(folder, 'none.toml');
    const place = ['--config', config, '--data', join(folder, 'none')];
    const files = await run(...place);
    expect(files).toEqual({
      code: 2,
      output:
        'furze init: no data files are named (there is no terminal to ask on)\n(see furze init --help)\n',
    });
    const rated = await run(plain, ...place);
    expect(rated).toMatchObject({ code: 2 });
    expect(rated.output).toContain(
      'ratings from 1 to 5; say from which on they are positive, such as --positive 4',
    );
    const typed = await run(clicks, ...place);
    expect(typed).toMatchObject({ code: 2 });
    expect(typed.output).toContain('types of feedback are view, purchase; say by which users want an item');
    expect(existsSync(config)).toBe(false);
  });

  it('stores no file with a bad row and leaves no configuration behind', async () => {
    const bad = file('bad.csv', 'user,item,time\nann,tea,1700000000\nbob,,1700000100\n');
    const config = join(folder, 'bad.toml');
    const data = join(folder, 'bad');
    const { code, output } = await run(bad, '--yes', '--config', config, '--data', data);
    expect(code).toBe(1);
    expect(output).toContain('bad.csv:3: the item id is empty');
    expect(output).toMatch(
      /1 row of 2 cannot be stored; nothing was written\. To leave them out, add --skip-bad:\n.* init .*bad\.csv .*--skip-bad .*--yes\n/,
    );
    expect([config, data].map(existsSync)).toEqual([false, false]);
  });

  it('leaves no data behind where the configuration cannot be written after the import', async () => {
    const [config, data] = [join(folder, 'late.toml'), join(folder, 'late')];
    mkdirSync(join(`${config}.partial`, 'in the way'), { recursive: true });
    const { code, output } = await run(plain, '--yes', '--config', config, '--data', data);
    expect(code).toBe(1);
    expect(output).toContain('ratings.csv: 960 rows read, 960 feedback stored');
    expect(output).toMatch(
      /Nothing is kept\. The same again, with all answers:\n.* init .*ratings\.csv --positive 4 .*--yes\n/,
    );
    expect([config, data].map(existsSync)).toEqual([false, false]);
  });

  it('says after Ctrl-C in the training that everything is imported, and how it goes on', async () => {
    const [config, data] = [join(folder, 'stopped.toml'), join(folder, 'stopped')];
    const furze = new Furze(['init', plain, '--yes', '--evaluate', '--config', config, '--data', data]);
    await furze.waitFor(/^Loading feedback: .*done$/m);
    expect(await furze.stop('SIGINT')).toBe(130);
    expect(furze.output).toMatch(
      /Stopped\. Everything is imported: .* serve --config .*stopped\.toml starts the service/,
    );
    expect(furze.output).not.toMatch(/no model could be trained|^User /m);
    expect(existsSync(config)).toBe(true);
  });

  it('goes on with the good rows of a file with --skip-bad', async () => {
    const text = `${ratings('user,item,rating,time')}ann,,5,1400000000\n`;
    const [config, data] = [join(folder, 'skip.toml'), join(folder, 'skip')];
    const source = file('skip.csv', text);
    const { code, output } = await run(
      ...[source, '--yes', '--skip-bad', '--positive', '4', '--config', config, '--data', data],
    );
    expect(output).toContain('skip.csv:962: the item id is empty');
    expect(output).toContain("curl 'http://127.0.0.1:");
    expect(code).toBe(0);
    expect(existsSync(config)).toBe(true);
  });

  it('takes a file for items whose item column alone is named, whatever its columns are called', async () => {
    const orders = file('orders.csv', 'Bezeroa;Salgaia;Noiz\nann;tee;06.01.2024\nbob;rum;07.01.2024\n');
    const goods = file('artikel.csv', 'Salgaia;Azalpena\ntee;Tee\nrum;Rum\n');
    const map = parseMap('user=Bezeroa,item=Salgaia,time=Noiz');
    const given = { ...nothingGiven, paths: [orders, goods], wishes: { map }, positiveTypes: ['like'] };
    const { files } = await findAnswers({ ...given, takesProposals: true }, undefined);
    expect(files.map(({ plan }) => [plan.kind, plan.hasHeader, plan.mapping])).toEqual([
      ['items', true, { ItemId: 0 }],
      ['feedback', true, { UserId: 0, ItemId: 1, Timestamp: 2 }],
    ]);
  });

  it('takes another column of each file for one field', async () => {
    const orders = file('sales.csv', 'Bezeroa;Salgaia;Noiz\nann;tee;06.01.2024\nbob;rum;07.01.2024\n');
    const goods = file('goods.csv', 'Giltza;Azalpena\ntee;Tee\nrum;Rum\n');
    const map = parseMap('user=Bezeroa,item=Salgaia,item=Giltza,time=Noiz');
    const given = { ...nothingGiven, positiveTypes: ['like'], takesProposals: true };
    const { files } = await findAnswers({ ...given, paths: [orders, goods], wishes: { map } }, undefined);
    expect(files.map(({ plan }) => [plan.kind, plan.mapping])).toEqual([
      ['items', { ItemId: 0 }],
      ['feedback', { UserId: 0, ItemId: 1, Timestamp: 2 }],
    ]);
    const alone = findAnswers({ ...given, paths: [orders], wishes: { map } }, undefined);
    await expect(alone).rejects.toThrow(/sales\.csv has no column "Giltza"/);
  });

  it('refuses types that are not there, columns that are not there and files of items alone', async () => {
    const types = findAnswers({ ...nothingGiven, paths: [clicks], positiveTypes: ['star'] }, undefined);
    await expect(types).rejects.toThrow(
      /no feedback is of type star; the types in the files are view, purchase/,
    );
    const column = findAnswers(
      { ...nothingGiven, paths: [items, plain], wishes: { map: [['user', 'uid']] } },
      undefined,
    );
    await expect(column).rejects.toThrow(/no file has the column "uid"/);
    const only = findAnswers({ ...nothingGiven, paths: [items] }, undefined);
    await expect(only).rejects.toThrow(/no file was taken for feedback.*has sku, title.*--map user=COLUMN/);
  });
});

describe('furze init on a terminal', () => {
  it('asks for the files, what their columns are, what is positive, port and key', async () => {
    const odd = file('strange.csv', 'member,item,a,what\nann,tea,x,view\nann,cake,y,purchase\n');
    const prompt = scripted(
      ['Files', join(folder, 'missing.csv')],
      ['Files', odd],
      ['right', 'no'],
      ['Which column', 'user=member,type=what'],
      ['right', ''],
      ['types of feedback are view, purchase', ''],
      ['port', '70000'],
      ['port', '8200'],
      ['key', 'new'],
      ['Evaluate', ''],
    );
    const answers = await findAnswers({ ...nothingGiven, wishes: { map: [['user', 'member']] } }, prompt);
    prompt.close();
    expect(prompt.said.join('\n')).toContain('there is no file');
    expect(prompt.said).toContain('expected an integer from 1 to 65535');
    expect(answers).toMatchObject({ positiveTypes: ['purchase'], port: 8200, evaluates: false });
    expect(answers.apiKey).toMatch(/^[\w-]{32}$/);
    expect(answers.files[0]?.plan.kind).toBe('feedback');
  });

  it('proposes the rating from which on feedback is positive', async () => {
    const prompt = scripted(['right', ''], ['Ratings are from 1 to 5', '']);
    const answers = await findAnswers(
      { ...nothingGiven, paths: [plain], port: 1, apiKey: '', evaluates: true },
      prompt,
    );
    prompt.close();
    expect(answers.files[0]?.wishes.ratingMin).toBe(4);
    expect(answers).toMatchObject({ positiveTypes: ['like'], readTypes: ['read'], evaluates: true });
  });

  it('takes the names of types and the way times are written from the options', async () => {
    const log = file('log.csv', 'user,item,rating,time\nann,tea,5,1700000000000\nbob,tea,1,1700000100000\n');
    const wishes = { ratingMin: 3, type: 'keep', lowType: 'seen', timeForm: 'milliseconds' } as const;
    const answers = await findAnswers(
      { ...nothingGiven, paths: [log], wishes, takesProposals: true },
      undefined,
    );
    expect(answers).toMatchObject({
      positiveTypes: ['keep'],
      readTypes: ['seen', 'read'],
      newestMs: 1_700_000_100_000,
    });
  });

  it('asks for the order of days and months where the dates do not tell it', async () => {
    const dates = file('dates.csv', 'user,item,time\nann,tea,02/01/2024\n');
    const given = { ...nothingGiven, paths: [dates], port: 1, apiKey: '', evaluates: false };
    await expect(findAnswers({ ...given, takesProposals: true }, undefined)).rejects.toThrow(
      /--time-format month-first or day-first/,
    );
    const prompt = scripted(['Does the day come first', 'no'], ['right', ''], ['What did the user do', '']);
    const { newestMs } = await findAnswers(given, prompt);
    prompt.close();
    expect(newestMs).toBe(Date.UTC(2024, 1, 1));
  });

  it.each([
    ['in their first rows', 1],
    // Columns are guessed by the first 64 KiB.
    ['far behind them', 9000],
  ])('asks for the encoding of files that are not UTF-8 %s', async (_, rows) => {
    const path = join(folder, `western-${rows}.csv`);
    const text = `Kunde,Artikel\n${'ann,tee\n'.repeat(rows)}J\u00f6rg,tee\n`;
    writeFileSync(path, Buffer.from(text, 'latin1'));
    const given = { ...nothingGiven, paths: [path], port: 1, apiKey: '', evaluates: false };
    const alone = findAnswers(given, undefined);
    await expect(alone).rejects.toThrow(/not text in utf-8; try --encoding windows-1252/);
    const proposed = await findAnswers({ ...given, takesProposals: true }, undefined);
    expect(proposed.files[0]?.plan.encoding).toBe('windows-1252');
    const isAtOnce = rows === 1;
    const asked = ['Is it Windows-1252', ''] as [string, string];
    const prompt = scripted(...(isAtOnce ? [asked] : []), ['right', ''], ...(isAtOnce ? [] : [asked]));
    const { files } = await findAnswers({ ...given, positiveTypes: ['like'] }, prompt);
    prompt.close();
    expect(files[0]?.wishes.encoding).toBe('windows-1252');
    expect(files[0]?.plan.encoding).toBe('windows-1252');
    const refusing = scripted(
      ...(isAtOnce ? [] : [['right', ''] as [string, string]]),
      [asked[0], 'no'],
      // Another can be named; none ends it.
      ['Which of utf-8, windows-1252', 'latin-9'],
      ['Which of utf-8, windows-1252', ''],
    );
    await expect(findAnswers({ ...given, wishes: { type: 'like' } }, refusing)).rejects.toThrow(
      /not text in utf-8/,
    );
  });

  it('ends with 130 when the person goes away', async () => {
    const input = new PassThrough();
    const prompt = createPrompt(input, new PassThrough());
    const answer = prompt.ask('Who?');
    input.end();
    await expect(answer).rejects.toMatchObject({ code: 130 });
  });
});

describe('a configuration written with values', () => {
  it('is read back as it was, and says what differs from its default', () => {
    const config = parseConfig('[server]\nport = 9000\n[recommend.popular]\npopular_window = "48h"\n');
    const text = configTemplate(config);
    expect(parseConfig(text)).toEqual(config);
    expect(text.match(/^# Default: /gm)).toHaveLength(2);
  });
});
