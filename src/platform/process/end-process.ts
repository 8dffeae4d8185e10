import { spawn } from 'node:child_process';

/** Time that a process has for its exit, milliseconds. */
const EXIT_MS = 3000;

/**
 * Ends this process, by force where it has not ended three seconds later: an exit waits for threads, and one of native
 * code may wait for ever, as for a lock of LMDB that a failed disk left held. As the first process of a container, which
 * nobody within can end, it is left to whoever runs that.
 */
export function endProcess(code: number): never {
  const kill = `process.ppid === ${process.pid} && process.kill(${process.pid}, 'SIGKILL')`;
  const script = `setTimeout(() => ${kill}, ${EXIT_MS})`;
  try {
    // That it could not be started is said later, when this process has ended, or at once for want of memory.
    spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore', env: {} }).on(
      'error',
      () => {},
    );
  } finally {
    process.exit(code);
  }
}
