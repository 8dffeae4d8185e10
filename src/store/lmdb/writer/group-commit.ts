/** Group commit: writes that wait share a transaction, and its flush. */
import type { FromWriter, Write } from '../tables/writer-messages.ts';

/**
 * Bytes of commands from which on no further one joins a transaction. It bounds how long the first waits for the last,
 * and how long the thread that serves is busy with what a commit changed: some ten thousand records at a time.
 */
const GROUP_BYTES_MAX = 1024 * 1024;

/**
 * Bytes that a command counts for beside its body. A deletion has no body, and takes as long as some records: without
 * this any number of them would share a transaction.
 */
const COMMAND_BYTES = 128;

/** A group that is committed, with everything to be said about it. */
export interface Group extends Omit<Extract<FromWriter, { kind: 'committed' }>, 'kind'> {
  /** Error of the engine when the group, or some of it, could not be committed. */
  readonly failure: unknown;
  /** Of a copy that holds some users: rows of those who are not known any more. */
  readonly forgotten?: readonly number[];
}

/** The commands that go into the next transaction, taken from the head of those that wait. @param bytesMax see `GROUP_BYTES_MAX` */
export function takeGroup(waiting: Write[], bytesMax = GROUP_BYTES_MAX): Write[] {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && bytes < bytesMax) bytes += sizeOf(waiting[count++]!);
  return waiting.splice(0, count);
}

/** Bytes of the commands' bodies. */
export function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, write) => sum + sizeOf(write), 0);
}

function sizeOf({ command }: Write): number {
  const body = 'batch' in command ? command.batch : command;
  return COMMAND_BYTES + ('json' in body ? body.json.length : 0);
}
