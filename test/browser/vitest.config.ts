import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { compiledSources } from '../compiled/sources.ts';
import { V8_FLAGS } from '../v8-flags.ts';

/** The dashboard in Chromium: too heavy to be among the tests that run with every change. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    globalSetup: ['test/compiled/compile.ts'],
    // By itself it would leave one core of two to the browser.
    maxWorkers: 2,
    projects: [
      {
        // Not the root's: what the set-up imports is there before it.
        plugins: [compiledSources()],
        test: {
          name: 'browser',
          include: ['test/browser/*.browser.ts'],
          setupFiles: ['test/compiled/use.ts'],
          testTimeout: 1_800_000,
          hookTimeout: 1_800_000,
          expect: { poll: { timeout: 600_000 } },
          pool: 'forks',
          execArgv: [...V8_FLAGS],
        },
      },
    ],
  },
});
