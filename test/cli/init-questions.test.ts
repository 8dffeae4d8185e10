import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { parseMap } from '../../src/cli/common/column-options.ts';
import { ExitStatus } from '../../src/cli/common/exit-status.ts';
import { type Answers, findAnswers } from '../../src/cli/init/answers.ts';
import { findFolder, rememberFolder } from '../../src/cli/init/data-place.ts';
import { describeNext, requestsOf } from '../../src/cli/init/example-requests.ts';
import type { Given } from '../../src/cli/init/given.ts';
import { createPrompt, type Prompt } from '../../src/cli/init/prompt.ts';
import { sameCommand } from '../../src/cli/init/same-command.ts';
import {
  describeWritten,
  fittedConfig,
  refuseWrittenConfig,
  writeConfig,
} from '../../src/cli/init/written-config.ts';
import { parseConfig } from '../../src/config/config.ts';
import { importFile } from '../../src/exchange/import-file.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';
import { FolderLockedError } from '../../src/store/lock/folder-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-init-questions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
vi.spyOn(process.stderr, 'write').mockReturnValue(true);

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Answers the questions in their order, by a word of each, and keeps what was said and asked. */
function scripted(...answers: [word: string, answer: string][]): Prompt & { readonly heard: string[] } {
  const heard: string[] = [];
  const ask = async (question: string, proposal = '') => {
    heard.push(`${question} (${proposal})`);
    const [word, answer] = answers.shift() ?? ['(nothing more)', ''];
    expect(question).toContain(word);
    return answer === '' ? proposal : answer;
  };
  return { heard, ask, say: (line) => heard.push(line), close: () => expect(answers).toEqual([]) };
}

const rest = { preset: 'csv', port: 1, apiKey: '', evaluates: false } as const;
const asks = (path: string, more: Partial<Given> = {}): Given => ({
  ...{ ...rest, paths: [path], takesProposals: false },
  ...more,
});
const accepts = (path: string, more: Partial<Given> = {}): Given =>
  asks(path, { takesProposals: true, ...more });

/** A shop's export: every third quantity is a return. */
const orders = file(
  'orders.csv',
  `Kundennr;Artikelnr;Menge;Bestelldatum\n${Array.from({ length: 30 }, (_, at) => `k${at};a${at % 7};${at % 3 === 0 ? -1 : 2};2024-01-${10 + (at % 20)}`).join('\n')}\n`,
);

describe('what a row of a file without types is', () => {
  it('is a purchase where the columns are those of orders, and a quantity below 0 a return', async () => {
    const prompt = scripted(
      ['right', ''],
      ['What did the user do', ''],
      ['10 rows of purchase have a Menge below 0', ''],
    );
    const answers = await findAnswers(asks(orders), prompt);
    prompt.close();
    expect(answers.positiveTypes).toEqual(['purchase>0']);
    expect(prompt.heard[0]).toContain('all of type "purchase"');
    expect(answers.files[0]?.wishes.type).toBe('purchase');
    expect(answers.sumsValues).toBe(true);
    const proposed = await findAnswers(accepts(orders), undefined);
    expect(proposed.sumsValues).toBe(true);
    expect(proposed.positiveTypes).toEqual(['purchase>0']);
    await expect(findAnswers(asks(orders), undefined)).rejects.toThrow(
      "10 rows of purchase have a Menge below 0; if these are returns, say --positive-types 'purchase>0'",
    );
  });

  it('is no return where most values are below 0', async () => {
    const rows = [-1, -2, -1, 3].map((quantity, at) => `k${at};a${at};${quantity}`).join('\n');
    const booked = file('booked.csv', `Kundennr;Artikelnr;Menge\n${rows}\n`);
    const answers = await findAnswers(accepts(booked), undefined);
    expect(answers.positiveTypes).toEqual(['purchase']);
    expect(answers.sumsValues).toBe(false);
  });

  it('is what is answered', async () => {
    const prompt = scripted(['right', ''], ['What did', 'a,b'], ['What did', 'kauf'], ['returns', 'no']);
    const answers = await findAnswers(asks(orders), prompt);
    prompt.close();
    expect(answers.positiveTypes).toEqual(['kauf']);
  });

  it('is the type that counts as positive where that alone is said', async () => {
    const given = accepts(orders, { positiveTypes: ['kauf>0=2'] });
    const { files, positiveTypes } = await findAnswers(given, undefined);
    expect([files[0]?.wishes.type, positiveTypes]).toEqual(['kauf', ['kauf>0=2']]);
    await expect(
      findAnswers(accepts(orders, { positiveTypes: ['kauf', 'klick'] }), undefined),
    ).rejects.toThrow(
      /no feedback is of type kauf, klick; .* say with --type which the rows of .*orders\.csv are/,
    );
  });

  it('is a purchase or a return where the name of the file says so', async () => {
    const rows = 'user,item,time\nann,tea,2024-01-01\n';
    const [sold, back] = [file('Verkaeufe-2024.csv', rows), file('retouren.csv', rows)];
    const paths = [sold, file('Zamówienia.csv', rows), back];
    const prompt = scripted(
      ...(['right', 'right', 'right'].map((word) => [word, '']) as [string, string][]),
      ['What did the user do in a row of', ''],
      [`What did the user do in a row of ${back}?`, ''],
      ['types of feedback are purchase, return', ''],
    );
    const answers = await findAnswers(asks(sold, { paths }), prompt);
    prompt.close();
    expect(answers.files.map(({ plan }) => plan.type)).toEqual(['purchase', 'purchase', 'return']);
    expect(answers.positiveTypes).toEqual(['purchase']);
    expect((await findAnswers(accepts(sold, { paths }), undefined)).positiveTypes).toEqual(['purchase']);
    const places = { config: 'furze.toml', data: './data', from: 'csv' } as const;
    expect(sameCommand({ ...answers, takesProposals: true }, places)).not.toContain('--type ');
  });

  it('is a purchase where the file has payments or a currency', async () => {
    const paid = file('paid.csv', 'user,item,time,Currency\nann,tea,2024-01-01,usd\n');
    const sap = file('vbrp.csv', 'KUNAG,MATNR,FKDAT,WAERK\n7,4,2024-01-01,EUR\n');
    const stripe = file('unified_payments.csv', 'user,item,time\nann,tea,2024-01-01\n');
    for (const path of [paid, sap, stripe])
      expect((await findAnswers(accepts(path), undefined)).positiveTypes).toEqual(['purchase']);
  });

  it('is a like where nothing speaks of an order', async () => {
    const clicks = file('clicks.csv', 'user,item,time\nann,tea,2024-01-01\n');
    expect((await findAnswers(accepts(clicks), undefined)).positiveTypes).toEqual(['like']);
  });
});

