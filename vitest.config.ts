import { defineConfig } from 'vitest/config';

/** What every project of tests has; the global set-up is the root's, which runs once. */
const common = {
  setupFiles: ['test/compiled/use.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
};

export default defineConfig({
  test: {
    globalSetup: ['test/compiled/compile.ts'],
    maxWorkers: 2,
    projects: [
      { test: { ...common, name: 'furze', include: ['test/**/*.test.ts'] } },
      {
        // The same over node:http, which serves where no native engine loads.
        test: {
          ...common,
          name: 'node-http',
          include: ['test/http/**/*.test.ts'],
          exclude: ['test/http/{edge,engine-choice,list-reply,page-reply,quick-paths,turns}.test.ts'],
          env: { TEST_HTTP_ENGINE: 'node' },
        },
      },
    ],
  },
});
