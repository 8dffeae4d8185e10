import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../http/start.ts';
import {
  CHROMIUM,
  cutOff,
  isLoaded,
  keepPicture,
  launchChromium,
  openView,
  seriousFaults,
  visit,
} from './chromium.ts';

const DAY_MS = 86_400_000;
const USERS = 700;
/** Stops on the way by the key Tab, at most. */
const TABS_MAX = 400;
/** What was done can be taken back for a dozen seconds, which a way there by Tab takes on a busy machine. */
const KEEP_NOTICES = `{
  const { setTimeout } = window;
  window.setTimeout = (run, ms, ...given) => (ms < 10_000 || ms === undefined ? setTimeout(run, ms, ...given) : 0);
}`;
const GENRES = ['comedy', 'drama', 'crime'];

/** Name of what has the focus, as a person would call it. */
const FOCUSED = `(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return '';
  const label = at.labels?.[0];
  const own = label && [...label.childNodes].find((each) => each.textContent.trim() !== '');
  return (at.getAttribute('aria-label') ?? own?.textContent ?? at.textContent).trim();
})()`;

describe.skipIf(CHROMIUM === undefined)('placements and experiments in the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let leadMs = 0;

  beforeAll(async () => {
    server = await startTestServer({
      clock: () => Date.now() + leadMs,
      config: {
        recommend: {
          data_source: { positive_feedback_types: ['purchase'] },
          online: { fallback_recommend: ['popular', 'latest'] },
        },
      },
    });
    const items = Array.from({ length: 30 }, (_, at) => ({
      ...{ ItemId: `film-${at}`, IsHidden: false, Categories: [], Labels: [GENRES[at % 3]] },
      ...{
        Timestamp: `2024-01-${String(30 - at).padStart(2, '0')}T00:00:00Z`,
        Comment: `The film number ${at}`,
      },
    }));
    await server.call('POST', '/api/items', items);
    const bought = (user: string, at: number) => ({
      ...{ FeedbackType: 'purchase', UserId: user, ItemId: `film-${at}`, Timestamp: '', Comment: '' },
    });
    for (const [at, user] of ['ann', 'ben', 'cleo'].entries())
      await server.call('POST', '/api/feedback', [bought(user, at), bought(user, at + 3)]);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** Goes on by Tab until something of this name has the focus. */
  async function tabTo(page: Page, name: string | RegExp): Promise<void> {
    const seen: string[] = [];
    for (let at = 0; at < TABS_MAX; at++) {
      await page.keyboard.press('Tab');
      const focused = (await page.evaluate(FOCUSED)) as string;
      if (typeof name === 'string' ? focused === name : name.test(focused)) return;
      seen.push(focused);
    }
    throw new Error(`no way by Tab to ${name}; there were ${[...new Set(seen)].join(' | ')}`);
  }

  async function press(page: Page, name: string | RegExp): Promise<void> {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
  }

  async function fill(page: Page, name: string | RegExp, text: string): Promise<void> {
    await tabTo(page, name);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  }

  /** A picture, and no fault of accessibility nor width. */
  async function look(page: Page, name: string): Promise<void> {
    await isLoaded(page);
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(wide, `${name} is wider than the page`).toBeLessThanOrEqual(0);
    expect(await seriousFaults(page), name).toEqual([]);
    await keepPicture(page, `${name}.png`);
  }

  const titlesOf = (page: Page, at: number) =>
    page
      .getByRole('region', { name: `Preview ${at}` })
      .locator('li a')
      .allTextContents();
  const listOf = async (user: string) =>
    (await server.call('GET', `/api/recommend/${user}?n=10&placement=home`)).body as string[];

  /** Users see their lists, and more of them buy where the list begins with film 20. */
  async function simulate(): Promise<void> {
    const impressions = [];
    const purchases = [];
    for (let at = 0; at < USERS; at++) {
      const UserId = `visitor-${at}`;
      const answer = await server.call('GET', `/api/recommend/${UserId}?n=5&placement=home`);
      const Recommendation = answer.headers.get('X-Furze-Recommendation');
      impressions.push({ UserId, Recommendation, Items: answer.body });
      if (at % 10 >= (answer.body[0] === 'film-20' ? 6 : 1)) continue;
      const record = { FeedbackType: 'purchase', UserId, ItemId: answer.body[0], Timestamp: '', Comment: '' };
      purchases.push({ ...record, Recommendation });
    }
    await server.call('POST', '/api/impressions', impressions);
    await server.call('POST', '/api/feedback', purchases);
    leadMs += 8 * DAY_MS;
  }

  it('are not saved while a field holds what is no value, and are at the first click where all hold one', async () => {
    const view = await openView(browser, { width: 1300, colorScheme: 'light' });
    const { page } = view;
    await visit(page, `${server.base}/#/placements/fields`);
    await page.getByRole('button', { name: 'Make the placement' }).click();
    const save = page.getByRole('button', { name: 'Save' });
    await save.waitFor();
    await page.getByLabel('filter', { exact: true }).fill('{bad');
    await page.getByLabel('length', { exact: true }).fill('4');
    expect(await save.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Leave it as it was' }).click();
    await page.getByLabel('categories', { exact: true }).fill('one\ntwo');
    await save.scrollIntoViewIfNeeded();
    const { x, y } = (await save.boundingBox())!;
    await page.mouse.click(x + 5, y + 5);
    const kept = async () => (await server.call('GET', '/api/admin/placements/fields')).body;
    await expect.poll(kept).toMatchObject({ Rule: { Settings: { categories: ['one', 'two'] } } });
    await server.call('DELETE', '/api/admin/placements/fields');
    await page.context().close();
  });

  it('are made, previewed, tried, promoted and taken back by keyboard alone on a phone', async () => {
    const { page, errors } = await openView(browser, { width: 390, colorScheme: 'light' });
    await page.addInitScript(KEEP_NOTICES);
    await visit(page, `${server.base}/#/placements`);
    await isLoaded(page);
    await fill(page, 'Name of a new placement', 'home');
    await press(page, 'Make a placement');
    await page.getByRole('heading', { name: 'Placement home' }).waitFor();
    await expect.poll(async () => (await titlesOf(page, 3)).length).toBeGreaterThan(5);
    for (const at of [1, 2, 3]) expect((await titlesOf(page, at))[0]).toContain('The film number');
    await fill(page, 'Title or id of an item to pin', 'number 25');
    await press(page, 'The film number 25');
    await expect.poll(() => titlesOf(page, 1)).toContainEqual(expect.stringContaining('number 25'));
    await fill(page, 'max per label', '2');
    await expect.poll(async () => (await titlesOf(page, 2)).length).toBeLessThanOrEqual(7);
    for (const at of [1, 2, 3]) expect((await titlesOf(page, at))[0]).toContain('number 25');
    await tabTo(page, 'rotate');
    await page.keyboard.press('Space');
    await look(page, 'placement-preview-390-light');
    expect((await server.call('GET', '/api/recommend/ann?placement=home')).status).toBe(404);
    await press(page, 'Make the placement');
    await page.getByText('home is in effect.').waitFor();
    const { Placements } = (await server.call('GET', '/api/admin/rules')).body;
    expect(Placements[0].Settings).toMatchObject({ max_per_label: 2, rotate: true });
    expect((await listOf('ann'))[0]).toBe('film-25');

    await press(page, 'Remove The film number 25');
    await fill(page, 'Title or id of an item to pin', 'number 20');
    await press(page, 'The film number 20');
    await page.getByText('Try the changes on half of the users').waitFor();
    await fill(page, 'Name of the experiment', 'opening');
    await tabTo(page, 'What decides');
    await page.keyboard.type('purchase');
    await look(page, 'placement-experiment-390-light');
    await press(page, 'Start the experiment');
    await page.getByRole('heading', { name: 'Experiment opening' }).waitFor();
    await page.getByText(/Too early to tell/).waitFor();

    await simulate();
    await expect
      .poll(async () => {
        await page.reload();
        await isLoaded(page);
        return page.getByText(/^new wins|new .*better|wins by/).count();
      })
      .toBeGreaterThan(0);
    await look(page, 'placement-decided-390-light');
    await press(page, 'Promote new');
    await press(page, 'End the experiment');
    await page.getByText('The experiment opening has ended.').waitFor();
    expect((await listOf('ann'))[0]).toBe('film-20');
    expect((await listOf('ben'))[0]).toBe('film-20');
    await press(page, 'Undo');
    await page.getByRole('heading', { name: 'Experiment opening' }).waitFor();
    const firsts = new Set<string | undefined>();
    // Of those who have bought nothing: what somebody has is not shown again.
    for (let at = 0; at < 40; at++) if (at % 10 >= 6) firsts.add((await listOf(`visitor-${at}`))[0]);
    expect([...firsts].sort()).toEqual(['film-20', 'film-25']);
    await page.getByText('Who changed what').click();
    await look(page, 'placements-390-light');
    expect(errors.filter((each) => !each.includes('404'))).toEqual([]);
    await page.context().close();
  });

  it.each([
    { width: 1440, colorScheme: 'light' },
    { width: 1440, colorScheme: 'dark' },
    { width: 390, colorScheme: 'dark' },
    { width: 768, colorScheme: 'light' },
  ] as const)('look as they should at $width in $colorScheme', async (how) => {
    const { page } = await openView(browser, how);
    for (const [path, heading] of [
      ['placements', 'Placements'],
      ['placements/home', 'Placement home'],
    ] as const) {
      await visit(page, `${server.base}/#/${path}`);
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      if (heading !== 'Placements')
        await expect.poll(async () => (await titlesOf(page, 3)).length).toBeGreaterThan(3);
      if (how.width === 768) expect(await cutOff(page), path).toEqual([]);
      await look(page, `${path.replace('/', '-')}-${how.width}-${how.colorScheme}`);
    }
    await page.context().close();
  });
});
