import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { useCompiledThreads } from '../../src/platform/program/thread-entry.ts';

useCompiledThreads(new URL('../../', import.meta.url), pathToFileURL(`${inject('compiled')}/`));
