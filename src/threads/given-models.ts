import type { GivenModels } from '../domain/admin-schemas.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import { readParquetVectors } from '../exchange/parquet-vectors.ts';
import { checkGiven, type GivenFile, type GivenRows } from '../model/given/check-given.ts';
import { decodeGiven, encodeGiven, givenBytes } from '../model/part/given-model.ts';
import { KEPT_NAMES, type ModelStore, NotLeadingError } from '../store/model-store.ts';
import type { GivenAnswer, GivenChange, GivenJob, TakeGivenJob, TakenGiven } from './messages.ts';
import { withModelsAt, withReads } from './open-stores.ts';

type Put = Extract<GivenChange, { kind: 'put' }>;
type Kept = GivenModels['Models'][number];

const INDEX = `${KEPT_NAMES}index`;
/** Pieces of files that are not whole yet. */
const PIECES = `${KEPT_NAMES}pieces`;
const NOTHING = new Uint8Array(0);
const MODELS_MAX = 16;

/** The index as it is kept. */
interface Index extends GivenModels {
  readonly lastVersion: number;
  /** The file whose pieces come in. */
  readonly open?: { readonly upload: string; readonly of: number; readonly bytes: number };
}

/** See `GivenJob`. */
export async function changeGiven(job: GivenJob): Promise<GivenAnswer> {
  try {
    const { Models, Used } = await withModelsAt(job.place, (store) => change(store, job));
    return { models: { ...(Used !== undefined && { Used }), Models } };
  } catch (error) {
    if (error instanceof FurzeError) return { refusal: error.toPlain() };
    if (error instanceof OperatorError) return refusal('INVALID_BODY', error.message);
    if (!(error instanceof NotLeadingError)) throw error;
    return refusal('BAD_REQUEST', 'Another node leads, and it alone takes models; furze status says which.');
  }
}

function refusal(code: 'INVALID_BODY' | 'BAD_REQUEST', detail: string): GivenAnswer {
  return { refusal: { code, detail, places: [] } };
}

/** See `TakeGivenJob`. @throws Error when it cannot be read */
export function takeGiven({ place }: TakeGivenJob): Promise<TakenGiven | undefined> {
  return withModelsAt(place, async (store) => {
    const { Models, Used } = await readIndex(store);
    const kept = Models.find(({ Name }) => Name === Used);
    if (kept === undefined) return undefined;
    const judging = Models.find(({ Name }) => Name === kept.JudgedBy) ?? kept;
    const read = async (one: Kept) => decodeGiven((await store.getBlob(nameOf(one))) ?? NOTHING);
    const model = await read(kept);
    const judged = judging === kept ? model : await read(judging);
    return { key: `${nameOf(kept)} ${nameOf(judging)}`, model, judged };
  });
}

async function change(store: ModelStore, { change, dataPath }: GivenJob): Promise<Index> {
  const index = await readIndex(store);
  const find = (name: string): Kept => {
    const kept = index.Models.find(({ Name }) => Name === name);
    if (kept !== undefined) return kept;
    throw new FurzeError('MODEL_NOT_FOUND', `There is no model ${JSON.stringify(name)}.`);
  };
  switch (change.kind) {
    case 'look':
      return index;
    case 'use':
      if (change.name !== undefined) find(change.name);
      return write(store, { ...index, Used: change.name });
    case 'remove': {
      const kept = find(change.name);
      const judges = index.Models.find(
        ({ Name, JudgedBy }) => JudgedBy === change.name && Name !== change.name,
      );
      if (judges !== undefined)
        throw refuse(
          `The model ${JSON.stringify(judges.Name)} is judged by ${JSON.stringify(change.name)}; remove that one first.`,
        );
      const Models = index.Models.filter((one) => one !== kept);
      const Used = index.Used === kept.Name ? undefined : index.Used;
      const written = await write(store, { ...index, Models, Used });
      await store.putBlob(nameOf(kept), NOTHING);
      return written;
    }
    case 'put':
      if (change.judgedBy !== undefined) find(change.judgedBy);
      return put(store, index, change, dataPath);
  }
}

