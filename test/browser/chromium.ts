import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine, undefined when it has none. */
export const CHROMIUM = [process.env.CHROMIUM ?? '', ...PLACES].find(
  (path) => path !== '' && existsSync(path),
);

export function launchChromium(): Promise<Browser> {
  // As root there is no sandbox to be had; the pages are our own.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
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
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Violation[] };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} (${failureSummary.slice(0, 300)})`,
      ),
    );
}
