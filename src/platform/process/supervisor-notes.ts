/** A folder that is read through the memory map, where a damaged page ends the process by a signal. */
export interface OpenedFolder {
  readonly kind: 'data' | 'cache';
  readonly path: string;
}

/** Notes of a process for the one that supervises it, which has no other way to know after a sudden end. */
export type SupervisorNote =
  | { readonly opened: OpenedFolder }
  /** A file or folder that is worth nothing unless the process comes to its end. */
  | { readonly unfinished: string }
  | { readonly settled: string };

/** Signals that end a process which reads damaged pages, or has a fault of its own. */
export const SUDDEN_ENDS: readonly NodeJS.Signals[] = [
  'SIGBUS',
  'SIGSEGV',
  'SIGABRT',
  'SIGILL',
  'SIGTRAP',
  'SIGFPE',
];

/** Nobody supervises a service, a thread, or a process that was started by other means. */
let tell: (note: SupervisorNote) => void = () => {};

const opened: OpenedFolder[] = [];

/** From now on `send` gets the notes of this process. */
export function tellSupervisor(send: (note: SupervisorNote) => void): void {
  tell = send;
}

/** Notes that a store is about to be opened: it is looked at when reading it fails or ends the process by a signal. */
export function noteOpened(kind: OpenedFolder['kind'], path: string): void {
  if (opened.some((folder) => folder.path === path)) return;
  opened.push({ kind, path });
  tell({ opened: { kind, path } });
}

/** The stores that this process has opened, in their order. */
export function openedFolders(): readonly OpenedFolder[] {
  return opened;
}

/**
 * Notes a path that is to go when the process ends by a signal.
 * @returns a function that takes it back
 */
export function noteUnfinished(path: string): () => void {
  tell({ unfinished: path });
  return () => tell({ settled: path });
}
