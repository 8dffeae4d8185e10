import { spaceOf, type VectorSpaces } from '../../domain/vector-space.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import type { InstantiateKernels } from '../../kernel/scratch-sizes.ts';
import { countBits, hasBit } from '../../memory/bits.ts';
import { NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { ChangeSet, LocalReads } from '../../store/data-store.ts';
import { bestAsGiven } from './best-as-given.ts';
import { probedShare, searchedBytes } from './probe-lists.ts';
import { scanTable, type TableQuery } from './scan-table.ts';
import { TextSpace } from './text-space.ts';
import { VectorReader } from './vector-reader.ts';
import { type ClusteredTable, type TablePlace, VectorTable } from './vector-table.ts';

/** A search as one asks another thread for it. */
export interface AsideQuery extends Omit<TableQuery, 'scratch' | 'accept'> {
  /** Bits of the rows that may be found. */
  readonly allowed: Uint32Array;
}

/** Searches a table aside, in a worker. */
export type FindInTable = (place: TablePlace, query: AsideQuery, signal?: AbortSignal) => Promise<Ranked>;

export interface ItemVectorsParts {
  readonly spaces: VectorSpaces;
  /** Name of the space that lists go by; undefined for none. */
  readonly listSpace: string | undefined;
  readonly reads: LocalReads;
  readonly instantiate: InstantiateKernels;
  readonly findAside: FindInTable;
  /** Puts a table into lists aside, in a worker. */
  readonly clusterAside: (place: TablePlace, signal: AbortSignal) => Promise<ClusteredTable>;
  /** Threads that make lists, each with a number of its own; see `WorkerPool`. */
  readonly slots: number;
  /** The main thread's among them. */
  readonly servingSlot: number;
  readonly onTrouble: (message: string, error: unknown) => void;
  /** Told of what is as it should be and worth a line. */
  readonly onNote: (message: string) => void;
}

/** Larger tables are searched aside: on this thread it would take more than some milliseconds in all. */
const OWN_BYTES_MAX = 8 * 2 ** 20;
/** Larger tables are not searched for candidates of lists on this thread, which answers meanwhile nobody. */
const OWN_LISTS_BYTES = 4 * 2 ** 20;
/** Searches on this thread at the same time. */
const SEARCHES_MAX = 16;
/** Vectors taken in between two pauses: some tenths of a millisecond. */
const STEP_VECTORS = 32;
const STEP_TEXTS = 8;
/** Smaller tables are searched as they are; and larger ones until this share of their vectors is in no list. */
const LISTS_BYTES_MIN = 4 * 2 ** 20;
const STRAYS_MAX = 1 / 8;

/** A space's table with the kernels over its memory. */
interface Table {
  readonly vectors: VectorTable;
  kernels: Kernels;
  /** Where its vectors are made of texts. */
  readonly texts: TextSpace | undefined;
  /** True once it was told that there is no room for all. */
  isFull: boolean;
  /** Rows that were written or removed since lists were begun that are being made; undefined while none are. */
  changed: Set<number> | undefined;
}

/**
 * The vectors of all items in memory, by space, kept in step with the store. A search goes by bytes and
 * compares up to twice as many as are wanted by the numbers that were given: scores are exact, and the best are found but for
 * an item that bytes alone put behind all of those.
 */
export class ItemVectors {
  private readonly parts: ItemVectorsParts;
  private readonly tables = new Map<string, Table>();
  private readonly queue = new BoundedQueue({ atWorkMax: SEARCHES_MAX, refusedFor: 'neighbors' });
  private loaded: Promise<void> = Promise.resolve();
  /** Resolves once all are read, or cannot be; never rejects. */
  settled: Promise<void> = Promise.resolve();
  isSettled = true;
  private readonly rebuilding = new Set<TextSpace>();
  private readonly closing = new AbortController();

  constructor(parts: ItemVectorsParts) {
    this.parts = parts;
    for (const [name, space] of Object.entries(parts.spaces)) {
      const vectors = new VectorTable(space, parts.slots + 1);
      const kernels = parts.instantiate(vectors.place.memory);
      const texts = space.source === 'text' ? new TextSpace(vectors, parts.reads) : undefined;
      this.tables.set(name, { vectors, kernels, texts, isFull: false, changed: undefined });
    }
  }

  /** Reads all vectors, in turns; searches wait for it. */
  load(): Promise<void> {
    this.loaded = this.tables.size === 0 ? Promise.resolve() : inTurns(this.readAll(), this.closing.signal);
    this.isSettled = this.tables.size === 0;
    this.settled = this.loaded
      .catch((error) => {
        if (!this.closing.signal.aborted) this.parts.onTrouble('Vectors of items could not be read', error);
      })
      .then(() => {
        this.isSettled = true;
        for (const table of this.tables.values()) this.clusterLater(table);
      });
    return this.loaded;
  }

  /** Reads no more. */
  close(): void {
    this.closing.abort();
  }

  /** The vectors that lists go by, as of now, for other threads; undefined for none. */
  get listPlace(): TablePlace | undefined {
    return this.listTable?.vectors.place;
  }

  /** The same for this thread. */
  get reader(): VectorReader | undefined {
    const table = this.listTable;
    return (
      table && new VectorReader(table.vectors.place, table.kernels, this.parts.servingSlot, OWN_LISTS_BYTES)
    );
  }

  private get listTable(): Table | undefined {
    const { listSpace } = this.parts;
    return listSpace === undefined ? undefined : this.tables.get(listSpace);
  }

  get names(): readonly string[] {
    return [...this.tables.keys()];
  }

  /** Vectors of a space in memory. @throws FurzeError SPACE_NOT_FOUND */
  sizeOf(space: string): number {
    return this.tableOf(space).vectors.size;
  }

  /** Lists that the vectors of a space lie in, 0 for none. @throws FurzeError SPACE_NOT_FOUND */
  listsOf(space: string): number {
    return Math.max(0, (this.tableOf(space).vectors.place.starts?.length ?? 0) - 1);
  }

  /** Follows a commit, a fraction of a millisecond a step. */
  *follow({ items, vectorRows, deletedItemRows }: ChangeSet): Generator<undefined> {
    if (this.tables.size === 0) return;
    const { reads, spaces } = this.parts;
    let taken = 0;
    for (const row of new Set(vectorRows)) {
      for (const [name, table] of this.tables) {
        if (table.texts !== undefined) continue;
        const vector = reads.vectorAt(row, name, spaces[name]!.dimensions);
        table.changed?.add(row);
        if (vector === undefined) table.vectors.remove(row);
        else this.put(name, table, row, vector);
      }
      if (++taken % STEP_VECTORS === 0) yield;
    }
    for (const [name, table] of this.tables) {
      if (table.texts === undefined) continue;
      for (const { row } of items) {
        table.changed?.add(row);
        if (!table.texts.renew(row)) this.tellFull(name, table);
        if (++taken % STEP_TEXTS === 0) yield;
      }
      // Lists that are being made would be of the vectors of before.
      if (table.texts.isOutgrown && table.changed === undefined) this.rebuildLater(table.texts);
    }
    for (const row of deletedItemRows)
      for (const { vectors, changed } of this.tables.values()) {
        changed?.add(row);
        vectors.remove(row);
      }
    if (this.isSettled) for (const table of this.tables.values()) this.clusterLater(table);
  }

  /** The vector of an item as it was given. @throws FurzeError SPACE_NOT_FOUND */
  vectorAt(space: string, row: number): Float32Array | undefined {
    const { texts, vectors } = this.tableOf(space);
    if (texts !== undefined) return texts.vectorAt(row);
    return this.parts.reads.vectorAt(row, space, vectors.space.dimensions);
  }

  /**
   * The rows whose vectors are most like one, at most `k`, best first, with their similarities.
   * @param query of the space's dimensions
   * @param allowed bits of the rows that may be found
   * @throws FurzeError SPACE_NOT_FOUND, OVERLOADED when too many searches wait
   */
  async search(
    space: string,
    query: Float32Array,
    k: number,
    allowed: Uint32Array,
    signal?: AbortSignal,
  ): Promise<Ranked> {
    const table = this.tableOf(space);
    await this.loaded;
    if (k === 0 || table.vectors.size === 0) return NOTHING;
    const passing = Math.min(1, countBits(allowed) / table.vectors.size);
    const asked = { query, k: withSpare(k), allowed, passing };
    const byBytes = await this.find(table, asked, signal);
    const wanted = { query, similarity: table.vectors.space.similarity, k };
    const best = bestAsGiven(wanted, byBytes, (row) => this.vectorAt(space, row));
    return inTurns(best, signal);
  }

  private find({ vectors, kernels }: Table, query: AsideQuery, signal?: AbortSignal): Promise<Ranked> {
    const { place } = vectors;
    if (searchedBytes(place, query.passing) > OWN_BYTES_MAX)
      return this.parts.findAside(place, query, signal);
    const accept = (row: number) => hasBit(query.allowed, row);
    const asked = { ...query, accept, scratch: this.parts.servingSlot };
    const scan = () => inTurns(scanTable(place, kernels, asked), signal);
    return this.queue.run(scan, signal);
  }

  private *readAll(): Generator<undefined, void> {
    for (let from = 0; from >= 0; ) {
      let seen = 0;
      from = this.parts.reads.scanVectors(from, (row, name, vector) => {
        const table = this.tables.get(name);
        if (table?.vectors.space.dimensions === vector.length && table.texts === undefined)
          this.put(name, table, row, vector);
        return ++seen < STEP_VECTORS;
      });
      yield;
    }
    for (const { texts } of this.tables.values()) if (texts !== undefined) yield* texts.build();
  }

  /** Puts a table into lists, where that pays and is not being done; it serves as it was meanwhile. */
  private clusterLater(table: Table): void {
    const { vectors, texts } = table;
    const { size, bytes, strayCount, space } = vectors;
    const pays = bytes >= LISTS_BYTES_MIN && strayCount > STRAYS_MAX * size && space.similarity === 'cosine';
    if (!pays || table.changed !== undefined || this.closing.signal.aborted) return;
    if (texts !== undefined && this.rebuilding.has(texts)) return;
    table.changed = new Set();
    this.cluster(table).catch((error) => {
      table.changed = undefined;
      if (!this.closing.signal.aborted)
        this.parts.onTrouble('Vectors of items could not be put into lists, all are searched', error);
    });
  }

  private async cluster(table: Table): Promise<void> {
    const clustered = await this.parts.clusterAside(table.vectors.place, this.closing.signal);
    const kernels = this.parts.instantiate(clustered.memory);
    const rows = [...table.changed!];
    table.changed = undefined;
    table.vectors.adopt(clustered, rows);
    table.kernels = kernels;
    await inTurns(this.putAgain(table, rows), this.closing.signal);
    const { size, place } = table.vectors;
    const looked = Math.ceil(100 * probedShare(place));
    this.parts.onNote(
      `${size} vectors lie in ${place.starts!.length - 1} lists; a search looks at ${looked} % of them`,
    );
  }

  private *putAgain(table: Table, rows: readonly number[]): Generator<undefined, void> {
    const [name] = [...this.tables].find(([, each]) => each === table)!;
    for (const [at, row] of rows.entries()) {
      const vector = this.vectorAt(name, row);
      if (vector !== undefined) this.put(name, table, row, vector);
      if (at % STEP_TEXTS === STEP_TEXTS - 1) yield;
    }
  }

  /** Makes all vectors of texts anew, in turns. */
  private rebuildLater(texts: TextSpace): void {
    if (this.rebuilding.has(texts)) return;
    this.rebuilding.add(texts);
    inTurns(texts.build(), this.closing.signal)
      .catch((error) => {
        if (!this.closing.signal.aborted) this.parts.onTrouble('Texts of items could not be read', error);
      })
      .then(() => this.rebuilding.delete(texts));
  }

  private put(name: string, table: Table, row: number, vector: Float32Array): void {
    if (!table.vectors.put(row, vector)) this.tellFull(name, table);
  }

  private tellFull(name: string, table: Table): void {
    if (table.isFull) return;
    table.isFull = true;
    const message = `The space "${name}" is full with ${table.vectors.size} vectors; others are kept and not found`;
    this.parts.onTrouble(message, undefined);
  }

  private tableOf(space: string): Table {
    spaceOf(this.parts.spaces, space);
    return this.tables.get(space)!;
  }
}

/** Entries taken by bytes for `k` that are wanted. */
export function withSpare(k: number): number {
  return 2 * k + 50;
}
