import { createRandom } from '../../../src/domain/random.ts';
import { paddedFactors } from '../../../src/kernel/scratch-sizes.ts';
import { arrayOf, viewOf } from '../../../src/memory/layout-builder.ts';
import { type Words, wordsOf } from '../../../test/plain-kernels/words.ts';
import { type BprTask, cellStartsAt } from './memory.ts';
import { bprSteps } from './steps.ts';

/** Places in the control array. */
const NEXT_CHUNK = 0;
const CANCELLED = 1;
/** Items whose factors are copied at a time. */
const COPY_CHUNK_ROWS = 2048;

/**
 * `assign` deals the items into blocks, `sort` sorts each user block's entries into cells and `deal` lays the items'
 * factors block by block; then come the turns of steps; `collect` brings the factors back.
 */
export type BprPhase =
  | { readonly kind: 'assign' | 'sort' | 'deal' | 'collect'; readonly epoch: number }
  | { readonly kind: 'steps'; readonly epoch: number; readonly turn: number };

/** The phases of one epoch; all threads finish a phase before the next begins. */
export function* bprPhases({ blocks }: BprTask, epoch: number): Generator<BprPhase> {
  // A single block is the whole matrix in any epoch.
  const isDealt = blocks > 1 || epoch === 0;
  if (isDealt) yield { kind: 'assign', epoch };
  if (isDealt) yield { kind: 'sort', epoch };
  yield { kind: 'deal', epoch };
  for (let turn = 0; turn < blocks; turn++) yield { kind: 'steps', epoch, turn };
  yield { kind: 'collect', epoch };
}

/** Lets the next phase begin at its first chunk. Called by the one that drives, while no thread runs a phase. */
export function beginBprPhase({ memory, layout }: BprTask): void {
  Atomics.store(viewOf(memory, layout, 'control', 'i32'), NEXT_CHUNK, 0);
}

/** Makes every thread stop after the chunk it is at; may be called from any thread at any time. */
export function cancelBpr({ memory, layout }: BprTask): void {
  Atomics.store(viewOf(memory, layout, 'control', 'i32'), CANCELLED, 1);
}

/** One thread's part in a training. */
export class BprSolver {
  readonly #task: BprTask;
  readonly #words: Words;
  readonly #f: number;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #userBlocks: Uint32Array;
  readonly #itemBlocks: Uint32Array;
  readonly #dealtItems: Uint32Array;
  readonly #cellStarts: Uint32Array;

  constructor(task: BprTask) {
    this.#task = task;
    this.#words = wordsOf(task.memory);
    this.#f = paddedFactors(task.settings.factors);
    this.#control = viewOf(task.memory, task.layout, 'control', 'i32');
    this.#userBlocks = this.#u32('userBlocks');
    this.#itemBlocks = this.#u32('itemBlocks');
    this.#dealtItems = this.#u32('dealtItems');
    this.#cellStarts = this.#u32('cellStarts');
  }

