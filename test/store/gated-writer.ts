/* A writer that cannot start as long as a file is there, as if the system gave no more handles. */
import { existsSync } from 'node:fs';

if (existsSync(process.env.FURZE_TEST_GATE ?? '')) throw new Error('no handles left');
await import('../../src/store/lmdb/writer-thread.ts');
