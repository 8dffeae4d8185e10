import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from '../http/start.ts';
import {
  CHROMIUM,
  isLoaded,
  keepPicture,
  launchChromium,
  openView,
  seriousFaults,
  visit,
} from './chromium.ts';

const WIDE = { width: 1440, colorScheme: 'light' } as const;
const NARROW = { width: 390, colorScheme: 'dark' } as const;
const MARKUP = '<img src=x onerror=alert(1)>';
/** What ids may be, and what has broken pages before. */
const ODD = [
  'x'.repeat(512),
  MARKUP,
  'a"b\'c`&amp;',
  '日本語🎬é',
  '  two  spaces ',
  'a#b?c=d&e%20f%2F',
  '%',
  '__proto__',
];

describe.skipIf(CHROMIUM === undefined)('the dashboard, of odd data,', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it('says on its first page why a service recommends nothing', async () => {
    const empty = await startTestServer();
    try {
      const clicks = [1, 2, 3].map((user) => ({ FeedbackType: 'click', UserId: `u${user}`, ItemId: 'i' }));
      await empty.call('POST', '/api/feedback', clicks);
      const view = await openView(browser, WIDE);
      await view.page.goto(empty.base);
      await view.page
        .getByText(/No positive feedback types are configured; seen so far: click \(3\)\./)
        .first()
        .waitFor();
      await view.page.getByText(/positive_feedback_types = \["click"\]/).waitFor();
      expect(await seriousFaults(view.page)).toEqual([]);
      await keepPicture(view.page, 'no-positive-types.png');
      await view.page.context().close();
    } finally {
      await empty.stop();
    }
  });

  it('says on every page that there is nothing yet', async () => {
    const empty = await startTestServer();
    try {
      const view = await openView(browser, NARROW);
      for (const [path, text] of [
        ['', 'There is no data yet.'],
        ['tasks', 'Nothing runs.'],
        ['try', 'There are no items yet.'],
        ['try/nobody', 'There is no user nobody'],
        ['items', 'There are no items yet.'],
        ['users', 'There are no users yet.'],
        ['quality', 'Nothing is learned yet'],
        ['storage', 'No backup yet.'],
      ] as const) {
        await visit(view.page, `${empty.base}/#/${path}`);
        await view.page.locator('main').getByText(text).first().waitFor();
        expect(
          await view.page.evaluate('document.documentElement.scrollWidth - innerWidth'),
        ).toBeLessThanOrEqual(0);
        expect(await seriousFaults(view.page), path).toEqual([]);
      }
      expect(view.errors).toEqual([]);
      await view.page.context().close();
    } finally {
      await empty.stop();
    }
  });

  it('imports NDJSON in the form of the API, and of any other', async () => {
    const server = await startTestServer();
    const files: [name: string, ...lines: string[]][] = [
      [
        'own.ndjson',
        '{"FeedbackType":"read","UserId":"json","ItemId":"a"}',
        '{"FeedbackType":"like","UserId":"json","ItemId":"b","Value":2}',
      ],
      ['other.jsonl', '{"uid":"json","sku":"c","ts":1700000000}', 'nonsense'],
    ];
    try {
      const view = await openView(browser, WIDE);
      for (const [name, ...lines] of files) {
        await view.page.goto(`${server.base}/#/import`);
        await view.page.reload();
        const buffer = Buffer.from(lines.join('\n'));
        const chosen = { name, mimeType: 'application/x-ndjson', buffer };
        await view.page.locator('input[type=file]').setInputFiles(chosen);
        // Half of its rows are bad, which has to be agreed to.
        if (name === 'other.jsonl') await view.page.getByLabel(/^Pass over what cannot be stored/).check();
        await view.page.getByRole('button', { name: 'Import feedback' }).click();
        await view.page.getByText(/^Done: /).waitFor();
        expect(await seriousFaults(view.page)).toEqual([]);
        await keepPicture(view.page, `import-${name}.png`);
      }
      const stored = await server.call('GET', '/api/user/json/feedback');
      const found = stored.body as { ItemId: string; FeedbackType: string; Value?: number }[];
      expect(
        found.map(({ ItemId, FeedbackType, Value }) => `${ItemId} ${FeedbackType} ${Value}`).sort(),
      ).toEqual(['a read undefined', 'b like 2', 'c like undefined']);
      expect(view.errors).toEqual([]);
      await view.page.context().close();
    } finally {
      await server.stop();
    }
  });

  it('shows any id, label and title as it is, within the page', async () => {
    const server = await startTestServer({
      config: { recommend: { online: { fallback_recommend: ['latest'] } } },
    });
    try {
      const categories = Array.from({ length: 500 }, (_, at) => `category ${at}`);
      const items = ODD.map((ItemId, at) => ({
        ItemId,
        Comment: ['', `${MARKUP} 日本語`, 't'.repeat(3000)][at % 3],
        Categories: at === 0 ? categories : [MARKUP],
        Labels: at % 2 === 0 ? ['', MARKUP] : { 'of any': { form: [1, '<i>'] } },
        Timestamp: '2024-01-01',
      }));
      expect((await server.call('POST', '/api/items', items)).status).toBe(200);
      const users = ['with/slashes/', 'a/../b', ...ODD];
      const feedback = users.flatMap((UserId) =>
        ODD.slice(0, 4).map((ItemId) => ({ FeedbackType: '<b>"read" & more</b>', UserId, ItemId })),
      );
      expect((await server.call('POST', '/api/feedback', feedback)).status).toBe(200);
      const view = await openView(browser, NARROW);
      let dialogs = 0;
      view.page.on('dialog', (dialog) => {
        dialogs++;
        void dialog.dismiss();
      });
      const places = [
        ['items', 'users'],
        ODD.map((id) => `items/${encodeURIComponent(id)}`),
        users.map((id) => `try/${encodeURIComponent(id)}`),
      ].flat();
      for (const path of places) {
        await visit(view.page, `${server.base}/#/${path}`);
        await view.page.locator('main table, main dl').first().waitFor();
        await isLoaded(view.page);
        expect(await view.page.getByRole('alert').allTextContents(), path).toEqual([]);
        const wide = await view.page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(wide, `${path} is wider than the page`).toBeLessThanOrEqual(0);
      }
      await view.page.goto(`${server.base}/#/items/${ODD[0]}`);
      await view.page.getByText('and 488 more').waitFor();
      expect(dialogs).toBe(0);
      expect(view.errors).toEqual([]);
      await view.page.context().close();
    } finally {
      await server.stop();
    }
  });
});
