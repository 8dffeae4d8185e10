import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../domain/operator-error.ts';
import { makeFolder } from '../../platform/files/make-folder.ts';
import { isAlive } from '../../platform/process/is-alive.ts';
import { takePidLock } from './pid-lock.ts';

/** Stands in every folder that one process alone may write. It is never removed: whoever waits for it has it open. */
export const FOLDER_LOCK_FILE = 'furze.lock';

/** The byte that is locked, far behind the text that names the holder: Windows lets nobody read what is locked. */
const LOCKED_BYTE = 2 ** 30;
const RETRY_MS = 50;
/** Second line of the text while the holder is not ready. */
const STARTING = 'starting';
/** Begins the second line once the holder listens. */
const ADDRESS = 'at ';
/** Begins the second line that a holder leaves behind, with the state of the store's file. */
const LEFT = 'left ';
/** The file of the store in the folder, which only a holder of the lock writes. */
const STORE_FILE = 'data.mdb';
/** The first line: see `describeHolder`. */
const HOLDER = /^process (\d+) on (.+), since /;

/** The right to write a folder, held until it is released or the process ends, however it ends. */
export interface FolderLock {
  /** True when the process that had it last died between the two notes: the folder may be why. */
  readonly diedStarting: boolean;
  /** The process that had it last and ended without letting go, as in `process 4711 on host, since ...`; undefined for none. */
  readonly died: string | undefined;
  /** True where the store's file is not as the last holder left it, which is no holder's doing: pages may be of anything. */
  readonly isForeign: boolean;
  /** Notes that this process reads what it needs to serve. */
  noteStarting(): void;
  /** Notes that it has, and where it is asked. @param url without a path */
  noteReady(url: string): void;
  /** Lets go; does nothing the second time. */
  release(): void;
}

/** The folder is another process's. */
export class FolderLockedError extends OperatorError {}

/** Messages to an operator while a folder is being taken. */
export interface LockLog {
  /** The kernel's lock cannot be had, and a weaker one takes its place. */
  weak(reason: string): void;
  /** Another process has the folder, and is waited for. */
  waiting(reason: string): void;
}

/** Times that a folder is made which goes again before it is locked. */
const TRIES_MAX = 3;

const SILENT: LockLog = { weak() {}, waiting() {} };

/**
 * Takes the folder for this process alone, and makes it when there is none. The lock is one of the kernel's, so a
 * killed process never leaves it behind.
 * @throws FolderLockedError when a process has it, naming that one; OperatorError when it cannot be made or written
 */
export function lockFolder(path: string, log = SILENT): FolderLock {
  const file = join(path, FOLDER_LOCK_FILE);
  let lock: FolderLock | undefined;
  for (let tries = 1; ; tries++)
    try {
      makeFolder(path);
      lock = take(file, log);
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process may have removed the folder since it was made.
      if (code !== 'ENOENT' || tries === TRIES_MAX) throw inWords(path, error as NodeJS.ErrnoException);
    }
  if (lock !== undefined) return lock;
  throw new FolderLockedError(
    `The folder ${path} is in use by ${holderOf(file)}. One process at a time may write it; stop that one first.`,
  );
}

/** Advice about a folder that is not to be had. */
function inWords(path: string, error: NodeJS.ErrnoException): Error {
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new OperatorError(
        `The folder ${path} cannot be written by this user (${error.code}). Name another with --data or [database] data_store, or give this user the right to write there.`,
      );
    case 'ENOENT':
      return new OperatorError(
        `The folder ${path} cannot be made: the file system there refuses folders (ENOENT).`,
      );
    case 'EEXIST':
    case 'ENOTDIR':
      return new OperatorError(`${path} cannot be a folder for data: a file of that name is in the way.`);
    default:
      return error;
  }
}

/**
 * Takes folders like `lockFolder`, and waits for those that another process has: one that is about to end.
 * @param waitMs how long at most
 * @param signal ends the waiting when it is aborted, with its reason
 * @throws FolderLockedError when the time is over; none of the folders is held then
 */
