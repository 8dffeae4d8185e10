import type { Clock } from '../domain/clock.ts';
import type { PlacedModel } from '../model/mf-scorer.ts';
import type { WorkerPool } from './pool.ts';
import type { OnProgress } from './progress.ts';

/** Users whose lists one job makes: some milliseconds of work, and one short transaction. */
const LIST_BLOCK_USERS = 512;

export interface ListPassOptions {
  readonly dataPath: string;
  readonly cachePath: string;
  readonly positiveTypes: readonly string[];
  readonly clockErrorMs: number;
  readonly cacheSize: number;
  readonly clock: Clock;
}

/** Makes every user's list in the pool, block by block; each block is served as soon as it is done. */
export class ListPass {
  private readonly pool: WorkerPool;
  private readonly options: ListPassOptions;

  constructor(pool: WorkerPool, options: ListPassOptions) {
    this.pool = pool;
    this.options = options;
  }

  /**
   * @param listable bits of the items that may stand in a list
   * @returns how many lists were made
   */
  async run(
    placed: PlacedModel,
    generation: number,
    listable: Uint32Array<SharedArrayBuffer>,
    onProgress: OnProgress,
  ): Promise<number> {
    const { dataPath, cachePath, positiveTypes, cacheSize, clock, clockErrorMs } = this.options;
    const { userCount } = placed.header;
    let next = 0;
    let done = 0;
    let lists = 0;
    onProgress('making lists', 0, userCount);
    const work = async (slot: number) => {
      for (;;) {
        const fromUserRow = next;
        if (fromUserRow >= userCount) return;
        const toUserRow = (next = Math.min(userCount, fromUserRow + LIST_BLOCK_USERS));
        lists += await this.pool.run<'lists'>({
          kind: 'lists',
          dataPath,
          cachePath,
          placed,
          slot,
          generation,
          fromUserRow,
          toUserRow,
          positiveTypes,
          cacheSize,
          madeMs: clock(),
          untilMs: clock() + clockErrorMs,
          listable,
        });
        done += toUserRow - fromUserRow;
        onProgress('making lists', done, userCount);
      }
    };
    await Promise.all(Array.from({ length: this.pool.trainingSlots }, (_, slot) => work(slot)));
    return lists;
  }
}