async function put(store: ModelStore, index: Index, asked: Put, dataPath: string): Promise<Index> {
  const { name, bytes, piece, bytesMax } = asked;
  const before = index.Models.find(({ Name }) => Name === name);
  if (before === undefined && index.Models.length >= MODELS_MAX)
    throw refuse(`There are ${MODELS_MAX} models; remove one first.`);
  if (piece.number < piece.of) return keepPiece(store, index, asked);
  const file: GivenFile = { items: { ids: [], vectors: [] }, users: { ids: [], vectors: [] } };
  for (let at = 1; at < piece.of; at++) {
    const earlier = index.open?.upload === piece.upload ? await store.getBlob(`${PIECES}/${at}`) : undefined;
    if (earlier === undefined || earlier.length === 0)
      throw refuse(`The piece ${at} of ${piece.of} is not there; begin anew with the first.`);
    await readPiece(earlier, file, bytesMax);
  }
  await readPiece(bytes, file, bytesMax);
  const { model, facts } = withReads(dataPath, (reads) =>
    checkGiven(file, asked, {
      item: (id) => reads.itemRow(id) >= 0,
      user: (id) => reads.userRow(id) >= 0,
    }),
  );
  const kept: Kept = {
    ...{ Name: name, Version: index.lastVersion + 1, Fold: model.fold, Bytes: givenBytes(model) },
    ...facts,
    ...(asked.judgedBy !== undefined && { JudgedBy: asked.judgedBy }),
    PutAt: formatTimestamp(asked.nowMs),
  };
  await store.putBlob(nameOf(kept), encodeGiven(model));
  await dropPieces(store, index);
  const { open: _closed, ...rest } = index;
  const Models = [...index.Models.filter((one) => one !== before), kept];
  const Used = asked.isUsed ? name : index.Used;
  const written = await write(store, { ...rest, Models, Used, lastVersion: kept.Version });
  if (before !== undefined) await store.putBlob(nameOf(before), NOTHING);
  return written;
}

/** Keeps a piece that is not the last. */
async function keepPiece(store: ModelStore, index: Index, { bytes, piece, bytesMax }: Put): Promise<Index> {
  const { number, of, upload } = piece;
  // Whether it can be read is told at once.
  await readPiece(bytes, { items: { ids: [], vectors: [] }, users: { ids: [], vectors: [] } }, bytesMax);
  const open = number === 1 ? { upload, of, bytes: 0 } : index.open;
  if (open?.upload !== upload || open.of !== of)
    throw refuse('Pieces of another file have come in between; begin anew with the first.');
  const kept = open.bytes + bytes.length;
  if (kept > bytesMax) throw tooLarge(bytesMax);
  if (number === 1) await dropPieces(store, index);
  const changed = await write(store, { ...index, open: { ...open, bytes: kept } });
  await store.putBlob(`${PIECES}/${number}`, bytes);
  return changed;
}

/** Adds the rows of a piece to those of a file. @throws FurzeError BODY_TOO_LARGE when they are more than there may be */
async function readPiece(bytes: Uint8Array, { items, users }: GivenFile, bytesMax: number): Promise<void> {
  // Parquet is read from a buffer of its own.
  const { buffer } = new Uint8Array(bytes);
  let left = bytesMax - bytesIn(items) - bytesIn(users);
  const hold = (bytes: number) => {
    if ((left -= bytes) < 0) throw tooLarge(bytesMax);
  };
  for await (const batch of readParquetVectors(buffer as ArrayBuffer, 'The model', hold)) {
    const side = (batch.ofUsers ? users : items) as { ids: string[]; vectors: Float32Array[] };
    for (const id of batch.ids) side.ids.push(id);
    for (const vector of batch.vectors) side.vectors.push(vector);
  }
}

function bytesIn({ vectors }: GivenRows): number {
  return 4 * vectors.reduce((sum, { length }) => sum + length, 0);
}

function tooLarge(bytesMax: number): FurzeError {
  return new FurzeError(
    'BODY_TOO_LARGE',
    `The model takes more than ${Math.floor(bytesMax / 2 ** 20)} MiB of memory; see [worker] memory_max_mb.`,
  );
}

async function dropPieces(store: ModelStore, { open }: Index): Promise<void> {
  for (let piece = 1; piece < (open?.of ?? 0); piece++) await store.putBlob(`${PIECES}/${piece}`, NOTHING);
}

async function readIndex(store: ModelStore): Promise<Index> {
  const bytes = await store.getBlob(INDEX);
  return bytes === undefined || bytes.length === 0
    ? { Models: [], lastVersion: 0 }
    : (JSON.parse(new TextDecoder().decode(bytes)) as Index);
}

async function write(store: ModelStore, index: Index): Promise<Index> {
  await store.putBlob(INDEX, new TextEncoder().encode(JSON.stringify(index)));
  return index;
}

function nameOf({ Name, Version }: Kept): string {
  return `${KEPT_NAMES}model/${Name}@${Version}`;
}

function refuse(detail: string): FurzeError {
  return new FurzeError('BAD_REQUEST', detail);
}