export async function lockFolders(
  paths: readonly string[],
  waitMs: number,
  log = SILENT,
  signal?: AbortSignal,
): Promise<FolderLock[]> {
  const endMs = performance.now() + waitMs;
  const held: FolderLock[] = [];
  for (const path of paths) {
    for (let tries = 0; ; tries++) {
      try {
        held.push(lockFolder(path, log));
        break;
      } catch (error) {
        const isOver = signal?.aborted || performance.now() >= endMs;
        if (!(error instanceof FolderLockedError) || isOver) {
          for (const lock of held) lock.release();
          signal?.throwIfAborted();
          throw error;
        }
        if (tries === 0) log.waiting(error.message);
        await sleep(RETRY_MS);
      }
    }
  }
  return held;
}

function take(file: string, log: LockLog): FolderLock | undefined {
  const kernel = loadKernelLock();
  if (typeof kernel === 'string') {
    log.weak(`${file}: no lock of the kernel's (${kernel}); a file with the number of the process stands in`);
    const held = takePidLock(`${file}.pid`);
    return (
      held && {
        ...held,
        diedStarting: false,
        died: undefined,
        isForeign: false,
        noteStarting() {},
        noteReady() {},
      }
    );
  }
  const fd = openSync(file, 'a+');
  let before: string[];
  try {
    if (!kernel.tryLock(fd, LOCKED_BYTE, 1)) {
      closeSync(fd);
      return undefined;
    }
    before = readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  const left = stateOfStore(file);
  const died = HOLDER.test(before[0]!) ? before[0] : undefined;
  note(fd, describeHolder());
  let open = true;
  let isStarting = false;
  return {
    isForeign: died === undefined && left !== undefined && !before.includes(left),
    diedStarting: before.includes(STARTING),
    died,
    noteStarting() {
      isStarting = true;
      if (open) note(fd, `${describeHolder()}${STARTING}\n`);
    },
    noteReady(url) {
      isStarting = false;
      if (open) note(fd, `${describeHolder()}${ADDRESS}${url}\n`);
    },
    release() {
      if (!open) return;
      open = false;
      // A start that fails, as over a damaged file, vouches for nothing beyond what the holder before left.
      const state = isStarting ? before.find((line) => line.startsWith(LEFT)) : stateOfStore(file);
      note(fd, state === undefined ? '' : `\n${state}\n`);
      closeSync(fd);
    },
  };
}

/** Size and time of change of the store's file beside a lock; undefined where there is none. */
function stateOfStore(file: string): string | undefined {
  try {
    const { size, mtimeNs } = statSync(join(dirname(file), STORE_FILE), { bigint: true });
    return size === 0n ? undefined : `${LEFT}${size} ${mtimeNs}`;
  } catch {
    // None, or one that cannot be read either.
    return undefined;
  }
}

function note(fd: number, text: string): void {
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, text);
  } catch {
    // A full disk: the lock holds without a name.
  }
}

/** The text by which others know who holds the lock. */
function describeHolder(): string {
  return `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`;
}

/**
 * Where the service listens that has a folder. What one that was killed has left is not believed, since another program may
 * listen there by now, nor what one of another host has, whose addresses may mean nothing here.
 * @returns a URL without a path; undefined where none says so
 */
export function readAddress(path: string): string | undefined {
  try {
    const [holder = '', ...lines] = readFileSync(join(path, FOLDER_LOCK_FILE), 'utf8').split('\n');
    const [, pid, host] = HOLDER.exec(holder) ?? [];
    if (host !== hostname() || !isAlive(Number(pid))) return undefined;
    return lines.find((line) => line.startsWith(ADDRESS))?.slice(ADDRESS.length);
  } catch {
    return undefined;
  }
}

function holderOf(file: string): string {
  for (const each of [file, `${file}.pid`]) {
    try {
      const text = readFileSync(each, 'utf8').split('\n')[0];
      if (text) return text;
    } catch {
      // The other file, or none, has it.
    }
  }
  return 'another process';
}

type KernelLock = typeof import('fs-native-extensions');

let kernelLock: KernelLock | string | undefined;

/** The addon, or why it cannot be loaded: it is built for common platforms only. */
function loadKernelLock(): KernelLock | string {
  if (kernelLock !== undefined) return kernelLock;
  try {
    kernelLock = createRequire(import.meta.url)('fs-native-extensions') as KernelLock;
  } catch (error) {
    kernelLock = (error as Error).message.split('\n')[0]!;
  }
  return kernelLock;
}
