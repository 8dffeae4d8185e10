import { endProcess } from '../../src/platform/process/end-process.ts';

/* Run by stop.test.ts as a process of its own: its exit waits for what never comes, as for a thread that holds on. */
process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
endProcess(1);
