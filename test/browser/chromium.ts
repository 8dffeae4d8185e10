import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine, undefined when it has none. */
export const CHROMIUM = [process.env.CHROMIUM ?? '', ...PLACES].find(
  (path) => path !== '' && existsSync(path),
);

/**
 * Parts of the browser's own window, of which each page has one: two pages of its address bar, which took as long as a page of the
 * dashboard. The rest is what Playwright turns off, whose list this one takes the place of: above all what asks for something outside.
 */
const WITHOUT = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'LensOverlay', 'PaintHolding'],
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'MediaRouter', 'ThirdPartyStoragePartitioning'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
];

export function launchChromium(): Promise<Browser> {
  // As root there is no sandbox to be had; the pages are our own.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const args = [...asRoot, `--disable-features=${WITHOUT.join()}`];
  return chromium.launch({ executablePath: CHROMIUM!, args });
}

export interface View {
  readonly page: Page;
  /** What the page wrote to its console as errors, and what it threw. */
  readonly errors: string[];
}

export interface ViewOptions {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** A page of its own, with nothing kept from others. */
export async function openView(browser: Browser, { width, colorScheme }: ViewOptions): Promise<View> {
  const height = width < 600 ? 844 : 900;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(600_000);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return { page, errors };
}

/** Goes to an address, be it another place of the same page, and waits until that shows what it shows first. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** Waits until nothing on the page is still to come. */
export async function isLoaded(page: Page): Promise<void> {
  await expect.poll(() => page.locator('main [aria-busy=true]').count()).toBe(0);
}

/**
 * Keeps a picture of a page in the folder SCREENSHOTS where there is to be one: a long page drawn as a whole costs half a second of a
 * processor.
 * @param fullPage false for what is in the window alone
 */
export async function keepPicture(page: Page, name: string, fullPage = true): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, name), fullPage });
}

/** Tables and menus of which a part is out of sight until they are scrolled. */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.scroll, .side nav ul')]
    .filter((each) => each.scrollWidth > each.clientWidth)
    .map((each) => each.textContent.slice(0, 80) + ' ' + (each.scrollWidth - each.clientWidth))`);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The faults of accessibility that axe finds and calls serious or critical, one line each. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate('window.axe !== undefined'))) await page.evaluate(AXE);
  // Of what is right it describes one element for each rule, not all.
  const run = `axe.run({ resultTypes: ['violations'] })`;
  const { violations } = (await page.evaluate(run)) as { violations: Violation[] };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} (${failureSummary.slice(0, 300)})`,
      ),
    );
}
