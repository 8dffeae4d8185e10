import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const folders = new Set<string>();

/** A folder that is gone when the process ends, also by Ctrl-C or SIGTERM; any other signal leaves it. */
export interface TemporaryFolder {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): void;
}

/** Makes a folder for this process alone, such as `/tmp/furze-evaluate-Xy3z9Q`. @param name what it is for */
export function temporaryFolder(name: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `furze-${name}-`));
  if (folders.size === 0) listen();
  folders.add(path);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      folders.delete(path);
      if (folders.size === 0) listenNoMore();
    },
  };
}

function listen(): void {
  process.on('exit', removeAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function listenNoMore(): void {
  process.off('exit', removeAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Leaves the end of the process to the signal: an orderly one would wait for threads in the middle of their work. */
function onSignal(signal: NodeJS.Signals): void {
  removeAll();
  listenNoMore();
  process.kill(process.pid, signal);
}

function removeAll(): void {
  for (const path of folders) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // Something of it is in use: better the rest than nothing.
    }
  }
}
