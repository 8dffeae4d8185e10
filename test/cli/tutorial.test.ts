import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it, vi } from 'vitest';
import { findAnswers } from '../../src/cli/init/answers.ts';
import type { Prompt } from '../../src/cli/init/prompt.ts';
import { Furze, QUICK_FIT } from './run-furze.ts';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/tutorial.md', ROOT), 'utf8');
/** The blocks of the page that show what is printed. */
const [, QUESTIONS = '', OF_ORDERS = '', LISTS = ''] = [
  ...PAGE.matchAll(/^```(\w*)\n([\s\S]*?)\n```$/gm),
].flatMap(([, language, text]) => (language === '' ? [text!] : []));

const folder = mkdtempSync(join(tmpdir(), 'furze-tutorial-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
vi.spyOn(process.stderr, 'write').mockReturnValue(true);

const shop = join(folder, 'shop');
mkdirSync(shop);
const sample = (name: string) =>
  gunzipSync(readFileSync(fileURLToPath(new URL(`data/movietweetings-100k/${name}.gz`, ROOT)))).toString();
writeFileSync(
  join(shop, 'ratings.csv'),
  `user,item,rating,time\n${sample('ratings.dat').replaceAll('::', ',')}`,
);
writeFileSync(join(shop, 'movies.csv'), `id::title::genres\n${sample('movies.dat')}`);

/** A terminal on which somebody gives answers of their own to some questions and Enter to the others. */
function terminal(answers: Readonly<Record<string, string>>) {
  let shown = '';
  const prompt: Prompt = {
    ask: async (question, proposal = '') => {
      const [, answer = ''] = Object.entries(answers).find(([word]) => question.includes(word)) ?? [];
      shown += `${question}${proposal === '' ? '' : ` (${proposal})`}${answer === '' ? '' : ` ${answer}`}\n`;
      return answer === '' ? proposal : answer;
    },
    say: (line) => {
      shown += `${line}\n`;
    },
    close: () => {},
  };
  return { prompt, shown: () => shown.replaceAll(`${shop}/`, '').trim() };
}

it('init asks what the tutorial has', async () => {
  const { prompt, shown } = terminal({
    'Files with': `${join(shop, 'movies.csv')} ${join(shop, 'ratings.csv')}`,
    'API key': 'new',
  });
  await findAnswers({ paths: [], preset: 'csv', takesProposals: false }, prompt);
  expect(shown()).toBe(QUESTIONS);
});

it('asks of orders what the tutorial has, numbers aside', async () => {
  const order = (customer: number, item: number, count: number) =>
    `k${customer};a${item};${count};2024-01-1${item}`;
  const rows = Array.from({ length: 60 }, (_, at) => order(at, at % 7, 1));
  const again = rows.slice(0, 30).map((row) => row.replace('2024-01', '2024-02'));
  const returned = [order(1, 2, -1), order(2, 3, -1)];
  const bad = ['k1;;1;2024-01-01', 'k2;;1;2024-01-01', ';a1;1;2024-01-01'];
  const path = join(shop, 'orders.csv');
  writeFileSync(
    path,
    `Kundennr;Artikelnr;Menge;Bestelldatum\n${[...rows, ...again, ...returned, ...bad].join('\n')}\n`,
  );
  const { prompt, shown } = terminal({});
  await findAnswers(
    { paths: [path], preset: 'csv', port: 1, apiKey: '', evaluates: false, takesProposals: false },
    prompt,
  );
  const plain = (text: string) => text.replaceAll(/\d[\d,]*/g, 'N');
  const asked = shown()
    .split('\n')
    .filter((line) => line.endsWith(')'))
    .map(plain);
  for (const line of OF_ORDERS.split('\n')) expect(asked).toContain(plain(line));
});

it('answers with lists as the tutorial has them', async () => {
  const init = new Furze(
    ['init', 'movies.csv', 'ratings.csv', '--positive', '7', '--json'],
    QUICK_FIT,
    [],
    shop,
  );
  expect(await init.exit, init.output).toBe(0);
  const service = new Furze(['serve', '--port', '0'], QUICK_FIT, [], shop);
  const [, address] = await service.waitFor(/"url":"([^"]+)"/);
  const paths = [...PAGE.matchAll(/^curl 'http:\/\/127\.0\.0\.1:8087([^']+\?n=5)' -H/gm)].map(
    ([, path]) => path!,
  );
  const printed: string[] = [];
  for (const path of paths.slice(0, 3)) printed.push(await (await fetch(address + path)).text());
  await service.stop('SIGTERM');
  // The list is what the models of the day make of it; the rest are counts.
  const [list = '', ...counts] = LISTS.split('\n');
  const plain = (text: string) => text.replaceAll(/\d+/g, 'N');
  expect(plain(printed[0]!)).toBe(plain(list));
  const parts = counts
    .join('\n')
    .split('...')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  expect(printed.slice(1).join('\n')).toMatch(new RegExp(`^${parts.join('[^\\n]*?')}$`));
});