  /** Works on a phase until no chunk is left. @returns false when the training was cancelled */
  runPhase(phase: BprPhase): boolean {
    const { blocks, itemCount } = this.#task;
    const isReplica = phase.kind === 'deal' || phase.kind === 'collect';
    const chunkRows = isReplica ? COPY_CHUNK_ROWS : 1;
    const rows = isReplica ? itemCount : phase.kind === 'assign' ? 1 : blocks;
    for (;;) {
      if (Atomics.load(this.#control, CANCELLED) !== 0) return false;
      const first = Atomics.add(this.#control, NEXT_CHUNK, 1) * chunkRows;
      if (first >= rows) return true;
      if (phase.kind === 'assign') this.#assignItems(phase.epoch);
      else if (phase.kind === 'sort') this.#sortEntries(first);
      else if (phase.kind === 'steps') this.#step(first, (first + phase.turn) % blocks);
      else this.#copyItems(phase.kind, first, Math.min(rows, first + chunkRows));
    }
  }

  /** Deals the items at random into blocks of the same size; within a block they keep their order. */
  #assignItems(epoch: number): void {
    const { memory, layout, itemCount, blocks, settings } = this.#task;
    const random = createRandom(settings.seed + Math.imul(epoch + 1, 0x9e3779b1));
    const blockOf = viewOf(memory, layout, 'blockOfItem', 'u8');
    const placeOf = this.#u32('placeOfItem');
    for (let item = 0; item < itemCount; item++) blockOf[item] = item % blocks;
    for (let item = itemCount - 1; item > 0; item--) {
      const other = random.below(item + 1);
      const block = blockOf[item]!;
      blockOf[item] = blockOf[other]!;
      blockOf[other] = block;
    }
    const sizes = new Uint32Array(blocks);
    for (let item = 0; item < itemCount; item++) placeOf[item] = sizes[blockOf[item]!]!++;
    for (let block = 0; block < blocks; block++) {
      this.#itemBlocks[block + 1] = this.#itemBlocks[block]! + sizes[block]!;
    }
    for (let item = 0; item < itemCount; item++) {
      this.#dealtItems[this.#itemBlocks[blockOf[item]!]! + placeOf[item]!] = item;
    }
  }

  /** Sorts the entries of a user block by item block. Its cells lie one after the other where its entries lie. */
  #sortEntries(userBlock: number): void {
    const { memory, layout, blocks } = this.#task;
    const starts = this.#u32('userStarts');
    const columns = this.#u32('userColumns');
    const blockOf = viewOf(memory, layout, 'blockOfItem', 'u8');
    const placeOf = this.#u32('placeOfItem');
    const cellItems = this.#u32('cellItems');
    const cellUsers = this.#u32('cellUsers');
    const [firstUser, endUser] = [this.#userBlocks[userBlock]!, this.#userBlocks[userBlock + 1]!];
    const next = new Uint32Array(blocks);
    for (let at = starts[firstUser]!; at < starts[endUser]!; at++) next[blockOf[columns[at]!]!]!++;
    let place = starts[firstUser]!;
    for (let block = 0; block < blocks; block++) {
      const size = next[block]!;
      next[block] = place;
      place += size;
    }
    const startsAt = Array.from({ length: blocks }, (_, block) =>
      cellStartsAt(this.#userBlocks, blocks, userBlock, block),
    );
    for (let user = firstUser; user <= endUser; user++) {
      for (let block = 0; block < blocks; block++) {
        this.#cellStarts[startsAt[block]! + user - firstUser] = next[block]!;
      }
      if (user === endUser) break;
      for (let at = starts[user]!; at < starts[user + 1]!; at++) {
        const item = columns[at]!;
        const to = next[blockOf[item]!]!++;
        cellItems[to] = placeOf[item]!;
        cellUsers[to] = user - firstUser;
      }
    }
  }

  /** As many samples as a cell has entries; the other item of a pair comes from the same block. */
  #step(userBlock: number, itemBlock: number): void {
    const { blocks, settings } = this.#task;
    const [firstUser, endUser] = [this.#userBlocks[userBlock]!, this.#userBlocks[userBlock + 1]!];
    const [firstItem, endItem] = [this.#itemBlocks[itemBlock]!, this.#itemBlocks[itemBlock + 1]!];
    const startsAt = cellStartsAt(this.#userBlocks, blocks, userBlock, itemBlock);
    const firstEntry = this.#cellStarts[startsAt]!;
    const endEntry = this.#cellStarts[startsAt + endUser - firstUser]!;
    const rowBytes = this.#f * 4;
    bprSteps(this.#words, {
      starts: this.#offset('cellStarts') + startsAt * 4,
      columns: this.#offset('cellItems'),
      entryUsers: this.#offset('cellUsers'),
      firstEntry,
      endEntry,
      items: endItem - firstItem,
      userFactors: this.#offset('userFactors') + firstUser * rowBytes,
      itemFactors: this.#offset('dealtFactors') + firstItem * rowBytes,
      f: this.#f,
      learningRate: settings.learningRate,
      regularization: settings.regularization,
      samples: endEntry - firstEntry,
      random: this.#offset('random') + userBlock * 16,
    });
  }

  #copyItems(kind: 'deal' | 'collect', first: number, end: number): void {
    const { memory, layout } = this.#task;
    const f = this.#f;
    const items = viewOf(memory, layout, 'itemFactors', 'f32');
    const dealt = viewOf(memory, layout, 'dealtFactors', 'f32');
    for (let place = first; place < end; place++) {
      const item = this.#dealtItems[place]!;
      if (kind === 'deal') dealt.set(items.subarray(item * f, (item + 1) * f), place * f);
      else items.set(dealt.subarray(place * f, (place + 1) * f), item * f);
    }
  }

  #u32(name: string): Uint32Array<SharedArrayBuffer> {
    return viewOf(this.#task.memory, this.#task.layout, name, 'u32');
  }

  #offset(name: string): number {
    return arrayOf(this.#task.layout, name).offset;
  }
}
