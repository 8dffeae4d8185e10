import { memoriesOf } from '../../memory/find-shared-buffers.ts';
import type { MemoryChoice } from '../../threads/messages.ts';

/**
 * Shared memory that a stage of a fit has freed and the next one may use again. A memory is given back to the system
 * only once no thread has collected it, which may be long after.
 */
export class FreedMemory {
  private free: WebAssembly.Memory[] = [];

  /** Lets one job alone take of all that is free; what it does not take is free again afterwards. */
  async lend<Answer extends MemoryChoice>(
    job: (free: readonly WebAssembly.Memory[]) => Promise<Answer>,
  ): Promise<Answer> {
    const lent = this.free.splice(0);
    const answer = await job(lent);
    this.free.push(...lent.filter((_, at) => !answer.taken.includes(at)));
    return answer;
  }

  /** Frees what a value refers to. @param kept which of its memories, in the order of `memoriesOf`, stay in use */
  release(value: unknown, kept: readonly number[] = []): void {
    this.free.push(...memoriesOf(value).filter((_, at) => !kept.includes(at)));
  }

  /** Forgets all of it, so that it goes back to the system. */
  clear(): void {
    this.free = [];
  }
}