describe('the columns of a file', () => {
  it('are parted by what is answered where one is found, and what stands in each line is proposed', async () => {
    const hashes = file('hashes.csv', 'user#item\nann#tea\nbob#ale\n');
    await expect(findAnswers(accepts(hashes), undefined)).rejects.toThrow(/say --delimiter '#'$/);
    const prompt = scripted(['stands between', ''], ['right', ''], ['What did the user do', '']);
    const { files } = await findAnswers(asks(hashes), prompt);
    prompt.close();
    expect(prompt.heard[0]).toMatch(
      /only one column was found, but "#" stands equally often in each line\.$/,
    );
    expect(files[0]?.plan.columns).toEqual(['user', 'item']);
    const places = { config: 'furze.toml', data: './data', from: 'csv' } as const;
    expect(sameCommand({ files, takesProposals: false }, places)).toMatch(/ --delimiter '#'/);
    // The other file has a sign that is found.
    const semicolons = file('semicolons.csv', 'item;title\ntea;Green tea\n');
    const both = scripted(['stands between', ''], ['right', ''], ['right', ''], ['What did the user do', '']);
    const mixed = await findAnswers(asks(hashes, { paths: [hashes, semicolons] }), both);
    both.close();
    expect(mixed.files.map(({ plan }) => plan.kind)).toEqual(['items', 'feedback']);
  });
});

describe('the titles of items', () => {
  it('are asked for where no column is known for them', async () => {
    const goods = file('goods.csv', 'Artikelnr;Wortlaut;Preis\na1;Tee;1\n');
    const given = asks(goods, {
      paths: [goods, orders],
      wishes: { type: 'purchase' },
      positiveTypes: ['purchase>0'],
    });
    const prompt = scripted(['right', ''], ['titles', 'Worte'], ['titles', 'Wortlaut'], ['right', '']);
    const { files } = await findAnswers(given, prompt);
    prompt.close();
    expect(prompt.heard.join('\n')).toMatch(
      /One of Wortlaut, Preis, or none: \(none\)\nthere is no column Worte/,
    );
    expect(files[0]?.plan.mapping).toEqual({ ItemId: 0, Comment: 1 });
    const without = scripted(['right', ''], ['titles', ''], ['right', '']);
    const { files: bare } = await findAnswers(given, without);
    expect(bare[0]?.plan.mapping).toEqual({ ItemId: 0 });
  });
});

describe('columns of a language that is not known', () => {
  it('are asked for, users where there are items alone, and both where there is nothing', async () => {
    const half = file('half.csv', 'Artikelnr;Eroslea;Zenbat\na1;ann;1\na2;bob;2\n');
    const prompt = scripted(
      ...([
        ['the users', 'Erosleat'],
        ['the users', 'Eroslea'],
        ['right', ''],
        ['What did', ''],
      ] as [string, string][]),
    );
    const { files } = await findAnswers(asks(half), prompt);
    prompt.close();
    expect(prompt.heard.join('\n')).toMatch(
      /has items and no column that looks like users[\s\S]*no column Erosleat/,
    );
    expect(files.map(({ plan }) => [plan.kind, plan.mapping])).toEqual([
      ['feedback', { ItemId: 0, UserId: 1 }],
    ]);
    const none = file('none.csv', 'Eroslea;Salgaia;Zenbat\nann;a1;1\nbob;a2;2\n');
    const both = scripted(
      ['has the users', ''],
      ['has the users', 'Eroslea'],
      ['has the items', 'Salgaia'],
      ['right', ''],
      ['What did', ''],
    );
    const named = await findAnswers(asks(none), both);
    both.close();
    expect(named.files[0]?.plan.mapping).toEqual({ UserId: 0, ItemId: 1 });
    await expect(findAnswers(accepts(none), undefined)).rejects.toThrow(
      /no column looks like the UserId of feedback; name it with --map user=COLUMN\. The columns are Eroslea/,
    );
  });
});

