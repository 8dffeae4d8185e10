import type { PostgresDsn } from '../dsn.ts';
import { eachChunk } from '../model-chunks.ts';
import { type ModelStore, NotLeadingError } from '../model-store.ts';
import { Link } from './connection.ts';

/** Bytes of a part that stand in one row. */
const CHUNK_BYTES = 2 ** 20;

/** The parts of models in PostgreSQL, in rows of a MiB. Whoever does not lead any more cannot put any. */
export class ModelParts implements ModelStore {
  private readonly link: Link;
  private readonly s: string;
  private readonly epoch: number;

  constructor(dsn: PostgresDsn, epoch: number) {
    this.link = new Link(dsn, 'furze models');
    this.s = `"${dsn.schema}"`;
    this.epoch = epoch;
  }

  async putBlob(name: string, bytes: Uint8Array): Promise<void> {
    await this.link.run(
      `DELETE FROM ${this.s}.model_parts WHERE name = $1 AND EXISTS (SELECT 1 FROM ${this.s}.generation WHERE epoch = $2)`,
      [name, this.epoch],
    );
    await eachChunk(bytes, CHUNK_BYTES, async ({ buffer, byteOffset, length }, at) => {
      const stored = await this.link.rows(
        `INSERT INTO ${this.s}.model_parts (name, chunk, bytes)
         SELECT $1, $2::integer, $3::bytea FROM ${this.s}.generation WHERE epoch = $4 RETURNING chunk`,
        [name, at, Buffer.from(buffer, byteOffset, length), this.epoch],
      );
      if (stored.length === 0) throw new NotLeadingError();
    });
  }

  /** @throws Error when a newer generation has taken its place meanwhile */
  async getBlob(name: string): Promise<Uint8Array | undefined> {
    const all = `SELECT sum(length(bytes))::bigint FROM ${this.s}.model_parts WHERE name = $1`;
    const one = `SELECT bytes FROM ${this.s}.model_parts WHERE name = $1 AND chunk = $2`;
    const [[length] = [null]] = await this.link.rows<[number | null]>(all, [name]);
    if (length === null) return undefined;
    const bytes = new Uint8Array(length);
    await eachChunk(bytes, CHUNK_BYTES, async (room, at) => {
      const [row] = await this.link.rows<[Buffer]>(one, [name, at]);
      if (row === undefined) throw new Error(`the model ${name} was deleted while it was read`);
      room.set(row[0]);
    });
    return bytes;
  }

  close(): Promise<void> {
    return this.link.close();
  }
}
