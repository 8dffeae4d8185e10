import type { Readable } from 'node:stream';
import type { TaskList } from '../background/tasks/task-list.ts';
import { FurzeError, isProgramFault, messageOf } from '../domain/furze-error.ts';
import { overloaded } from '../platform/concurrency/overload-error.ts';
import type { DataStore } from '../store/data-store.ts';

/** Copies of the data store that operators ask for, one at a time. */
export class Backups {
  private readonly data: Pick<DataStore, 'backup'>;
  private readonly tasks: TaskList;
  private isUnderWay = false;

  constructor(data: Pick<DataStore, 'backup'>, tasks: TaskList) {
    this.data = data;
    this.tasks = tasks;
  }

  /**
   * A consistent copy of the data store, to be read once; `stream` must be read to its end or destroyed. It stands among the
   * tasks.
   * @throws FurzeError OVERLOADED while another is made or read: each takes the room of a store; STORE_UNAVAILABLE where none can be
   *   made, as on a full disk
   */
  async begin(): Promise<{ readonly bytes: number; readonly stream: Readable }> {
    if (this.isUnderWay) throw overloaded('backup');
    this.isUnderWay = true;
    const task = this.tasks.begin('backup');
    try {
      const copied = await this.data.backup();
      copied.stream.once('close', () => {
        this.isUnderWay = false;
      });
      task.done({ bytes: copied.bytes });
      return copied;
    } catch (error) {
      this.isUnderWay = false;
      task.failed(error);
      if (error instanceof FurzeError || isProgramFault(error)) throw error;
      throw new FurzeError('STORE_UNAVAILABLE', `No copy could be made: ${messageOf(error)}`);
    }
  }
}
