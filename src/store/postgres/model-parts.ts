import type { PostgresDsn } from '../dsn.ts';
import { type ModelStore, NotLeadingError } from '../model-store.ts';
import { type Connection, Link, persist } from './connection.ts';

/** Bytes of a part that stand in one row. */
const CHUNK_BYTES = 2 ** 20;
/** Rows that are under way at once. */
const CHUNKS_UNDER_WAY = 4;

/** The parts of models in PostgreSQL, in rows of a MiB. Whoever does not lead any more cannot put any. */
export class ModelParts implements ModelStore {
  private readonly link: Link;
  private readonly s: string;
  private readonly epoch: number;
  private readonly isGivenUp: () => boolean;

  /** @param isGivenUp whether nobody waits any more for a database that is away */
  constructor(dsn: PostgresDsn, epoch: number, isGivenUp: () => boolean = () => false) {
    this.isGivenUp = isGivenUp;
    this.link = new Link(dsn, 'furze models');
    this.s = `"${dsn.schema}"`;
    this.epoch = epoch;
  }

  putBlob(name: string, bytes: Uint8Array): Promise<void> {
    return persist(() => this.put(name, bytes), this.isGivenUp);
  }

  private async put(name: string, bytes: Uint8Array): Promise<void> {
    const connection = await this.link.connect();
    await connection.run(
      `DELETE FROM ${this.s}.model_parts WHERE name = $1 AND EXISTS (SELECT 1 FROM ${this.s}.generation WHERE epoch = $2)`,
      [name, this.epoch],
    );
    await inOrder(Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES)), async (chunk) => {
      const from = bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES);
      const stored = await connection.rows(
        `INSERT INTO ${this.s}.model_parts (name, chunk, bytes)
         SELECT $1, $2::integer, $3::bytea FROM ${this.s}.generation WHERE epoch = $4 RETURNING chunk`,
        [name, chunk, Buffer.from(from.buffer, from.byteOffset, from.length), this.epoch],
      );
      if (stored.length === 0) throw new NotLeadingError();
    });
  }

  async getBlob(name: string): Promise<Uint8Array | undefined> {
    const connection = await this.link.connect();
    const [sums] = await connection.rows<[number, number | null]>(
      `SELECT count(*), sum(length(bytes))::bigint FROM ${this.s}.model_parts WHERE name = $1`,
      [name],
    );
    const [chunks, length] = sums!;
    if (chunks === 0 || length === null) return undefined;
    const bytes = new Uint8Array(length);
    await inOrder(chunks, async (chunk) => {
      const part = await this.readChunk(connection, name, chunk);
      bytes.set(part, chunk * CHUNK_BYTES);
    });
    return bytes;
  }

  close(): Promise<void> {
    return this.link.close();
  }

  /** @throws Error when a newer generation has taken its place meanwhile */
  private async readChunk(connection: Connection, name: string, chunk: number): Promise<Buffer> {
    const [row] = await connection.rows<[Buffer]>(
      `SELECT bytes FROM ${this.s}.model_parts WHERE name = $1 AND chunk = $2`,
      [name, chunk],
    );
    if (row === undefined) throw new Error(`the model ${name} was deleted while it was read`);
    return row[0];
  }
}

/** Does `work` for each number below `count`, some at once. */
async function inOrder(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const take = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(count, CHUNKS_UNDER_WAY) }, take));
}
