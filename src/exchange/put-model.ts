import { randomUUID } from 'node:crypto';
import type { GivenModels } from '../domain/admin-schemas.ts';
import { parquetOfVectors, type VectorBatch } from './parquet-vectors.ts';
import type { ServiceClient } from './service-client.ts';
import { arrayBatches, readNpz, readVectorFile } from './vector-files.ts';

/** Bytes of vectors in a piece, well below the largest body of a service as it comes. */
const PIECE_BYTES = 16 * 2 ** 20;
/** Confidence in what is liked, beside that in what is not, that counts as more. */
const LEAST_CONFIDENCE = 1e-3;

export interface ModelFiles {
  /** Items' factors, or a model of `implicit` as a whole. */
  readonly path: string;
  readonly ids: string | undefined;
  readonly users: string | undefined;
  readonly userIds: string | undefined;
}

/** Query parameters of the route: a file may say how it was trained. */
export type ModelQuery = Readonly<Record<string, string>>;

/**
 * Reads a model as it is sent.
 * @throws OperatorError when a file is none, or has not as many ids as vectors
 */
export function readModel({ path, ids, users, userIds }: ModelFiles): {
  readonly batches: AsyncIterable<VectorBatch> | Iterable<VectorBatch>;
  readonly query: ModelQuery;
} {
  if (!path.endsWith('.npz')) {
    return { batches: both(), query: {} };
  }
  const model = readNpz(path);
  const { regularization, alpha = 1 } = model.numbers;
  // Its confidence is alpha for a pair with feedback and 1 for others; here the first counts 1.
  const more = Math.max(alpha - 1, LEAST_CONFIDENCE);
  const query = {
    'unobserved-weight': String(1 / more),
    ...(regularization !== undefined && { regularization: String(regularization / more) }),
  };
  return { batches: ofNpz(), query };

  async function* both(): AsyncGenerator<VectorBatch> {
    yield* readVectorFile(path, ids);
    if (users !== undefined) yield* readVectorFile(users, userIds, true);
  }

  function* ofNpz(): Generator<VectorBatch> {
    yield* arrayBatches(model.items, path, ids, false);
    if (model.users !== undefined && userIds !== undefined)
      yield* arrayBatches(model.users, path, userIds, true);
  }
}

/**
 * Sends a model to a service, in pieces where it is large.
 * @returns the models that it has then
 * @throws OperatorError in the words of the service where it is not sound
 */
export async function putModel(
  client: ServiceClient,
  name: string,
  batches: AsyncIterable<VectorBatch> | Iterable<VectorBatch>,
  query: ModelQuery,
): Promise<GivenModels> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let piece: VectorBatch[] = [];
  let bytes = 0;
  const close = () => {
    pieces.push(parquetOfVectors(piece));
    piece = [];
    bytes = 0;
  };
  for await (const batch of batches) {
    piece.push(batch);
    bytes += batch.vectors.reduce((sum, vector) => sum + vector.byteLength, 0);
    if (bytes >= PIECE_BYTES) close();
  }
  if (piece.length > 0 || pieces.length === 0) close();
  const upload = randomUUID();
  let answer: Response | undefined;
  for (const [at, body] of pieces.entries()) {
    const all = { ...query, ...(pieces.length > 1 && { piece: `${at + 1}:${pieces.length}:${upload}` }) };
    const path = `/api/admin/model/${encodeURIComponent(name)}?${new URLSearchParams(all)}`;
    answer = await client.ask('PUT', path, { body });
  }
  return (await answer!.json()) as GivenModels;
}