describe('feedback all of which would be of now', () => {
  const rows = (time: string) => `Eroslea;sku;Hetki;Syntynyt\nann;a1;${time};x\nbob;a2;${time};y\n`;
  const map = parseMap('user=Eroslea');

  it('asks for the column of its times where one looks as if it had them, and takes it by Enter', async () => {
    const when = file('when.csv', rows('2024-01-10 08:00'));
    await expect(findAnswers(accepts(when, { wishes: { map } }), undefined)).rejects.toThrow(
      /"Hetki" looks as if it had times; --map time=COLUMN names the column, and --missing-time now stores/,
    );
    const prompt = scripted(['has the times, or none', ''], ['right', ''], ['What did', '']);
    const { files } = await findAnswers(asks(when, { wishes: { map } }), prompt);
    prompt.close();
    expect(files[0]?.plan).toMatchObject({ mapping: { Timestamp: 2 }, timeForm: 'date' });
    const none = scripted(['has the times', 'none'], ['right', ''], ['What did', '']);
    const { files: now } = await findAnswers(asks(when, { wishes: { map } }), none);
    expect(now[0]?.wishes.missingTime).toBe('now');
    const places = { config: 'furze.toml', data: './data', from: 'csv' } as const;
    expect(sameCommand({ files: now, takesProposals: true }, places)).toContain(' --missing-time now ');
    const unix = file('unix.csv', rows('1700000000'));
    await expect(findAnswers(accepts(unix, { wishes: { map } }), undefined)).rejects.toThrow('"Hetki" looks');
  });

  it('is not stored by Enter where the column of times has none', async () => {
    const empty = file('empty-times.csv', 'user,item,date\nann,a1,\nbob,a2,0000-00-00\n');
    const prompt = scripted(['has the times', ''], ['has the times', '']);
    await expect(findAnswers(asks(empty), prompt)).rejects.toThrow(/no row has a time in "date"/);
    prompt.close();
    const now = accepts(empty, { wishes: { missingTime: 'now' } });
    expect((await findAnswers(now, undefined)).files).toHaveLength(1);
  });

  it('is taken where no column may have times: numbers, years and births', async () => {
    const bare = file('bare.csv', 'user,item,ean,year,birthday\nann,a1,4006381333931,1999,1990-01-02\n');
    expect((await findAnswers(accepts(bare), undefined)).files).toHaveLength(1);
  });
});

describe('a question without a proposal', () => {
  it('ends after the second Enter, with what to say', async () => {
    const none = file('nothing-known.csv', 'Eroslea;Salgaia;Zenbat\nann;a1;1\nbob;a2;2\n');
    const columns = scripted(['has the users', ''], ['has the users', '']);
    await expect(findAnswers(asks(none), columns)).rejects.toThrow(/name it with --map user=COLUMN/);
    columns.close();
    const files = scripted(['Files with', ''], ['Files with', '']);
    await expect(findAnswers({ ...asks(''), paths: [] }, files)).rejects.toThrow(/name them behind init/);
    files.close();
    const events = file(
      'events.csv',
      'user,item,event,time\nann,a1,logged in,2024-01-01\nann,a1,logged out,2024-01-01\n',
    );
    const types = scripted(['right', ''], ['want an item', ''], ['want an item', '']);
    await expect(findAnswers(asks(events), types)).rejects.toThrow(/such as --positive-types 'logged in'/);
    expect(types.heard).toContain('name one of logged in, logged out, or several with commas');
    types.close();
    // One type alone leaves nothing to choose from.
    const one = file('one-event.csv', 'user,item,event,time\nann,a1,action,2024-01-01\n');
    expect((await findAnswers(accepts(one), undefined)).positiveTypes).toEqual(['action']);
  });

  it('has the titles for the items where there is nothing else', async () => {
    const seen = file('titles.csv', 'Eroslea,Title,Start Time\nann,Heat,2024-01-10 20:00\n');
    const prompt = scripted(['has the items', ''], ['right', ''], ['What did', '']);
    const { files } = await findAnswers(asks(seen, { wishes: { map: parseMap('user=Eroslea') } }), prompt);
    prompt.close();
    expect(files.at(-1)?.plan.mapping).toMatchObject({ UserId: 0, ItemId: 1 });
    const log = file('log.csv', 'Eroslea,Description,Start Time\nann,Ann viewed page 7,2024-01-10 20:00\n');
    const sentences = scripted(['has the items', ''], ['right', '']);
    const given = asks(log, { wishes: { map: parseMap('user=Eroslea') } });
    await expect(findAnswers(given, sentences)).rejects.toThrow(/no file was taken .*--map item=COLUMN$/);
    expect(sentences.heard.join()).toContain('or none: (none)');
  });
});

describe('columns that orders and articles both have', () => {
  it('are those of the articles where these alone have a field for them', async () => {
    const sold = file(
      'sold.csv',
      'Bezeroa;Salgaia;Noiz;Azalpena;Multzoa;Zenbat\nann;a1;2024-01-01;Tee;Warm;1\n',
    );
    const goods = file('salgaiak.csv', 'Salgaia;Azalpena;Multzoa;Zenbat\na1;Tee;Warm;70\n');
    const map = parseMap(
      'user=Bezeroa,item=Salgaia,time=Noiz,title=Azalpena,categories=Multzoa,value=Zenbat',
    );
    const { files } = await findAnswers(accepts(sold, { paths: [sold, goods], wishes: { map } }), undefined);
    expect(files.map(({ plan }) => plan.mapping)).toEqual([
      { ItemId: 0, Comment: 1, Categories: 2, Labels: 2 },
      { UserId: 0, ItemId: 1, Timestamp: 2, Value: 5 },
    ]);
    // In one file alone they are of the items that its rows name.
    const { files: within } = await findAnswers(accepts(sold, { wishes: { map } }), undefined);
    expect(within.map(({ plan }) => [plan.kind, plan.mapping])).toEqual([
      ['items', { ItemId: 1, Comment: 3, Categories: 4, Labels: 4 }],
      ['feedback', { UserId: 0, ItemId: 1, Timestamp: 2, Value: 5 }],
    ]);
    const places = { config: 'furze.toml', data: './data', from: 'csv' } as const;
    expect(sameCommand({ files: within, takesProposals: false }, places)).toContain('categories=Multzoa');
  });
});

