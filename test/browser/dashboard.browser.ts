import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSample } from '../../src/cli/playground/sample.ts';
import { restoreStore } from '../../src/store/open/open-store.ts';
import { startTestServer, type TestServer } from '../http/start.ts';
import {
  CHROMIUM,
  cutOff,
  isLoaded,
  keepPicture,
  launchChromium,
  openView,
  seriousFaults,
  type View,
  visit,
} from './chromium.ts';

if (CHROMIUM === undefined)
  console.log(
    'SKIPPED the tests of the dashboard: there is no chromium here; install it, or name it in CHROMIUM',
  );

const KEY = 'hush';
const HEADERS = { 'X-API-Key': KEY };
const RATINGS = 20_000;
/** Of an element in the page. */
interface ScrollBox {
  readonly scrollWidth: number;
  readonly clientWidth: number;
}

const VIEWS = [
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  { width: 768, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 768, colorScheme: 'dark' },
] as const;

const PLACEMENT = {
  ...{ categories: [], filter: {}, exclude: [], pins: [], fallback: [] },
  ...{ max_per_label: 0, max_per_category: 0, length: 0, tired_after: 0, tired_hours: 168 },
};

const EXPERIMENT = {
  ...{ placement: 'home', traffic: 1, start: '', measure: 'like', counts: 'users' as const },
  ...{ guardrails: ['purchase'], horizon_hours: 24, plan_users: 1000, alpha: 0.05 },
  variants: [
    { name: 'now', share: 0.5 },
    { name: 'short', share: 0.5, override: { length: 5 } },
  ],
};

/** Has a user see a list of the placement, and like something of it. */
async function seePlacement(server: TestServer, { UserId }: { readonly UserId: string }): Promise<void> {
  const list = await server.call('GET', `/api/recommend/${UserId}?placement=home`, undefined, HEADERS);
  const Recommendation = list.headers.get('X-Furze-Recommendation');
  await server.call('POST', '/api/impressions', [{ UserId, Recommendation, Items: list.body }], HEADERS);
  const like = { FeedbackType: 'like', UserId, ItemId: list.body[0], Timestamp: '', Comment: '', Value: 5 };
  await server.call('POST', '/api/feedback', [{ ...like, Recommendation }], HEADERS);
}

/** Goes through all that can be operated on a page by the Tab key. */
async function walkByTab(page: Page) {
  // Of choices of one name the arrows go from one to the next.
  const count = (await page.evaluate(`{
    document.activeElement.blur();
    const all = [...document.querySelectorAll('a[href], button:enabled, select, textarea, summary, input:enabled:not([type=radio])')];
    window.toReach = new Set(all.filter((each) => each.checkVisibility({ visibilityProperty: true })));
    toReach.size
  }`)) as number;
  const unmarked = new Set<string>();
  for (let press = 0; press < count * 2 + 50; press++) {
    await page.keyboard.press('Tab');
    const [left, text, isMarked] = (await page.evaluate(`{
      const at = document.activeElement;
      toReach.delete(at);
      const { outlineStyle, boxShadow } = getComputedStyle(at);
      [toReach.size, at.outerHTML.slice(0, 80), at === document.body || outlineStyle !== 'none' || boxShadow !== 'none']
    }`)) as [number, string, boolean];
    if (!isMarked) unmarked.add(text);
    if (left === 0) break;
  }
  const missed = (await page.evaluate('[...toReach].map((each) => each.outerHTML.slice(0, 80))')) as string[];
  const isRedrawn = (await page.evaluate('[...toReach].some((each) => !each.isConnected)')) as boolean;
  return { count, missed, unmarked: [...unmarked], isRedrawn };
}

