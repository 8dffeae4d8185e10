import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { findAnswers } from '../../src/cli/init/answers.ts';
import type { Prompt } from '../../src/cli/init/prompt.ts';
import {
  findingsOf,
  look,
  openQuestions,
  planOf,
  type Said,
  settle,
} from '../../src/dashboard/import/plan.ts';
import { openFile, textOf } from '../../src/dashboard/import/read-file.ts';
import type { FilePlan } from '../../src/exchange/import-plan.ts';
import { madeRows } from '../../src/exchange/made-rows.ts';
import { openText } from '../../src/exchange/open-text-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-same-as-init-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
vi.spyOn(process.stderr, 'write').mockReturnValue(true);

/** Takes every proposal. */
const enter: Prompt = { ask: async (_, proposal = '') => proposal, say: () => {}, close: () => {} };

interface Outcome {
  readonly records: Record<string, unknown>[];
  readonly leftOut: string[];
  readonly refused: string[];
}

async function outcomeOf(plans: readonly FilePlan[], text: () => AsyncIterable<string>): Promise<Outcome> {
  const outcome: Outcome = { records: [], leftOut: [], refused: [] };
  for (const plan of plans)
    for await (const rows of madeRows(plan, text()))
      for (const { made } of rows)
        if ('record' in made) outcome.records.push(made.record as Record<string, unknown>);
        else if ('leftOut' in made) outcome.leftOut.push(made.leftOut);
        else outcome.refused.push(made.refusal);
  return outcome;
}

async function byEnter(path: string, takesProposals: boolean): Promise<Outcome> {
  const given = {
    paths: [path],
    preset: 'csv',
    takesProposals,
    ...(takesProposals && { skipsBad: true }),
  } as const;
  const { files } = await findAnswers(given, takesProposals ? undefined : enter);
  const plans = files.map(({ plan }) => plan);
  return outcomeOf(plans, () => openText(path, plans[0]!.encoding).chunks);
}

async function byPage(bytes: Buffer, name: string, said: Said = {}): Promise<Outcome> {
  const opened = await openFile(new File([bytes], name));
  const planned = planOf(opened, await look(opened, {}), {});
  expect(openQuestions(planned)).toEqual([]);
  const findings = await findingsOf(opened, planned.plan);
  const { plans, stop } = settle(planned.plan, findings, said, { positiveTypes: [], hasItems: false });
  expect(stop).toBeUndefined();
  return outcomeOf(plans, () => textOf(opened, () => {}));
}

/** Rows by their number, under names of columns. */
const rowsOf = (count: number, names: string, row: (at: number) => string) =>
  Buffer.from(`${names}\n${Array.from({ length: count }, (_, at) => row(at)).join('\n')}\n`);
const day = (at: number) => `2024-03-${String(1 + (at % 28)).padStart(2, '0')}`;

const FILES: Readonly<Record<string, Buffer>> = {
  'guests.csv': rowsOf(90, 'order_id,customer_id,product_id,name,date_added,order_status', (at) =>
    [
      at,
      at % 3 === 0 ? 0 : 100 + (at % 20),
      40 + (at % 9),
      `Tea ${at % 9}`,
      day(at),
      at % 7 ? 'Complete' : 'Canceled',
    ].join(),
  ),
  'ratings.csv': rowsOf(90, 'user,book_id,my_rating,date_read', (at) =>
    [`u${at % 12}`, at % 30, at % 2 ? 0 : 2 + ((at / 2) % 4), day(at)].join(),
  ),
  'till.csv': rowsOf(90, 'Line Type,Customer Code,Sku,Sale Date,Quantity', (at) =>
    at % 3 === 0
      ? `Payment,c${at % 8},,${day(at)},`
      : `Sale Line,c${at % 8},s${at % 5},${at % 10 ? day(at) : ''},1`,
  ),
  'mails.csv': rowsOf(40, 'customer,article,verschickt', (at) => `k${at % 9},a${at % 5},${day(at)} 10:00`),
  'watched.csv': rowsOf(
    40,
    'Profile Name,Title,Start Time',
    (at) => `p${at % 6},Film ${at % 7},${day(at)} 10:00:00`,
  ),
  'household.csv': rowsOf(
    60,
    'Household Member,Order Date,ASIN,Title',
    (at) => `p${at % 7},${day(at)},B${at % 8},Tea ${at % 8}`,
  ),
  'joined.csv': Buffer.concat(
    [0, 1].map(() => rowsOf(20, 'user,item,time', (at) => `u${at % 4},i${at % 6},${day(at)}`)),
  ),
  'wide.txt': Buffer.from(
    `\uFEFF${rowsOf(40, 'Kundennr\tArtikelnr\tBezeichnung\tBestelldatum', (at) => `${7 + (at % 5)}\t${at % 8}\tKännchen ${at % 8}\t${1 + (at % 28)}.03.2024`)}`,
    'utf16le',
  ),
  'orders.ndjson': Buffer.from(
    Array.from({ length: 30 }, (_, at) =>
      JSON.stringify({
        customer_id: `c${at % 7}`,
        created_at: `${day(at)}T10:00:00Z`,
        line_items: [{ sku: `s${at % 5}`, title: `Tea ${at % 5}`, quantity: 1 }],
      }),
    ).join('\n'),
  ),
  'history.json': Buffer.from(
    JSON.stringify(
      Array.from({ length: 30 }, (_, at) => ({
        watched_at: `${day(at)}T10:00:00Z`,
        user: { username: `u${at % 7}` },
        movie: { title: `Film ${at % 5}`, ids: { trakt: at % 5, imdb: `tt${at % 5}` } },
      })),
    ),
  ),
};

describe('the import page', () => {
  it.each(Object.keys(FILES))('makes the same of %s as furze init by Enter alone', async (name) => {
    const path = join(folder, name);
    writeFileSync(path, FILES[name]!);
    const page = await byPage(FILES[name]!, name);
    expect(page.records.length).toBeGreaterThan(10);
    expect(page).toEqual(await byEnter(path, false));
    // A column of times or users of an unknown name is asked for where somebody answers.
    if (!['mails.csv', 'watched.csv', 'household.csv'].includes(name))
      expect(page).toEqual(await byEnter(path, true));
  });

  it('leaves out guests and takes ratings of 0 for none, unless it is told otherwise', async () => {
    const guests = (said: Said) => byPage(FILES['guests.csv']!, 'guests.csv', said);
    expect(new Set((await guests({})).leftOut)).toEqual(new Set(['Canceled', 'user 0']));
    expect(new Set((await guests({ guests: [] })).leftOut)).toEqual(new Set(['Canceled']));
    const low = async (said: Said) => {
      const { records } = await byPage(FILES['ratings.csv']!, 'ratings.csv', said);
      return records.filter(({ FeedbackType }) => FeedbackType === 'read').length;
    };
    expect([await low({}), await low({ zeroRating: 'lowest' })]).toEqual([23, 23 + 45]);
  });
});
