import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestServer } from '../http/start.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-evaluate-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const USERS = 80;
const ITEMS = 40;
const RATINGS = 12;

/** Users of two tastes, who rate items of their own taste high and others low, each in an order of its own. */
function ratings(users = USERS): string {
  let text = 'user,item,rating,time\n';
  for (let at = 0; at < RATINGS; at++) {
    for (let user = 0; user < users; user++) {
      const isOwn = at % 4 !== 3;
      const step = (user * 7 + at * 3) % (ITEMS / 2);
      const item = step * 2 + (isOwn ? user % 2 : 1 - (user % 2));
      text += `u${user},i${item},${isOwn ? 5 : 1},${1_700_000_000 + (at * users + user) * 600}\n`;
    }
  }
  return text;
}

describe('furze evaluate', () => {
  it('judges the lists of a file beside popularity and chance, as text, JSON and a page', async () => {
    const file = join(folder, 'ratings.csv');
    const page = join(folder, 'page.html');
    writeFileSync(file, ratings());
    const run = new Furze(['evaluate', file, '--positive', '4', '--html', page, '--json']);
    expect({ code: await run.exit, output: run.output }).toMatchObject({ code: 0 });
    const report = JSON.parse(run.output.split('\n').find((line) => line.startsWith('{'))!);
    const [{ rows, users }] = report.tables;
    expect(users).toBeGreaterThan(40);
    const ndcg = (name: RegExp) =>
      rows.find((row: { name: string }) => name.test(row.name)).metrics['NDCG@10'].mean as number;
    expect(ndcg(/^served/)).toBeGreaterThan(1.5 * ndcg(/^random/));
    expect(rows.map(({ name }: { name: string }) => name)).toContain('user_based alone');
    const kinds = new Map(
      report.replay.groups.map((kind: { name: string; rows: { name: string }[] }) => [kind.name, kind.rows]),
    );
    expect([...kinds.keys()]).toContain('5 to 19 likes');
    expect(kinds.get('all questions')).toHaveLength(1 + 6 + 6);
    expect(report.replay.questions).toBeGreaterThan(60);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('<svg');
    expect(html).toContain('Replay of the last 192 records');
    expect(html).toMatch(/Served lists (beat|lose to) the best of the others/);
    expect(html).not.toMatch(/https?:\/\//);
  });

  it('reads files as import does, told by the same options, and judges by the good rows', async () => {
    const [orders, articles] = [join(folder, 'orders.csv'), join(folder, 'articles.csv')];
    const [, ...rows] = ratings().trim().split('\n');
    const lines = rows.map((line) => {
      const [user, item, rating, seconds] = line.split(',') as [string, string, string, string];
      const [year, month, day] = new Date(Number(seconds) * 1000).toISOString().slice(2, 10).split('-') as [
        string,
        string,
        string,
      ];
      return `${day}.${month}.${year};Käthe ${user};${item};${rating}`;
    });
    const text = ['Am;Wer;Was;Wie', ...lines, 'morgen;Käthe;i1;5', ''].join('\r\n');
    writeFileSync(orders, Buffer.from(text, 'latin1'));
    writeFileSync(articles, 'Was,Art\ni1,"hot,sweet"\n');
    const args = ['evaluate', orders, articles, '--encoding', 'windows-1252', '--separator', ','];
    args.push('--map', 'user=Wer,item=Was,time=Am,rating=Wie,labels=Art');
    args.push('--time-format', 'day-first', '--type', 'bought', '--positive', '4', '--low-type', 'saw');
    const strict = new Furze(args);
    const lenient = new Furze([...args, '--skip-bad', '--users', '25', '--protocol', 'temporal', '--json']);
    expect(await strict.exit).toBe(1);
    expect(strict.output).toContain(`${orders}:${lines.length + 2}: "morgen" is no time`);
    expect(strict.output).not.toContain('served lists');
    expect([await lenient.exit, lenient.output]).toEqual([0, expect.anything()]);
    expect(lenient.output).toMatch(
      /UserId from "Wer", ItemId from "Was", Timestamp from "Am" \(day-first\), Rating from "Wie", "bought" from a rating of 4 on, else "saw"/,
    );
    expect(lenient.output).toMatch(/articles\.csv: items: ItemId from "Was", Labels from "Art"/);
    const report = JSON.parse(lenient.output.split('\n').find((line) => line.startsWith('{'))!);
    expect(report.tables[0].users).toBe(25);
  });

  it('takes no option that is of files where none is named', async () => {
    const run = new Furze(['evaluate', '--data', folder, '--map', 'user=uid']);
    expect([await run.exit, run.output]).toEqual([2, 'furze: --map is of files to read; name them\n']);
  });

  it('leaves no copy of the data behind when it is interrupted', async () => {
    const file = join(folder, 'cut.csv');
    writeFileSync(file, ratings());
    const own = mkdtempSync(join(folder, 'tmp-'));
    const run = new Furze(['evaluate', file, '--positive', '4'], { TMPDIR: own });
    await run.waitFor(/served lists: /);
    expect(readdirSync(own)).toHaveLength(2);
    await run.stop('SIGINT');
    expect(run.process.signalCode).toBe('SIGINT');
    expect(readdirSync(own)).toEqual([]);
  });

  it('says what is missing', async () => {
    const file = join(folder, 'few.csv');
    writeFileSync(file, 'user,item,time\nann,tea,1700000000\nann,cake,1700000100\n');
    const few = new Furze(['evaluate', file]);
    expect(await few.exit).toBe(1);
    expect(few.output).toMatch(/only 0 records of the last part can be asked about/);
    const none = new Furze(['evaluate', file, '--positive-types', 'star']);
    expect(await none.exit).toBe(1);
    expect(none.output).toMatch(
      /positive types are star, types in the data are like; see --positive-types, and --type/,
    );
  });

  it('does the same for a running service that is asked to, and leaves nothing behind', async () => {
    const server = await startTestServer({
      config: { recommend: { data_source: { positive_feedback_types: ['like'] } } },
    });
    try {
      const [, ...lines] = ratings(USERS / 2)
        .trim()
        .split('\n');
      const feedback = lines.map((line) => {
        const [UserId, ItemId, rating, seconds] = line.split(',') as [string, string, string, string];
        const Timestamp = new Date(Number(seconds) * 1000).toISOString();
        return { FeedbackType: rating === '5' ? 'like' : 'read', UserId, ItemId, Timestamp };
      });
      await server.call('POST', '/api/feedback', feedback);
      await server.call('POST', '/api/admin/evaluation');
      const quality = async () => (await server.call('GET', '/api/admin/quality')).body;
      await expect.poll(async () => (await quality()).EvaluationTask).toBeUndefined();
      const { Evaluation, EvaluationError } = await quality();
      expect(EvaluationError).toBeUndefined();
      const [table] = Evaluation.Report.tables;
      expect(table.rows).toHaveLength(8);
      expect(table.conclusion).toMatch(/^Served lists (beat|lose to) the best of the others/);
      const { Service } = (await server.call('GET', '/api/admin/summary')).body;
      expect(existsSync(join(Service.DataFolder, 'evaluation'))).toBe(false);
    } finally {
      await server.stop();
    }
  });
});
