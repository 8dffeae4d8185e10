import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAlive } from '../../platform/process/is-alive.ts';

/** A lock whose holder runs where its number means nothing here is left over once it is not touched for so long. */
const STALE_MS = 8000;
const TOUCH_MS = 2000;

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Start of the process, in the kernel's ticks: a number of a process is given again. */
  readonly started: string;
}

/**
 * A lock by a file that names its holder, for platforms without a lock of the kernel's. A holder on this host counts as
 * gone when its process is; one on another host (a container has a name of its own) when it has not touched the file
 * lately. Weaker than the kernel's: a process that stands still for seconds may lose it to another host.
 * @returns undefined when another process holds it
 */
export function takePidLock(file: string): { release(): void } | undefined {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, toText(describe(process.pid)));
  try {
    for (let tries = 0; tries < 2; tries++) {
      try {
        // Fails when there is one: of two processes only one makes it.
        linkSync(own, file);
        return hold(file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      if (!removeStale(file, `${own}.stale`)) return undefined;
    }
    return undefined;
  } finally {
    rmSync(own, { force: true });
  }
}

function hold(file: string): { release(): void } {
  const timer = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(file, now, now);
    } catch {
      // Somebody took it away by hand; the writer still notices a transaction that is not its own.
    }
  }, TOUCH_MS);
  timer.unref();
  let held = true;
  return {
    release() {
      clearInterval(timer);
      if (held) rmSync(file, { force: true });
      held = false;
    },
  };
}

/** @returns true when the lock was left over and is out of the way */
function removeStale(file: string, aside: string): boolean {
  const text = readText(file);
  if (text === undefined) return true;
  if (!isStale(file, text)) return false;
  try {
    renameSync(file, aside);
  } catch {
    return true;
  }
  // Another process may have taken over between the look and the rename: what is its own goes back.
  if (readText(aside) !== text) {
    try {
      linkSync(aside, file);
    } catch {
      // Somebody holds it already.
    }
  }
  rmSync(aside, { force: true });
  return true;
}

function isStale(file: string, text: string): boolean {
  const holder = parse(text);
  if (holder?.host === hostname()) {
    const now = describe(holder.pid);
    return !isAlive(holder.pid) || now.started !== holder.started;
  }
  const touchedMs = touchedAt(file);
  if (touchedMs === undefined) return true;
  if (Math.abs(Date.now() - touchedMs) <= STALE_MS) return false;
  // By the clock of now: a holder is at its next touch, whichever way the clock was set.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * TOUCH_MS);
  return touchedAt(file) === touchedMs;
}

/** Milliseconds since the epoch; undefined where there is no such file. */
function touchedAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

function describe(pid: number): Holder {
  return { pid, host: hostname(), started: startOf(pid) };
}

/** Field 22 of proc(5)'s stat; the name before it may hold blanks and brackets. Empty where there is no such file. */
function startOf(pid: number): string {
  const text = readText(`/proc/${pid}/stat`);
  return text === undefined ? '' : (text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '');
}

function toText({ pid, host, started }: Holder): string {
  return `process ${pid} on ${host}\n${JSON.stringify({ pid, host, started })}\n`;
}

function parse(text: string): Holder | undefined {
  try {
    return JSON.parse(text.split('\n')[1] ?? '') as Holder;
  } catch {
    return undefined;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
