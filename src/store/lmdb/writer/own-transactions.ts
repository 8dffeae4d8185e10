import type { Engine } from '../tables/engine.ts';
import { isGivenUp } from '../tables/given-up-error.ts';

/** Error: another process has written the store. What is kept in memory of it is invalid, and no more writes are allowed. */
class ForeignTransactionError extends Error {
  override readonly name = 'ForeignTransactionError';
  readonly isFinal = true;

  constructor() {
    super(
      'another process has written to the data folder; further writes would mix up records. ' +
        'Stop both processes, run "furze check" on the folder, and start one',
    );
  }
}

/** True for a failure after which no other thread could go on writing, either. */
export function isFinal(error: unknown): boolean {
  return (error as { isFinal?: boolean }).isFinal === true || isGivenUp(error);
}

/** `ENOENT` as the engine tells it. */
const NO_SUCH_FILE = 2;

/** The data file was moved away, removed or replaced: what is written to it would be gone with the process. */
class StoreGoneError extends Error {
  override readonly name = 'StoreGoneError';
  readonly code = NO_SUCH_FILE;

  constructor(path: string) {
    super(`its file is no longer in ${path}, where it was opened; put it back, or stop and start again`);
  }
}

/** Result of an action in a transaction, with a flag for a change. */
export interface Written<T> {
  readonly result: T;
  readonly hasWritten: boolean;
}

/**
 * The write transactions of the one writer, which notices one that is not its own. LMDB numbers those that change
 * anything; so long as nobody else writes, each number follows from the last. The folder's lock keeps others away; this
 * is for when it does not (a network file system, a copy put in place by hand).
 */
export class OwnTransactions {
  private readonly engine: Engine;
  /** Number of the next transaction that changes anything. */
  nextId: number;

  constructor(engine: Engine) {
    this.engine = engine;
    this.nextId = engine.transact(() => engine.transactionId);
  }

  /**
   * Runs `action` like `Engine.transact`.
   * @throws ForeignTransactionError before `action` is run
   * @throws StoreGoneError likewise
   */
  transact<T>(action: () => Written<T>): T {
    const { engine } = this;
    if (!engine.isInPlace) throw new StoreGoneError(engine.path);
    const { result, hasWritten } = engine.transact(() => {
      if (engine.transactionId !== this.nextId) throw new ForeignTransactionError();
      return action();
    });
    if (hasWritten) this.nextId++;
    return result;
  }
}
