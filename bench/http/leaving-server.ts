// The service in a process of its own that counts what its threads make for requests.
// Messages in: 'fit', 'count', 'stop'. Out: the port; 'fitted'; how many lists and answers were made so far.
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import type { ListsJob } from '../../src/threads/messages.ts';
import { startChildService } from './child-service.ts';

let made = 0;
const { run } = WorkerPool.prototype;
WorkerPool.prototype.run = function (job, atFullPriority) {
  if (job.kind === 'question') made++;
  if (job.kind === 'lists') made += (job as unknown as ListsJob).userRows.length;
  return run.call(this, job, atFullPriority) as never;
};
// The thread that answers makes no list itself, so that all work is counted.
const service = await startChildService(process.argv[2]!, { remake_share: 0 });
process.on('message', (message) => {
  if (message === 'fit') void service.fit().then(() => process.send!('fitted'));
  else if (message === 'count') process.send!(made);
  else void service.stop().then(() => process.exit());
});
process.send!(service.address.port);
