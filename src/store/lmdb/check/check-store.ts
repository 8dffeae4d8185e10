import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownThread } from '../../../domain/process/thread-entry.ts';
import { inspectFile } from '../maintenance/file-head.ts';
import type { Report } from './findings.ts';

export type { Report } from './findings.ts';

export type StoreKind = 'data' | 'cache';

/**
 * Checks a whole store in a process of its own, so that damaged pages, which end the process that reads them, are
 * reported and not suffered. A service may run on the folder meanwhile.
 * @returns undefined when there is no store in the folder
 */
export async function checkStore(kind: StoreKind, path: string): Promise<Report | undefined> {
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
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code === 0) return JSON.parse(output) as Report;
  if (signal !== null) {
    return failed(path, `Pages are missing or damaged: reading them ended the process with ${signal}.`);
  }
  return failed(path, `The store cannot be read: ${lastLine(errors)}.`);
}

function failed(path: string, fault: string): Report {
  return { path, counts: {}, faults: [fault], faultCount: 1 };
}

/** The line of Node's report that names the error. */
function lastLine(text: string): string {
  const named = text.split('\n').find((line) => /^\w*Error\b/.test(line));
  return (named ?? text.trim().split('\n').at(-1) ?? 'no reason given').replace(/\.$/, '');
}
