import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';

it('loads a thread from its source as it is, as benchmarks and proofs do', async () => {
  // What lies below the repository is compiled for the tests.
  const folder = mkdtempSync(join(tmpdir(), 'furze-thread-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const source =
    "import { parentPort } from 'node:worker_threads';\nparentPort!.postMessage('here' as string);\n";
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'entry.ts'), source);
  const { url, execArgv } = threadEntry(pathToFileURL(join(folder, 'caller.ts')).href, './entry');
  const thread = new Worker(url, { execArgv });
  expect(await once(thread, 'message')).toEqual(['here']);
  await thread.terminate();
});
