import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const cleanups = new Set<() => void>();

/**
 * Does something when the process ends, also by Ctrl-C or SIGTERM; after any other signal it is left undone. Where
 * somebody else listens to these signals, the end of the process is theirs.
 * @param cleanup does all it has to do before it returns
 * @returns a function that takes it back
 */
export function atExit(cleanup: () => void): () => void {
  if (cleanups.size === 0) listen();
  cleanups.add(cleanup);
  return () => {
    if (cleanups.delete(cleanup) && cleanups.size === 0) listenNoMore();
  };
}

function listen(): void {
  process.on('exit', cleanUp);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function listenNoMore(): void {
  process.off('exit', cleanUp);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Leaves the end of the process to the signal: an orderly one would wait for threads in the middle of their work. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  cleanUp();
  listenNoMore();
  process.kill(process.pid, signal);
  // The first process of a container does not end by itself.
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
}

function cleanUp(): void {
  for (const cleanup of cleanups) {
    try {
      cleanup();
    } catch {
      // Better the rest than nothing.
    }
  }
}
