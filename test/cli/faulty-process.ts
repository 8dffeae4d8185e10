import { checkReason, stopSignal } from '../../src/cli/common/run-service.ts';
import { createLogger } from '../../src/platform/log/log.ts';

/** Run by stop.test.ts as a process of its own: has a fault that nothing catches, and then stops as the service does. */
const stopped = stopSignal(createLogger('info'));
setTimeout(() => {
  const fault = new Error('nobody has caught this');
  if (process.argv[2] === 'rejection') void Promise.reject(fault);
  else throw fault;
});
const reason = await stopped;
process.stdout.write('stopped in order\n');
try {
  checkReason(reason);
} catch (error) {
  process.exitCode = 1;
  process.stdout.write(`${(error as Error).message}\n`);
}
