import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../../domain/operator-error.ts';
import { atExit } from '../../../platform/process/exit-cleanup.ts';
import { SUDDEN_ENDS } from '../../../platform/process/supervisor-notes.ts';
import { ownThread } from '../../../platform/program/thread-entry.ts';
import { NO_ROOM } from '../tables/engine.ts';
import { inspectFile } from './file-head.ts';
import type { Report } from './findings.ts';

export type { Report } from './findings.ts';

export type StoreKind = 'data' | 'cache';

/** Message of Node.js before it aborts for want of memory. */
const NO_MEMORY = 'out of memory';

/**
 * Checks a whole store in a process of its own, so that damaged pages, which end the process that reads them, are
 * reported and not suffered. A service may run on the folder meanwhile.
 * @param signal ends the check when it is aborted
 * @returns undefined when there is no store in the folder
 * @throws OperatorError when the check was ended from without, or by a full disk, before it knew; the signal's reason once that is aborted
 */
export async function checkStore(
  kind: StoreKind,
  path: string,
  signal?: AbortSignal,
): Promise<Report | undefined> {
  signal?.throwIfAborted();
  const state = inspectFile(path);
  if (state.kind === 'absent') return undefined;
  if (state.kind === 'damaged') return failed(path, `The file is damaged: ${state.reason}.`);
  const { url, execArgv } = ownThread('store/lmdb/check/check-child');
  const child = spawn(process.execPath, [...execArgv, fileURLToPath(url), kind, path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const end = () => child.kill('SIGKILL');
  const release = atExit(end);
  signal?.addEventListener('abort', end);
  const [code, ended] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  release();
  signal?.removeEventListener('abort', end);
  signal?.throwIfAborted();
  if (code === 0) return JSON.parse(output) as Report;
  if (errors.includes(NO_MEMORY)) throw cutShort(path, 'it ran out of memory');
  if (errors.includes(NO_ROOM)) throw new OperatorError(`${lastLine(errors)}.`);
  // Any other signal comes from without.
  if (ended !== null && !SUDDEN_ENDS.includes(ended)) throw cutShort(path, `${ended} ended it`);
  if (ended !== null)
    return failed(path, `Pages are missing or damaged: reading them ended the process with ${ended}.`);
  return failed(path, `The store cannot be read: ${lastLine(errors)}.`);
}

/** Leaves open whether the store is sound; nothing may be done about it then. */
function cutShort(path: string, why: string): OperatorError {
  return new OperatorError(`The check of ${path} did not come to its end: ${why}.`);
}

function failed(path: string, fault: string): Report {
  return { path, counts: {}, faults: [fault], faultCount: 1 };
}

/** The line of Node's report that names the error; one written for operators without the name of its class. */
function lastLine(text: string): string {
  const named = text.split('\n').find((line) => /^\w*Error\b/.test(line));
  return (named ?? text.trim().split('\n').at(-1) ?? 'no reason given')
    .replace(/^OperatorError: /, '')
    .replace(/\.$/, '');
}