describe('orders that were cancelled or came back', () => {
  const text = `user;sku;Status\n${'a;tea;versendet\n'.repeat(3)}b;ale;Storniert\nc;ale;Storniert\nc;tea;Retoure\n`;
  const path = file('status.csv', text);
  const types = (answers: Answers) => [answers.files[0]?.wishes.leftOut, [...(answers.leftOut ?? [])]];

  it('are left out by Enter, each state told', async () => {
    const prompt = scripted(
      ['right', ''],
      ['What did', 'purchase'],
      ['Leave 3 rows of Storniert, Retoure out', ''],
    );
    const answers = await findAnswers(asks(path), prompt);
    prompt.close();
    expect(prompt.heard).toContain(`${path}, "Status": versendet 3 rows, Storniert 2 rows, Retoure 1 row`);
    const left = [
      ['Storniert', 2],
      ['Retoure', 1],
    ];
    expect(types(answers)).toEqual([undefined, left]);
    expect(types(await findAnswers(asks(path), undefined))).toEqual([undefined, left]);
    const none = accepts(path, { wishes: { leftOut: [] } });
    expect(types(await findAnswers(none, undefined))).toEqual([[], []]);
  });

  it('are those that are answered', async () => {
    const prompt = scripted(
      ['right', ''],
      ['What did', 'purchase'],
      ['Leave 3 rows', 'no'],
      ['which states', 'retoure'],
    );
    const answers = await findAnswers(asks(path), prompt);
    prompt.close();
    expect(types(answers)).toEqual([['retoure'], [['Retoure', 1]]]);
  });
});

describe('guests under one id', () => {
  const sale = (user: string, at: number) => `${user},a${at % 7},2024-01-${10 + (at % 20)}`;
  const sales = (guest: string, every = 9) =>
    `customer_id,sku,order_date\n${Array.from({ length: 90 }, (_, at) => sale(at % every === 0 ? guest : `${100 + (at % 31)}`, at)).join('\n')}\n`;
  const places = { config: 'furze.toml', data: './data', from: 'csv' } as const;

  it('are left out by Enter, and told', async () => {
    const path = file('guests.csv', sales('0'));
    const asked = '10 rows are of user 0, who looks like all guests together. Leave them out?';
    const prompt = scripted(['right', ''], ['What did', ''], [asked, '']);
    const answers = await findAnswers(asks(path, { repeats: 'first' }), prompt);
    prompt.close();
    expect([...answers.leftOut!]).toEqual([['user 0', 10]]);
    expect(sameCommand({ ...answers, takesProposals: true }, places)).toContain(' --guests 0 ');
    // What was said is not asked again, nor taken for a state of orders.
    const said = scripted(['right', ''], ['What did', '']);
    const again = asks(path, { repeats: 'first', wishes: { guests: ['0'] } });
    expect([...(await findAnswers(again, said)).leftOut!]).toEqual([['user 0', 10]]);
    const kept = scripted(['right', ''], ['What did', ''], [asked, 'no']);
    const { files, leftOut } = await findAnswers(asks(path, { repeats: 'first' }), kept);
    expect([leftOut?.size, sameCommand({ files, takesProposals: true }, places)]).toEqual([
      0,
      expect.stringContaining(' --guests none '),
    ]);
  });

  it('are left out and told where nobody is asked', async () => {
    const path = file('walk-in.csv', sales('Walk-in'));
    const said = vi.mocked(process.stderr.write);
    said.mockClear();
    expect([...(await findAnswers(accepts(path), undefined)).leftOut!]).toEqual([['user Walk-in', 10]]);
    expect(said.mock.calls.join('\n')).toContain(
      '10 rows are of user Walk-in, who looks like all guests together: left out; --guests none takes them.',
    );
  });

  it('are told where the id does not say it', async () => {
    const path = file('counter.csv', sales('Tresen', 3));
    const prompt = scripted(['right', ''], ['What did', '']);
    expect((await findAnswers(asks(path, { repeats: 'first' }), prompt)).leftOut?.size).toBe(0);
    expect(prompt.heard).toContain(
      '30 rows are of user Tresen, far more than of any other. If these are several people, --guests Tresen leaves them out.',
    );
  });
});

describe('ratings of 0', () => {
  const ratings = (least: number) =>
    `user,item,rating\n${Array.from({ length: 60 }, (_, at) => `u${at % 12},i${at % 7},${[0, least, 3, 4, 5][at % 5]}`).join('\n')}\n`;

  it('are none given where the scale begins above it', async () => {
    const path = file('unrated.csv', ratings(2));
    const asked =
      '12 rows have a rating of 0 beside ratings from 2 to 5. Does 0 mean that none was given, as where it is empty: a "like" all the same?';
    const prompt = scripted(['right', ''], [asked, ''], ['Ratings are from 2 to 5', '']);
    const { files } = await findAnswers(asks(path), prompt);
    prompt.close();
    const { plan, wishes } = files.at(-1)!;
    const typeOf = (rating: string) => recordOf(['ann', 'tea', rating], plan);
    expect(['', '0', '3', '4'].map(typeOf)).toMatchObject(
      ['like', 'like', 'read', 'like'].map((FeedbackType) => ({ record: { FeedbackType } })),
    );
    expect(wishes.zeroRating).toBe('none');
    const lowest = await findAnswers(accepts(path, { wishes: { zeroRating: 'lowest' } }), undefined);
    expect(recordOf(['ann', 'tea', '0'], lowest.files.at(-1)!.plan)).toMatchObject({
      record: { FeedbackType: 'read' },
    });
  });

  it('are the lowest where there are ones', async () => {
    const prompt = scripted(['right', ''], ['Ratings are from 0 to 5', '']);
    await findAnswers(asks(file('from-zero.csv', ratings(1))), prompt);
    prompt.close();
  });
});

