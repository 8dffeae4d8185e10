import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, inject, vi } from 'vitest';
import { useCompiledThreads } from '../../src/platform/program/thread-entry.ts';
import { cleanUp } from '../clean-up.ts';

useCompiledThreads(new URL('../../', import.meta.url), pathToFileURL(`${inject('compiled')}/`));

afterEach(cleanUp);

// Some files share a process: what one put in place of something else ends with it.
afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
