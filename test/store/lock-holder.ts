import { lockFolder } from '../../src/store/lock/folder-lock.ts';
import { takePidLock } from '../../src/store/lock/pid-lock.ts';

/** Run by folder-lock.test.ts as a process of its own: takes a lock, says so, and stays until it is killed. */
const [kind, path] = process.argv.slice(2) as [string, string];
const held = kind === 'pid' ? takePidLock(path) : lockFolder(path);
process.stdout.write(held === undefined ? 'refused\n' : 'held\n');
setInterval(() => {}, 1000);