describe.skipIf(CHROMIUM === undefined)('the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let userId: string;
  let itemId: string;

  beforeAll(async () => {
    const sample = readSample();
    // With the name of a type that is as long as those of a shop.
    const feedback = sample.feedback
      .slice(0, RATINGS)
      .map((each) => (each.FeedbackType === 'like' ? { ...each, FeedbackType: 'purchase' } : each));
    server = await startTestServer({
      config: {
        server: { api_key: KEY },
        recommend: {
          data_source: { positive_feedback_types: ['purchase'], read_feedback_types: ['read'] },
          popular: { popular_window: 876_000 * 3_600_000 },
          // No figure of the model is looked at.
          collaborative: { epochs: 5, factors: 16 },
          online: { fallback_recommend: ['item_based', 'popular', 'latest'] },
        },
        placement: { home: PLACEMENT },
        experiment: { sizes: EXPERIMENT },
      },
    });
    await server.service.data.write({ kind: 'putItems', batch: { records: sample.items } });
    await server.service.data.write({
      kind: 'putFeedback',
      overwrite: false,
      batch: { records: feedback },
    });
    await server.service.fit();
    await seePlacement(server, feedback[0]!);
    userId = busiest(feedback.map(({ UserId }) => UserId));
    itemId = busiest(feedback.map(({ ItemId }) => ItemId));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  async function signIn(view: View, base = server.base): Promise<void> {
    // What is asked before there is a key is answered before one is entered.
    await view.page.goto(base, { waitUntil: 'networkidle' });
    await view.page.getByLabel(/asks for its key/).fill(KEY);
    await view.page.getByRole('button', { name: 'Enter' }).click();
    await view.page.getByRole('heading', { name: 'Overview' }).waitFor();
    // The browser tells of each answer that is 401; those before the key was entered are to be.
    view.errors.splice(0);
  }

  async function show(page: Page, path: string, heading: string | RegExp): Promise<void> {
    await visit(page, `${server.base}/#/${path}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await isLoaded(page);
  }

  /** How much of a table is out of sight beside what is seen of it, pixels. */
  const hiddenPart = (page: Page, table: string) =>
    page
      .getByRole('region', { name: table, exact: true })
      .evaluate((each: ScrollBox) => each.scrollWidth - each.clientWidth);

  const recommended = async () =>
    (await server.call('GET', `/api/recommend/${userId}?n=20`, undefined, HEADERS)).body as string[];

  /** Every view, its heading, and a text that it has only with data. */
  const pages = (): [path: string, heading: string | RegExp, data: string | RegExp][] => [
    ['', 'Overview', /serves/],
    ['tasks', 'Tasks', /generation 1/],
    [`try/${userId}`, 'Try it', /A list of 100 by generation 1/],
    [`shelf/user:${userId}`, 'Shelf', /Last liked: /],
    ['items', 'Items', /\(19\d\d\)/],
    [`items/${itemId}`, /\(\d{4}\)/, /positive/],
    ['users', 'Users', /Lately active/],
    ['live', 'Live', /purchase/],
    ['quality', 'Quality', /NDCG@10/],
    ['placements', 'Placements', /Too early to tell/],
    ['import', 'Import', /Drop a file here/],
    ['storage', 'Storage', /itemFeedback/],
    ['config', 'Settings', /positive_feedback_types/],
  ];

  it('asks for the key once, and says so when it is wrong', async () => {
    const view = await openView(browser, VIEWS[0]);
    await view.page.goto(server.base);
    await view.page.getByLabel(/asks for its key/).fill('wrong');
    await view.page.getByRole('button', { name: 'Enter' }).click();
    await view.page.getByText('The service did not take that key.').waitFor();
    await view.page.getByLabel(/asks for its key/).fill('no letters of a header: ключ');
    await view.page.getByRole('button', { name: 'Enter' }).click();
    await view.page.getByText('The service did not take that key.').waitFor();
    await signIn(view);
    await view.page.reload();
    await view.page.getByText(/model 1 serves/).waitFor();
    expect(await view.page.getByLabel(/asks for its key/).count()).toBe(0);
    await view.page.getByRole('button', { name: 'Forget the key' }).click();
    await view.page.getByLabel(/asks for its key/).waitFor();
    expect(await view.page.getByText('did not take').count()).toBe(0);
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it.each([VIEWS[0], VIEWS[1]])('shows a shelf by two settings side by side at $width', async (how) => {
    const view = await openView(browser, how);
    await signIn(view);
    const { page } = view;
    await show(page, `shelf/user:${userId}/user:${userId}`, 'Shelf');
    await page.getByLabel('First setting').selectOption({ label: 'discovery 0' });
    await page.getByLabel('Second setting').selectOption({ label: 'placement home' });
    await page.locator('.goods').nth(1).waitFor();
    const titles = (at: number) => page.locator('.goods').nth(at).locator('strong').allTextContents();
    const [first, second] = [await titles(0), await titles(1)];
    expect([first.length, second.length]).toEqual([12, 12]);
    await page.getByLabel('Second setting').selectOption({ label: 'discovery 1' });
    await expect.poll(() => titles(1)).not.toEqual(second);
    expect(await seriousFaults(page)).toEqual([]);
    await keepPicture(page, `shelf-settings-${how.width}.png`);
    expect(view.errors).toEqual([]);
    await page.context().close();
  });

  it.each(VIEWS)('shows real data on every page without a fault at $width in $colorScheme', async (how) => {
    const view = await openView(browser, how);
    await signIn(view);
    for (const [path, heading, data] of pages()) {
      await show(view.page, path, heading);
      await view.page.locator('main').getByText(data).first().waitFor();
      if (path.startsWith('try/')) {
        await view.page.getByRole('button', { name: /^Why / }).first().click();
        await view.page.getByText(/^Recommended, at place 1\./).waitFor();
        const shelf = view.page.locator('section', { has: view.page.getByRole('heading', { name: 'home' }) });
        await shelf.locator('ol li').nth(2).waitFor();
        for (const table of ['Recommended', 'History'])
          expect(await hiddenPart(view.page, table), `${table} scrolls`).toBeLessThanOrEqual(0);
      }
      const wide = await view.page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(wide, `${path} is wider than the page`).toBeLessThanOrEqual(0);
      if (how.width === 768) expect(await cutOff(view.page), path).toEqual([]);
      expect(await seriousFaults(view.page), path).toEqual([]);
      const name = `${path.replaceAll('/', '-') || 'overview'}-${how.width}-${how.colorScheme}.png`;
      await keepPicture(view.page, name);
    }
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it('draws curves of more than one point, requests and latency among them', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    // A chart stands on the page, with its points, before it is drawn.
    const isDrawn = `(() => {
      const charts = [...document.querySelectorAll('.charts:not(.days) figure.chart')];
      const drawn = charts.filter((each) => each.dataset.points > 1 && each.querySelector('canvas'));
      return charts.length > 0 && drawn.length === charts.length;
    })()`;
    while (!(await view.page.evaluate(isDrawn))) {
      await recommended();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    await expect.poll(() => view.page.locator('.charts:not(.days) figure.chart canvas').count()).toBe(6);
    // The picture of the README: docs/dashboard.png.
    await keepPicture(view.page, 'dashboard.png', false);
    await view.page.context().close();
  });

  it('hides an item, which leaves the list at once, and shows it again', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, `try/${userId}`, 'Try it');
    const [first] = (await recommended()) as [string];
    const row = view.page.locator(`tr[data-item="${first}"]`);
    await row.getByRole('button', { name: /^Why / }).waitFor();
    expect(await row.getByRole('button', { name: /^(Hide|purchase) / }).count()).toBe(0);
    await view.page.getByRole('switch', { name: /Really store/ }).check();
    await row.getByRole('button', { name: /^Hide / }).click();
    await view.page.getByRole('button', { name: 'Cancel' }).click();
    expect(await recommended()).toContain(first);
    await row.getByRole('button', { name: /^Hide / }).click();
    expect(await seriousFaults(view.page)).toEqual([]);
    await view.page.getByRole('button', { name: 'Hide it' }).click();
    await view.page
      .getByRole('status')
      .getByText(/is hidden/)
      .waitFor();
    await row.waitFor({ state: 'detached' });
    expect(await recommended()).not.toContain(first);
    await view.page.getByRole('button', { name: 'Undo' }).click();
    await view.page.getByText(/is hidden/).waitFor({ state: 'detached' });
    const item = () => server.call('GET', `/api/item/${first}`, undefined, HEADERS);
    await expect.poll(async () => (await item()).body.IsHidden).toBe(false);
    await view.page.getByRole('link', { name: 'Users', exact: true }).click();
    await view.page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await view.page.getByRole('link', { name: 'Try it' }).click();
    expect(await view.page.getByRole('switch', { name: /Really store/ }).isChecked()).toBe(false);
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it('likes an item, says why one is recommended and why another is not', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, `try/${userId}`, 'Try it');
    const [first, second] = (await recommended()) as [string, string];
    const asked: string[] = [];
    view.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await view.page.locator(`tr[data-item="${second}"]`).getByRole('button', { name: /^Why / }).click();
    await view.page.getByText(/Recommended, at place 2\./).waitFor();
    // The id stands beside each title.
    const untitled = view.page.locator('.why a.item:not(:has(small))');
    await expect.poll(() => untitled.count()).toBe(0);
    expect(asked.filter((path) => path.startsWith('/api/item/'))).toEqual([]);
    await view.page.getByRole('switch', { name: /Really store/ }).check();
    await view.page
      .locator(`tr[data-item="${first}"]`)
      .getByRole('button', { name: /^purchase / })
      .click();
    await view.page.getByText(/It counts as real feedback/).waitFor();
    await view.page.getByRole('button', { name: 'Store it' }).click();
    await view.page.locator(`tr[data-item="${first}"]`).waitFor({ state: 'detached' });
    const { Comment: title } = (await server.call('GET', `/api/item/${first}`, undefined, HEADERS)).body;
    await view.page.getByLabel('Title or id of an item that is missing').fill(title.toUpperCase());
    await view.page.getByRole('button', { name: title, exact: true }).click();
    await view.page.getByText(/The user has feedback on it already/).waitFor();
    expect(await recommended()).not.toContain(first);
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it('finds items by words of their titles, and all of them again without', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'items', 'Items');
    const rows = view.page.getByRole('region', { name: 'Items' }).locator('tbody tr');
    await rows.first().waitFor();
    const [before] = await rows.allTextContents();
    await view.page.getByLabel('Title, id, category or label').fill('iron man 3');
    await view.page.getByText('Iron Man 3 (2013)').waitFor();
    await expect.poll(() => rows.first().textContent()).toContain('Iron Man 3 (2013)');
    await view.page.getByLabel('Title, id, category or label').fill('no such film at all');
    await view.page.getByText('No title, id, category or label has no such film at all in it.').waitFor();
    await view.page.getByLabel('Title, id, category or label').fill('');
    await expect.poll(() => rows.first().textContent()).toBe(before);
    const pages = view.page.getByRole('navigation', { name: 'Pages of the table' });
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByText('Page 2').waitFor();
    await view.page.getByRole('link', { name: 'Try it' }).click();
    await view.page.getByLabel('Title or id of an item', { exact: true }).fill('iron man 3');
    await view.page.getByRole('button', { name: 'Iron Man 3 (2013)', exact: true }).click();
    await view.page.getByRole('region', { name: 'Recommended to the session' }).waitFor();
    await view.page.getByLabel('Title or id of an item', { exact: true }).fill('gravity (2013)');
    await view.page.keyboard.press('Enter');
    await view.page.getByRole('button', { name: 'Remove Gravity (2013) from the session' }).waitFor();
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it('shows feedback as it comes with what the user is recommended since, and holds still when asked to', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    const [first] = (await recommended()) as [string];
    await show(view.page, 'live', 'Live');
    const rows = view.page.getByRole('region', { name: 'Feedback as it comes' }).locator('tbody tr');
    await rows.first().waitFor();
    const like = (ItemId: string) => {
      const record = { FeedbackType: 'purchase', UserId: userId, ItemId, Timestamp: '' };
      return server.call('PUT', '/api/feedback', [record], HEADERS);
    };
    await like(first);
    await rows.first().getByText('new', { exact: true }).first().waitFor();
    const title = (await server.call('GET', `/api/item/${first}`, undefined, HEADERS)).body.Comment;
    expect(await rows.first().textContent()).toContain(title);
    const [next, afterNext] = (await recommended()) as [string, string];
    await view.page.getByRole('button', { name: 'Hold' }).click();
    await like(next);
    await view.page.getByRole('button', { name: 'Go on' }).click();
    const nextTitle = (await server.call('GET', `/api/item/${next}`, undefined, HEADERS)).body.Comment;
    await expect.poll(() => rows.first().textContent()).toContain(nextTitle);
    // After a stop the page finds the service again by itself.
    await view.page.context().setOffline(true);
    await view.page.context().setOffline(false);
    await like(afterNext);
    const lastTitle = (await server.call('GET', `/api/item/${afterNext}`, undefined, HEADERS)).body.Comment;
    await expect.poll(() => rows.first().textContent()).toContain(lastTitle);
    await view.page.context().close();
  });

  it('tells what is in effect, who set it, and where the documentation has it', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'config', 'Settings');
    const section = view.page.getByRole('region', { name: 'recommend.data_source', exact: true });
    await section.getByText('FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES').waitFor();
    await view.page.getByLabel('Find a key or what it does').fill('data_store');
    await section.waitFor({ state: 'detached' });
    const link = view.page.getByRole('link', { name: 'docs/scale-out.md' }).first();
    expect(view.errors).toEqual([]);
    const [page] = await Promise.all([view.page.waitForEvent('framenavigated'), link.click()]);
    expect(page.url()).toMatch(/docs\/scale-out.md$/);
    await view.page.getByText('# Several nodes').first().waitFor();
    await view.page.context().close();
  });

  it('recommends to a session put together of items', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, `items/${itemId}`, /\(\d{4}\)/);
    await view.page.getByRole('button', { name: 'Add to session' }).click();
    await view.page.getByRole('link', { name: 'Try it' }).click();
    const rows = view.page.getByRole('region', { name: 'Recommended to the session' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThan(1);
    await view.page.context().close();
  });

  it('imports a CSV file, and tells which rows it refused', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'import', 'Import');
    const csv = [
      'customer,sku,stars,when',
      '"new, user",film-a,5,1700000000',
      'newer,film-b,2,1700000100',
      ',film-c,4,1700000200',
      'newest,film/d,4,1700000300',
      'newest,film-a,4.5,1700000400',
    ].join('\n');
    const buffer = Buffer.from(`${csv}\n`);
    await view.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'own.csv', mimeType: 'text/csv', buffer });
    await expect.poll(() => view.page.getByLabel('UserId (needed)').inputValue()).toBe('0');
    await expect.poll(() => view.page.getByLabel('Timestamp').inputValue()).toBe('3');
    await expect.poll(() => view.page.getByLabel('Times are').inputValue()).toBe('seconds');
    await view.page.getByText('2 rows of 5 cannot be stored.', { exact: true }).waitFor();
    await keepPicture(view.page, 'import-file.png');
    expect(await seriousFaults(view.page)).toEqual([]);
    expect(await view.page.getByRole('button', { name: 'Import feedback' }).count()).toBe(0);
    await view.page.getByLabel(/^Pass over what cannot be stored/).check();
    await view.page.getByRole('button', { name: 'Import feedback' }).click();
    await view.page.getByText(/Done: 3 sent, 3 written, 2 refused/).waitFor();
    await view.page.getByRole('cell', { name: 'the user id is empty', exact: true }).waitFor();
    const stored = await server.call(
      'GET',
      `/api/user/${encodeURIComponent('new, user')}/feedback`,
      undefined,
      HEADERS,
    );
    expect(stored.body).toMatchObject([
      { FeedbackType: 'purchase', ItemId: 'film-a', Timestamp: '2023-11-14T22:13:20Z' },
    ]);
    const low = await server.call('GET', '/api/user/newer/feedback', undefined, HEADERS);
    expect(low.body[0].FeedbackType).toBe('read');
    await show(view.page, 'tasks', 'Tasks');
    await view.page.getByText('file own.csv, feedback written 3, refused 2').waitFor();
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it('finds the order of days and months by the whole file, and takes any sign between columns', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'import', 'Import');
    const choose = (text: string) =>
      view.page
        .locator('input[type=file]')
        .setInputFiles({ name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await choose(`Kundennr;Artikelnr;Datum\n${'ann;tea;1/2/2024\n'.repeat(6000)}ann;ale;13/2/2024\n`);
    await view.page.getByRole('cell', { name: '2024-02-01', exact: true }).first().waitFor();
    await expect.poll(() => view.page.getByLabel('Times are').inputValue()).toBe('day-first');
    await choose('user item\nann tea\n');
    await view.page.getByText(/Say which column is ItemId/).waitFor();
    await view.page.getByLabel('Between columns').fill(' ');
    await view.page.getByLabel('Between columns').blur();
    await view.page.getByRole('button', { name: 'Import feedback' }).waitFor();
    await choose('PK\x03\x04');
    await view.page.getByText(/orders.csv is packed with zip/).waitFor();
    // What was asked of the file before is gone with it.
    expect(await view.page.getByRole('button', { name: 'Import feedback' }).count()).toBe(0);
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it('imports in smaller batches where the service takes less at once', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'import', 'Import');
    await view.page.route('**/api/users', (route) =>
      (route.request().postDataJSON() as unknown[]).length > 2
        ? route.fulfill({ status: 413, json: { detail: 'too many' } })
        : route.continue(),
    );
    const csv = `UserId,Comment\n${Array.from({ length: 7 }, (_, at) => `seven-${at},x\n`).join('')}`;
    await view.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'seven.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await view.page.getByRole('button', { name: 'Import users' }).click();
    await view.page.getByText(/Done: 7 sent, 7 written/).waitFor();
    await view.page.context().close();
  });

  it('says that a cell with a list is no item', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'import', 'Import');
    const csv = 'customer,date,product_ids\nann,2025-03-05,"1,2"\nbob,2025-03-06,3\n';
    await view.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'lists.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await view.page.getByText(/No items are found: "product_ids" has a list in a cell/).waitFor();
    await view.page.context().close();
  });

  it('asks for the order of days and months, and reads what spreadsheets write', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'import', 'Import');
    const csv = 'member_no;sku;ordered_at;qty;title\njosé;café;02/01/2024 8:26;1,5;Thé\n';
    const buffer = Buffer.from(csv, 'latin1');
    await view.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'sheet.csv', mimeType: 'text/csv', buffer });
    await view.page.getByText(/Say how the times are written, since nothing tells/).waitFor();
    expect(await view.page.getByRole('button', { name: 'Import feedback' }).count()).toBe(0);
    await view.page.getByRole('cell', { name: '02/01/2024 8:26', exact: true }).waitFor();
    expect(await view.page.getByText('refused:').count()).toBe(0);
    await keepPicture(view.page, 'import-times.png');
    expect(await seriousFaults(view.page)).toEqual([]);
    await view.page.getByLabel('Times are').selectOption('day-first');
    await view.page.getByText(/not UTF-8 and is read as windows-1252/).waitFor();
    await view.page.getByRole('button', { name: 'Import feedback' }).click();
    await view.page.getByText(/Done: 1 sent, 1 written/).waitFor();
    const path = `/api/user/${encodeURIComponent('josé')}/feedback`;
    const stored = await server.call('GET', path, undefined, HEADERS);
    expect(stored.body).toMatchObject([{ ItemId: 'café', Timestamp: '2024-01-02T08:26:00Z', Value: 1.5 }]);
    expect(view.errors).toEqual([]);
    await view.page.context().close();
  });

  it('saves a backup, and compacts the store', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await show(view.page, 'storage', 'Storage');
    const saved = view.page.waitForEvent('download');
    await view.page.getByRole('button', { name: 'Back up' }).click();
    const folder = mkdtempSync(join(tmpdir(), 'furze-saved-'));
    const path = join(folder, (await saved).suggestedFilename());
    await (await saved).saveAs(path);
    await view.page.getByText(/^Saved as furze-.*\.mdb/).waitFor();
    const restored = await restoreStore({ source: path, dataPath: join(folder, 'data'), lockWaitMs: 0 });
    const { body } = await server.call('GET', '/api/admin/summary', undefined, HEADERS);
    expect(restored).toMatchObject({ items: body.Items, users: body.Users, feedback: body.Feedback });
    await view.page.getByRole('button', { name: 'Compact' }).click();
    await view.page.getByText(/Last compaction: .*, done \(before /).waitFor();
    expect(view.errors).toEqual([]);
    rmSync(folder, { recursive: true });
    await view.page.context().close();
  });

  it('says that the service does not answer, and goes on when it does', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await view.page.context().setOffline(true);
    await view.page.getByText(/The service has not answered since/).waitFor();
    await view.page.getByRole('link', { name: 'Storage' }).click();
    await view.page.getByRole('heading', { name: 'Storage' }).waitFor();
    expect(await view.page.getByRole('alert').count()).toBe(1);
    await view.page.context().setOffline(false);
    await view.page.getByText(/The service has not answered since/).waitFor({ state: 'detached' });
    await view.page.getByText('itemFeedback').waitFor();
    await view.page.context().close();
  });

  it('keeps its menu in one row on a phone, and what is tapped at least 44 px high', async () => {
    const view = await openView(browser, VIEWS[1]);
    await signIn(view);
    for (const [path, heading] of pages()) {
      await show(view.page, path, heading);
      const tops = await view.page.evaluate(
        'new Set([...document.querySelectorAll(".side nav li")].map((each) => each.getBoundingClientRect().top)).size',
      );
      expect(tops, path).toBe(1);
      const low =
        await view.page.evaluate(`[...document.querySelectorAll('nav a, button, select, textarea, summary, main a.item, input')]
        .map((each) => [each.outerHTML.slice(0, 120), (each.closest('label') ?? each).getBoundingClientRect()])
        .filter(([, { height, left }]) => height > 0 && left >= 0 && height < 44)
        .map(([text, { height }]) => text + ' ' + height)`);
      expect(low, path).toEqual([]);
    }
    await view.page.context().close();
  });

  it('has all that can be operated on every page within reach of the Tab key, and shows where it is', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    for (const [path, heading, data] of pages()) {
      await show(view.page, path, heading);
      await view.page.locator('main').getByText(data).first().waitFor();
      let walked: Awaited<ReturnType<typeof walkByTab>>;
      // What came in and was drawn anew meanwhile could not be reached.
      do walked = await walkByTab(view.page);
      while (walked.isRedrawn);
      expect(walked.count, path).toBeGreaterThan(10);
      expect([walked.missed, walked.unmarked], path).toEqual([[], []]);
    }
    await view.page.context().close();
  });

  it('is walked by keyboard alone', async () => {
    const view = await openView(browser, VIEWS[0]);
    await signIn(view);
    await view.page.reload();
    await view.page.getByText(/model 1 serves/).waitFor();
    const focused = () => view.page.evaluate('document.activeElement.textContent') as Promise<string>;
    await view.page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    while ((await focused()) !== 'Items') await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Enter');
    await view.page.getByRole('heading', { name: 'Items' }).waitFor();
    expect(await focused()).toBe('Items');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.type(itemId);
    await expect.poll(() => view.page.locator('tbody tr').count()).toBe(1);
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Enter');
    await view.page.getByRole('heading', { name: 'Items like it' }).waitFor();
    await view.page.context().close();
  });
});

/** The value that comes most often. */
function busiest(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}
