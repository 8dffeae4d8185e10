import { OperatorError } from '../../../domain/operator-error.ts';
import type { Compacted } from '../../data-store.ts';
import type { FromWriter } from '../tables/writer-messages.ts';

type OnProgress = (done: number, total: number) => void;

interface Waiting {
  readonly promise: Promise<Compacted>;
  readonly resolve: (result: Compacted) => void;
  readonly reject: (error: Error) => void;
  readonly told: OnProgress[];
}

/** Callers that wait for the writer's compaction; one runs at a time, and others join it. */
export class CompactionRequests {
  private readonly begin: () => void;
  private waiting: Waiting | undefined;

  constructor(begin: () => void) {
    this.begin = begin;
  }

  /** Begins a compaction, or joins the one under way. @throws OperatorError when it does not come to its end */
  join(onProgress?: OnProgress): Promise<Compacted> {
    if (this.waiting === undefined) {
      let resolve: Waiting['resolve'] = () => {};
      let reject: Waiting['reject'] = () => {};
      const promise = new Promise<Compacted>((onResult, onError) => {
        resolve = onResult;
        reject = onError;
      });
      this.waiting = { promise, resolve, reject, told: [] };
      this.begin();
    }
    if (onProgress !== undefined) this.waiting.told.push(onProgress);
    return this.waiting.promise;
  }

  /** Takes what the writer says of it. */
  receive(message: FromWriter): void {
    const { waiting } = this;
    if (waiting === undefined) return;
    if (message.kind === 'compacting') {
      for (const tell of waiting.told) tell(message.done, message.total);
    } else if (message.kind === 'closed') {
      this.fail(new OperatorError('The data store was closed before it was rewritten.'));
    } else if (message.kind === 'compacted') {
      this.waiting = undefined;
      if (message.result !== undefined) waiting.resolve(message.result);
      else waiting.reject(new OperatorError(`The data store was not rewritten: ${message.error}`));
    }
  }

  /** The writer is gone. */
  fail(error: Error): void {
    this.waiting?.reject(error);
    this.waiting = undefined;
  }
}
