import { pathToFileURL } from 'node:url';
import { afterAll, inject, vi } from 'vitest';
import { useCompiledThreads } from '../../src/platform/program/thread-entry.ts';

useCompiledThreads(new URL('../../', import.meta.url), pathToFileURL(`${inject('compiled')}/`));

// Some files share a process: what one put in place of something else ends with it.
afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
