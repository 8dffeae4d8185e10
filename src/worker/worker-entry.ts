import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { makeLists } from './jobs/lists.ts';
import { findRelated } from './jobs/related.ts';
import { load, phase, place, publish } from './jobs/train.ts';
import type { Job } from './messages.ts';

// On two cores the thread that answers requests must never wait for one that trains.
if (process.platform === 'linux') {
  const threadId = Number(readlinkSync('/proc/thread-self').split('/').pop());
  setPriority(threadId, constants.priority.PRIORITY_LOW);
}

/** What a worker thread does with a job. */
export default function run(job: Job): unknown {
  switch (job.kind) {
    case 'place':
      return place(job);
    case 'phase':
      return phase(job);
    case 'publish':
      return publish(job);
    case 'load':
      return load(job);
    case 'lists':
      return makeLists(job);
    case 'related':
      return findRelated(job);
  }
}