describe('rows that cannot be stored', () => {
  const rows = Array.from({ length: 20 }, (_, at) => `u${at},tea,2024-01-01`).join('\n');
  const few = file('few.csv', `user,item,time\n${rows}\nann,,2024-01-01\n`);
  const many = file('many.csv', `user,item,time\n${rows}\n${'ann,a/b,2024-01-01\n'.repeat(9)}`);

  it('are shown, and left out if few of them are', async () => {
    const prompt = scripted(
      ['right', ''],
      ['What did', ''],
      ['1 row of 21 cannot be stored. Leave them out?', ''],
    );
    const { skipsBad } = await findAnswers(asks(few), prompt);
    prompt.close();
    expect(skipsBad).toBe(true);
    expect(prompt.heard).toContain(`${few}:22: the item id is empty`);
    expect((await findAnswers(accepts(few, { skipsBad: true }), undefined)).skipsBad).toBe(true);
  });

  it('are shown by reason, so that many of one hide no other', async () => {
    const mixed = file(
      'mixed.csv',
      `user,item,time\n${rows}\n${'ann,a/b,2024-01-01\n'.repeat(9)},tea,2024-01-01\nann,tea\n`,
    );
    const prompt = scripted(['right', ''], ['What did', ''], ['11 rows of 31 cannot be stored', 'yes']);
    await findAnswers(asks(mixed), prompt);
    prompt.close();
    expect(prompt.heard.slice(3, -2)).toEqual([
      ...[22, 23, 24].map((line) => `${mixed}:${line}: the item id holds a slash`),
      '... and 6 more rows for the same reason',
      `${mixed}:31: the user id is empty`,
      expect.stringContaining(`${mixed}:32: `),
      '1 row without user: no feedback.',
    ]);
  });

  it('are left out by Enter, however many, where they lack a user or an item, each with its number', async () => {
    const lines = `${'ann,,2024-01-01\n'.repeat(19)},tea,2024-01-01\n,tea,2024-01-01\n`;
    const sales = file('payments.csv', `user,item,time\n${rows}\n${lines}`);
    const prompt = scripted(['right', ''], ['What did', ''], ['21 rows of 41 cannot be stored', '']);
    expect((await findAnswers(asks(sales), prompt)).skipsBad).toBe(true);
    expect(prompt.heard).toContain('19 rows without item, 2 rows without user: no feedback.');
    await expect(findAnswers(accepts(sales), undefined)).rejects.toThrow(/add --skip-bad/);
    // Nearly all of them are rather a column that was mistaken.
    const most = file('most.csv', `user,item,time\n${rows}\n${'ann,,2024-01-01\n'.repeat(400)}`);
    const stopped = scripted(['right', ''], ['What did', ''], ['400 rows of 420 cannot be stored', '']);
    await expect(findAnswers(asks(most), stopped)).rejects.toThrow('nothing was written');
  });

  it('end it where they are many, or nobody is asked', async () => {
    const prompt = scripted(['right', ''], ['What did', ''], ['9 rows of 29 cannot be stored', '']);
    await expect(findAnswers(asks(many), prompt)).rejects.toThrow(
      '9 rows of 29 cannot be stored; nothing was written',
    );
    await expect(findAnswers(accepts(few), undefined)).rejects.toThrow(/To leave them out, add --skip-bad/);
  });

  it('are those with a rating that is no number, and those of items', async () => {
    const rated = file('rated.csv', `user,item,rating\n${'ann,tea,5\n'.repeat(20)}bob,tea,good\n`);
    const prompt = scripted(['right', ''], ['1 row of 21', ''], ['Ratings are from 5 to 5', '']);
    await findAnswers(asks(rated), prompt);
    prompt.close();
    expect(prompt.heard).toContain(`${rated}:22: "good" is no rating`);
    const items = file('items.csv', 'sku,title\na/b,Tea\n');
    const both = accepts(few, { paths: [items, orders] });
    await expect(findAnswers(both, undefined)).rejects.toThrow(/1 row of 31 cannot be stored/);
  });
});

describe('ratings', () => {
  it.each([
    [5, 4],
    [10, 7],
    [1, 1],
    [0.95, 0.66],
    [0.4, 0.28],
  ])('to %d are likings from a number on that some reach: %d', async (most, liked) => {
    const scores = file('scores.csv', `user,item,score\nann,tea,${most / 4}\nbob,tea,${most}\n`);
    const { files } = await findAnswers(accepts(scores), undefined);
    expect(files[0]?.wishes.ratingMin).toBe(liked);
  });
});

