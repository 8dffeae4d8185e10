import { createHash } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { eachChunk } from '../model-chunks.ts';
import type { ModelStore, ObjectPlace } from '../model-store.ts';
import { DatabaseAwayError } from '../postgres/database-away-error.ts';

/** Bytes of a part that stand in one object, which one request puts, so that nothing is left half there. What is stored goes by it. */
const CHUNK_BYTES = 2 ** 24;
/** Time to take a connection, and longest silence in a request, milliseconds. */
const CONNECT_MS_MAX = 5000;
const SILENT_MS_MAX = 30_000;

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/**
 * The parts of generations in a bucket, in objects of 16 MiB, `PREFIX/TAG/PART/2-of-3`, each with the SHA-256 of its bytes. Whoever
 * leads no more puts objects that nobody reads: what is published is a matter of the database. Each method throws
 * DatabaseAwayError while the service does not do what it is asked.
 */
export class ModelObjects implements ModelStore {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly root: string;

  constructor({ dsn: { bucket, prefix, endpoint, ...rest }, tag }: ObjectPlace) {
    this.bucket = bucket;
    this.root = `${prefix}${tag}/`;
    // The version that is bundled runs on the Node.js that it was tested with.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
    this.client = new S3Client({
      ...rest,
      endpoint,
      // Other services have no hosts for buckets, and not all know checksums behind a body.
      forcePathStyle: endpoint !== undefined,
      requestHandler: { connectionTimeout: CONNECT_MS_MAX, socketTimeout: SILENT_MS_MAX },
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async putBlob(name: string, bytes: Uint8Array): Promise<void> {
    await eachChunk(bytes, CHUNK_BYTES, async (Body, ...place) => {
      const object = { ...this.object(name, ...place), Body, Metadata: { sha256: digest(Body) } };
      await this.asked(this.client.send(new PutObjectCommand(object)));
    });
  }

  /** @throws Error when objects of it are missing or damaged, too */
  async getBlob(name: string): Promise<Uint8Array | undefined> {
    const found = await this.asked(this.list(`${name}/`));
    if (found.length === 0) return undefined;
    const bytes = new Uint8Array(found.reduce((sum, { Size = 0 }) => sum + Size, 0));
    await eachChunk(bytes, CHUNK_BYTES, async (room, at, count) => {
      if (count !== found.length) throw new Error(`the model ${name} is not whole`);
      const object = this.object(name, at, count);
      const { read, sha256 } = await this.asked(this.read(object));
      if (sha256 !== digest(read)) throw new Error(`the object ${object.Key} is damaged`);
      room.set(read);
    });
    return bytes;
  }

  /**
   * Deletes all but the parts that are to be kept.
   * @param kept asked for their names once it is known what there is: what a leader puts that comes meanwhile stays
   */
  async keep(kept: () => Promise<readonly string[]>): Promise<void> {
    const found = await this.asked(this.list(''));
    const names = await kept();
    const isOld = (key: string) => !names.includes(key.slice(this.root.length, key.lastIndexOf('/')));
    const old = found.map(({ Key = '' }) => Key).filter(isOld);
    const remove = (Key: string) => this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key }));
    await this.asked(Promise.all(old.map(remove)));
  }

  close(): void {
    this.client.destroy();
  }

  private object(name: string, at: number, count: number): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: `${this.root}${name}/${at + 1}-of-${count}` };
  }

  /** Where the bytes break off it is asked again as for all else: by itself the client does so only until they begin. */
  private async read(object: { Bucket: string; Key: string }) {
    const command = new GetObjectCommand(object);
    let read!: Uint8Array;
    command.middlewareStack.add(
      (next) => async (asked) => {
        const answer = await next(asked);
        read = await (answer.output as GetObjectCommandOutput).Body!.transformToByteArray();
        return answer;
      },
      { step: 'deserialize', priority: 'high', name: 'readWhole' },
    );
    const { Metadata } = await this.client.send(command);
    return { read, sha256: Metadata?.sha256 };
  }

  /** Our objects whose names begin so. */
  private async list(beginning: string): Promise<{ Key?: string; Size?: number }[]> {
    const asked = { Bucket: this.bucket, Prefix: this.root + beginning };
    const found = [];
    for await (const page of paginateListObjectsV2({ client: this.client }, asked))
      found.push(...(page.Contents ?? []));
    return found;
  }

  /** What the client throws has parts of requests in it; its text has none. */
  private asked<T>(answer: Promise<T>): Promise<T> {
    return answer.catch(({ name, code = name, message }: Error & { readonly code?: string }) => {
      throw new DatabaseAwayError(new Error(`the bucket ${this.bucket}: ${code}: ${message}`));
    });
  }
}
