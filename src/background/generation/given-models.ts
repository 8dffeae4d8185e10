import type { GivenModels as Kept } from '../../domain/admin-schemas.ts';
import type { Clock } from '../../domain/clock.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Fold } from '../../model/part/given-model.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import type { GivenChange, TakenGiven } from '../../threads/messages.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';
import type { ModelShelf } from './generation-storage.ts';

/** Requests that wait: each holds a body. */
const WAITING_MAX = 4;
/** Part of what a fit may take that a model may have as data; placed it takes some four times as much. */
const MEMORY_SHARE = 1 / 8;
const WHOLE = { number: 1, of: 1, upload: '' };

/** Wishes of whoever puts a model. */
export interface AskedModel {
  readonly piece?: { readonly number: number; readonly of: number; readonly upload: string };
  readonly fold?: Fold;
  readonly regularization?: number;
  readonly unobservedWeight?: number;
  readonly judgedBy?: string;
  readonly isUsed?: boolean;
}

export interface GivenModelsParts {
  readonly pool: WorkerPool;
  readonly shelf: ModelShelf;
  readonly dataPath: string;
  /** The most that a fit may take. */
  readonly memoryBytesMax: number;
  readonly clock: Clock;
  /** Called when another model may be in place, or judged: a fit is due. */
  readonly onChange: () => void;
}

/**
 * Models that other tools have trained, kept beside generations until they are removed. Workers read and write them. Each
 * method gives the models as they are then and throws FurzeError MODEL_NOT_FOUND, or OVERLOADED where too many wait.
 */
export class GivenModels {
  private readonly parts: GivenModelsParts;
  private readonly queue = new BoundedQueue({ atWorkMax: 1, waitingMax: WAITING_MAX, refusedFor: 'models' });

  constructor(parts: GivenModelsParts) {
    this.parts = parts;
  }

  list(): Promise<Kept> {
    return this.change({ kind: 'look' });
  }

  /**
   * Keeps a model, or a piece of it, which is used up.
   * @param bytes of a Parquet file
   * @throws FurzeError INVALID_BODY where it is not sound, BODY_TOO_LARGE
   */
  put(name: string, bytes: Uint8Array<ArrayBuffer>, asked: AskedModel): Promise<Kept> {
    const { piece = WHOLE, fold = 'least-squares', isUsed = true, judgedBy } = asked;
    const { regularization, unobservedWeight } = asked;
    const { memoryBytesMax, clock } = this.parts;
    const [bytesMax, nowMs] = [MEMORY_SHARE * memoryBytesMax, clock()];
    const wishes = { fold, isUsed, judgedBy, regularization, unobservedWeight };
    const change = { kind: 'put', name, bytes, piece, bytesMax, nowMs, ...wishes } as const;
    return this.change(change, [bytes.buffer]);
  }

  remove(name: string): Promise<Kept> {
    return this.change({ kind: 'remove', name });
  }

  /** Puts a model in the place of the one that is there, or takes it out where it is that one. */
  async use(name: string, isUsed: boolean): Promise<Kept> {
    const before = await this.list();
    if (!isUsed && before.Used !== name) return before;
    return this.change({ kind: 'use', name: isUsed ? name : undefined });
  }

  /** The model that is in place, read for a fit; undefined for none. */
  take(): Promise<TakenGiven | undefined> {
    const { pool, shelf } = this.parts;
    return pool.run<'takeGiven'>({ kind: 'takeGiven', place: shelf.place() });
  }

  private change(change: GivenChange, buffers: ArrayBuffer[] = []): Promise<Kept> {
    const { pool, shelf, dataPath, onChange } = this.parts;
    return this.queue.run(async () => {
      const job = { kind: 'given', place: shelf.place(), dataPath, change } as const;
      // A look at what is kept does not wait for a fit that has all threads.
      const answer = await pool.run<'given'>(job, change.kind !== 'put', buffers);
      if ('refusal' in answer) throw FurzeError.fromPlain(answer.refusal);
      const isPart = change.kind === 'put' && change.piece.number < change.piece.of;
      if (change.kind !== 'look' && !isPart) onChange();
      return answer.models;
    });
  }
}