describe('questions', () => {
  it('say nothing of options beside them', async () => {
    const dates = file('dates.csv', 'user,item,time\nann,tea,02/01/2024\n');
    const prompt = scripted(['Does the day come first', ''], ['right', ''], ['What did', '']);
    await findAnswers(asks(dates), prompt);
    expect(prompt.heard.join('\n')).not.toContain('--time-format');
    const west = join(folder, 'west.csv');
    writeFileSync(west, Buffer.from('Kunde,Artikel\nJ\u00f6rg,tee\n', 'latin1'));
    const other = scripted(['Is it Windows-1252', ''], ['right', ''], ['What did', '']);
    await findAnswers(asks(west), other);
    expect(other.heard.join('\n')).not.toContain('--encoding');
    const [taken] = (await findAnswers(accepts(west), undefined)).files;
    expect(taken!.plan.encoding).toBe('windows-1252');
  });

  it('end once when the person goes away, at the second of them too', async () => {
    const dates = file('dates.csv', 'user,item,time\nann,tea,02/01/2024\n');
    const heard: string[] = [];
    const ask = async (question: string) => {
      heard.push(question);
      if (heard.length === 1) return dates;
      throw new ExitStatus(130);
    };
    const prompt = { ask, say: (line: string) => heard.push(line), close() {} };
    await expect(findAnswers(asks('', { paths: [] }), prompt)).rejects.toMatchObject({ code: 130 });
    expect(heard.join('\n')).not.toContain('exit 130');
    expect(heard.filter((line) => line.startsWith('Files'))).toHaveLength(1);
  });

  it('end the process by Ctrl-C while files are read between two of them', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    const exit = vi.fn();
    const prompt = createPrompt(input, output, exit);
    input.write('\u0003');
    await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(130), 600_000);
    prompt.close();
    expect(String(output.read())).toContain('Stopped; nothing was written.');
  });
});

describe('the folder of the data', () => {
  it('is another one where it holds data, which is asked', async () => {
    const full = join(folder, 'full');
    mkdirSync(full);
    expect(await findFolder(full, async () => true, undefined)).toBe(full);
    writeFileSync(join(full, 'data.mdb'), 'not empty');
    expect(await findFolder(full, async () => false, undefined)).toBe(full);
    await expect(findFolder(full, async () => true, undefined)).rejects.toThrow(/holds data already.*--data/);
    expect(await findFolder(full, async () => true, scripted(['A new folder', '']))).toBe(`${full}-2`);
    expect(await findFolder(full, async () => true, scripted(['A new folder', full]))).toBe(full);
    const prompt = scripted(['A new folder', orders], ['A new folder', full]);
    expect(await findFolder(full, async () => true, prompt)).toBe(full);
    expect(prompt.heard.join()).toContain('orders.csv cannot be a folder');
  });

  it('is as it was before after a failure, if there was nothing in it', () => {
    const [fresh, empty, used] = ['fresh', 'empty', 'used'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [empty, used]) mkdirSync(path);
    writeFileSync(join(used, 'mine'), '');
    const before = [fresh, empty, used].map(rememberFolder);
    for (const path of [fresh, empty, used]) {
      mkdirSync(join(path, 'cache'), { recursive: true });
      writeFileSync(join(path, 'data.mdb'), '');
    }
    const failure = new Error('failed');
    expect(before.map((each) => each.restore(failure))).toEqual([true, true, false]);
    expect([existsSync(fresh), readdirSync(empty), readdirSync(used)]).toEqual([
      false,
      [],
      ['cache', 'data.mdb', 'mine'],
    ]);
  });
});

describe('folders around the one of the data', () => {
  it('that were made with it are gone after a failure, but not those that hold something else', () => {
    const [outer, other] = [join(folder, 'outer'), join(folder, 'other')];
    const before = [join(outer, 'middle', 'data'), join(other, 'data')].map(rememberFolder);
    for (const path of [join(outer, 'middle', 'data', 'cache'), join(other, 'data')])
      mkdirSync(path, { recursive: true });
    writeFileSync(join(other, 'mine'), '');
    expect(before.map((each) => each.restore(new Error('failed')))).toEqual([true, true]);
    expect([existsSync(outer), readdirSync(other)]).toEqual([false, ['mine']]);
  });
});

describe('a folder that another process has taken meanwhile', () => {
  it('is left as it is', () => {
    const path = join(folder, 'taken');
    const before = rememberFolder(path);
    mkdirSync(path);
    expect(before.restore(new FolderLockedError('process 1 has it'))).toBe(false);
    expect(existsSync(path)).toBe(true);
  });
});

describe('what is written and told', () => {
  it('names the command that says all answers again, without the key', async () => {
    const map = [['user', 'Kundennr']] as const;
    const answers = await findAnswers(accepts(orders, { wishes: { map }, apiKey: 'a-secret' }), undefined);
    const places = { config: 'my shop.toml', data: './data', from: 'csv' } as const;
    expect(sameCommand({ ...answers, takesProposals: true }, places)).toMatch(
      / init \S+\/orders\.csv --map user=Kundennr --type purchase --positive-types 'purchase>0' --port 1 --api-key YOUR-KEY --sum-values --config 'my shop\.toml' --yes$/,
    );
  });

  it('takes the titles for the items where there is nothing else that tells these apart', async () => {
    const seen = file(
      'seen.csv',
      'Profile Name,Start Time,Title\nann,2024-01-10 20:00,Heat\nbob,2024-01-11 20:00,Ran\n',
    );
    const prompt = scripted(
      ['Which column has the items', 'Title'],
      ['right', ''],
      ['What did the user do', ''],
    );
    const { files } = await findAnswers(asks(seen, { repeats: 'first' }), prompt);
    prompt.close();
    expect(files.find(({ plan }) => plan.kind === 'feedback')?.plan.mapping).toMatchObject({
      UserId: 0,
      ItemId: 2,
    });
  });

  it('tells of times that can hardly be, and takes none of them for the newest', async () => {
    const odd = file(
      'odd.csv',
      'user,item,date\na,x,1899-12-30\na,y,2206-02-01\nb,x,2024-01-10\nb,y,2206-02-02\n',
    );
    const prompt = scripted(['right', ''], ['What did the user do', '']);
    const { newestMs } = await findAnswers(asks(odd, { repeats: 'first' }), prompt);
    prompt.close();
    expect(prompt.heard).toContain('1 row is of a time before 1970, such as 1899-12-30, and kept as such.');
    expect(prompt.heard).toContain('2 rows are of a time after now, such as 2206-02-01, and kept as such.');
    expect(newestMs).toBe(Date.UTC(2024, 0, 10));
  });

  it('takes items with title and category out of a file of orders, once each, and tells of them', async () => {
    const whole = file(
      'whole.csv',
      'Kunde;Artikelnr;Artikelbezeichnung;Warengruppe;Menge;Bestelldatum\n' +
        'k1;a1;;;1;2024-01-10\nk1;a1;Tasse blau;Küche;1;2024-01-12\nk2;a1;Tasse;Küche;1;2024-01-11\nk2;a2;Kerze;Deko;2;2024-01-12\n',
    );
    const prompt = scripted(['right', ''], ['What did the user do', '']);
    const { files } = await findAnswers(asks(whole, { repeats: 'first' }), prompt);
    prompt.close();
    expect(prompt.heard).toContain(
      `${whole}, besides: items: ItemId from "Artikelnr", Comment from "Artikelbezeichnung", Categories from "Warengruppe", Labels from "Warengruppe"`,
    );
    // All of a category are alike by labels; by users each has neighbors of its own.
    const answers = await findAnswers(accepts(whole), undefined);
    const config = fittedConfig(answers, './data', Date.now());
    expect(config.recommend.item_neighbors.neighbor_type).toBe('related');
    expect(describeWritten('furze.toml', config, answers)).toContain('no labels but their category');
    const cut = file('cut.csv', `${readFileSync(whole, 'utf8')}k3;a2;Kerze\n`);
    await expect(findAnswers(accepts(cut), undefined)).rejects.toThrow(/^1 row of 5 cannot be stored/);
    const plain = await findAnswers(accepts(orders), undefined);
    expect(fittedConfig(plain, './data', Date.now()).recommend.item_neighbors.neighbor_type).toBe('auto');
    const [items, feedback] = files;
    expect([items!.plan.kind, feedback!.plan.kind, feedback!.plan.mapping.Comment]).toEqual([
      'items',
      'feedback',
      undefined,
    ]);
    const stored: string[] = [];
    const write = async (_kind: string, json: Uint8Array) => {
      stored.push(Buffer.from(json).toString());
      return 2;
    };
    const quiet = {
      skipsBad: false,
      onRefused: () => {},
      onProgress: () => {},
      signal: new AbortController().signal,
    };
    await importFile({ ...quiet, plan: items!.plan, target: { name: 'test', write } });
    expect(JSON.parse(stored.join())).toMatchObject([
      { ItemId: 'a1', Comment: 'Tasse blau', Categories: ['Küche'], Labels: ['Küche'] },
      { ItemId: 'a2', Comment: 'Kerze', Categories: ['Deko'], Labels: ['Deko'] },
    ]);
  });

  it('finds ratings by their German name, and says from which on they are likings where nobody is asked', async () => {
    const rated = file(
      'wertung.csv',
      `Kunde,Artikel,Wertung,Zeit\n${Array.from({ length: 30 }, (_, at) => `k${at},a${at % 5},${at % 11},${1_700_000_000 + at}`).join('\n')}\n`,
    );
    const said = vi.mocked(process.stderr.write);
    said.mockClear();
    const { files, readTypes } = await findAnswers(accepts(rated), undefined);
    expect(files[0]?.wishes.ratingMin).toBe(7);
    expect(readTypes).toEqual(['read']);
    expect(said.mock.calls.join('\n')).toContain(
      'Ratings are from 0 to 10: those from 7 on are likings; --positive names another.',
    );
    await expect(findAnswers(asks(rated), undefined)).rejects.toThrow('ratings from 0 to 10');
  });

  it('counts repeat purchases where there are many, and says so in words of a shop', async () => {
    const again = file(
      'again.csv',
      // Each of ten customers buys three articles, and one of them three times more; a line is there twice.
      `customer,sku,orderdate\n${Array.from({ length: 60 }, (_, at) => `c${at % 10},a${Math.min(2, Math.floor(at / 10))},2024-01-${10 + Math.floor(at / 10)}`).join('\n')}\nc0,a0,2024-01-10\n`,
    );
    const prompt = scripted(['right', ''], ['What did the user do', ''], ['Count each of them?', '']);
    const answers = await findAnswers(asks(again), prompt);
    prompt.close();
    expect(prompt.heard.at(-1)).toBe(
      'About half of your purchases are repeat purchases: a customer bought the article before. Count each of them? (yes)',
    );
    const config = fittedConfig(answers, './data', Date.now());
    expect(config.recommend.data_source).toMatchObject({
      repeated: { purchase: 'count' },
      read_feedback_types: ['read'],
    });
    expect(describeWritten('furze.toml', config, answers)).toContain('every event counts of: purchase');
    const places = { config: 'furze.toml', data: './data', from: 'csv' } as const;
    expect(sameCommand({ ...answers, takesProposals: true }, places)).toContain(' --repeats count ');
    const declined = await findAnswers(accepts(again, { repeats: 'first' }), undefined);
    expect(fittedConfig(declined, './data', 0).recommend.data_source.repeated).toEqual({});
    expect(sameCommand({ ...declined, takesProposals: true }, places)).toContain(' --repeats first ');
    expect((await findAnswers(accepts(orders), undefined)).repeatedTypes).toBeUndefined();
  });

  it('has a window of popular items that reaches as far before the newest feedback as it usually does before now', () => {
    const nowMs = Date.UTC(2026, 0, 31);
    const days = (newestMs: number | undefined) => {
      const answers: Answers = {
        ...{
          files: [],
          positiveTypes: ['like'],
          readTypes: [],
          newestMs,
          skipsBad: false,
          sumsValues: false,
        },
        ...{ port: undefined, apiKey: undefined, evaluates: false },
      };
      return fittedConfig(answers, './data', nowMs).recommend.popular.popular_window / 86_400_000;
    };
    expect([undefined, nowMs, Date.UTC(2026, 0, 20), Date.UTC(2025, 0, 31)].map(days)).toEqual([
      30, 30, 30, 395,
    ]);
  });

  it('says in the file why the window of popular items is not the usual one', () => {
    const newestMs = Date.UTC(2024, 5, 30);
    const answers: { -readonly [Key in keyof Answers]: Answers[Key] } = {
      ...{ files: [], positiveTypes: ['like'], readTypes: [], skipsBad: false, sumsValues: false },
      ...{ newestMs, port: undefined, apiKey: undefined, evaluates: false },
    };
    const written = (nowMs: number) => {
      const file = join(folder, `window-${nowMs}.toml`);
      const config = fittedConfig(answers, './data', nowMs);
      writeConfig(file, config, answers);
      const text = readFileSync(file, 'utf8');
      expect(parseConfig(text)).toEqual(config);
      return { text: text.replaceAll('\n# ', ' '), told: describeWritten(file, config, answers) };
    };
    const old = written(Date.UTC(2026, 5, 30));
    for (const said of [old.text, old.told]) {
      expect(said).toContain(
        'The newest feedback is of 2024-06-30, so popular items are told by what came since 2024-05-31',
      );
      expect(said).toContain('which is 760 days by the clock');
    }
    expect(old.text).toMatch(/old and new\.\npopular_window = "18240h0m0s"\n/);
    const recent = written(newestMs);
    for (const said of [recent.text, recent.told]) expect(said).not.toContain('The newest feedback');
    const popular = { windowMs: 7 * 86_400_000, asked: 1338, quality: 0.1346, usual: 0.1056 };
    answers.popular = popular;
    const chosen = written(newestMs + 1);
    for (const said of [chosen.text, chosen.told])
      expect(said).toMatch(/7 days in place of 30 days .*NDCG@10 0\.135 against 0\.106 over 1,338 likes/);
    expect(chosen.text).toContain('popular_window = "168h0m0s"');
    answers.popular = { ...popular, windowMs: 3 * 3_600_000 };
    expect(written(newestMs + 2).told).toContain('3 hours in place of 30 days');
    answers.popular = popular;
    const older = written(Date.UTC(2026, 5, 30));
    expect(older.told).toContain(
      'what came since 2024-06-23: 7 days before it, which is 737 days by the clock',
    );
  });

  it('has feedback that counts as positive', async () => {
    const answers = await findAnswers(accepts(orders), undefined);
    const config = fittedConfig(answers, './data', Date.now());
    const titled = (itemId: string) => ({ itemId, title: '', time: '' });
    const example = { userId: 'ann', likes: 1, liked: [titled('a1')], recommended: [titled('a2')] };
    expect(requestsOf(config, [example]).feedback).toEqual([
      { FeedbackType: 'purchase', UserId: 'ann', ItemId: 'a2', Value: 1 },
    ]);
    expect(requestsOf(config, []).feedback).toBeUndefined();
  });

  it('has each title in one line, and not endless', () => {
    const config = fittedConfig(
      { ...({} as Answers), files: [], positiveTypes: ['like'], readTypes: [], newestMs: undefined },
      './data',
      0,
    );
    const item = (title: string) => ({ itemId: 'a1', title });
    const liked = { ...item('Tea\nin two lines, \x1b[31mred'), time: '2024-01-02T08:26:00Z' };
    const example = {
      ...{ userId: 'ann', likes: 12, liked: [liked] },
      recommended: [{ ...item('x'.repeat(60_000)), reason: 'Old\ntea' }],
    };
    const newcomer = { userId: 'bob', likes: 1, liked: [liked], recommended: [] };
    const lines = describeNext('furze.toml', config, [newcomer, example]).split('\n');
    expect(lines).toContain('User bob has positive feedback on 1 item');
    expect(lines).toContain('and is recommended nothing: no other item is left.');
    expect(lines).toContain('User ann has positive feedback on 12 items, the latest of them');
    expect(lines).toContain('  a1           Tea in two lines,  [31mred, 2024-01-02');
    expect(lines.find((line) => line.includes('xxx'))).toMatch(/^ {2}a1 {11}x{87}\.\.\. <- Old tea$/);
    expect(lines.join('\n')).toContain("/api/recommend/ann?n=5'");
  });

  it('says how to start what is set up already', async () => {
    const data = join(folder, 'imported');
    const config = file('there.toml', `[database]\ndata_store = "lmdb://${data}"\n`);
    await expect(refuseWrittenConfig(config, {})).rejects.toThrow(
      /not written over; name another with --config$/,
    );
    mkdirSync(data);
    writeFileSync(join(data, 'data.mdb'), 'not empty');
    await expect(refuseWrittenConfig(config, {})).rejects.toThrow(
      /has its data: .* serve --config .*there\.toml starts/,
    );
    await expect(refuseWrittenConfig(join(folder, 'new.toml'), {})).resolves.toBeUndefined();
    // Told before any question is answered.
    await expect(refuseWrittenConfig(join(folder, 'nowhere', 'new.toml'), {})).rejects.toThrow(/ENOENT/);
  });
});
