/** Ids and vectors out of the files that other tools write. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { OperatorError } from '../domain/operator-error.ts';
import { refuseDevice } from '../platform/files/refuse-device.ts';
import { type NpyArray, npyNumber, npyRows, npyTexts, readNpy } from './npy-file.ts';
import { openParquet, readParquetVectors, type VectorBatch } from './parquet-vectors.ts';

const BATCH_ROWS = 1000;
/** Arrays that are read of a model of implicit; others, such as Python objects, are not even unpacked. */
const ARRAYS = /^(item_factors|user_factors|regularization|alpha|factors)\.npy$/;

/** True for a file, or a folder, that `readVectorFile` reads. */
export function isVectorFile(path: string): boolean {
  return /\.(npy|parquet)$/.test(path) || (existsSync(path) && statSync(path).isDirectory());
}

/**
 * Reads the vectors of a `.npy` file, a Parquet file or a folder of Parquet files.
 * @param idsPath of a `.npy` file: the ids in the order of its rows, one a line, or a `.npy` file of them
 * @throws OperatorError when they are none, or there are not as many ids as vectors
 */
export async function* readVectorFile(
  path: string,
  idsPath?: string,
  ofUsers = false,
): AsyncGenerator<VectorBatch> {
  if (path.endsWith('.npy')) {
    yield* arrayBatches(readNpy(readWhole(path), path), path, idsPath, ofUsers);
    return;
  }
  for (const part of parquetFiles(path)) {
    const { file, handle } = await openParquet(part);
    try {
      for await (const batch of readParquetVectors(file, part)) yield ofUsers ? { ...batch, ofUsers } : batch;
    } finally {
      await handle.close();
    }
  }
}

/** A model as its file has it. */
export interface SavedModel {
  readonly items: NpyArray;
  readonly users: NpyArray | undefined;
  /** Numbers by name, such as `regularization`. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** Reads a model that `implicit` has saved (`.npz`: arrays of NumPy by name in a ZIP file). @throws OperatorError when it is none */
export function readNpz(path: string): SavedModel {
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(readWhole(path), { filter: ({ name }) => ARRAYS.test(name) });
  } catch (error) {
    throw new OperatorError(`${path} cannot be read as ZIP: ${(error as Error).message}.`);
  }
  const arrays = new Map<string, NpyArray>();
  for (const [name, bytes] of Object.entries(files))
    arrays.set(name.slice(0, -4), readNpy(bytes, `${path}/${name}`));
  const items = arrays.get('item_factors');
  if (items === undefined)
    throw new OperatorError(`${path} has no item_factors: it is no model of implicit.`);
  const numbers = [...arrays].flatMap(([name, array]) => {
    const number = npyNumber(array);
    return number === undefined ? [] : [[name, number] as const];
  });
  return { items, users: arrays.get('user_factors'), numbers: Object.fromEntries(numbers) };
}

/** The rows of an array with their ids. @throws OperatorError when there are not as many of both */
export function* arrayBatches(
  array: NpyArray,
  name: string,
  idsPath: string | undefined,
  ofUsers: boolean,
): Generator<VectorBatch> {
  if (idsPath === undefined)
    throw new OperatorError(`${name} has no ids: name a file of them, one a line in the order of its rows.`);
  const ids = readIds(idsPath);
  const rows = array.shape[0] ?? 0;
  if (ids.length !== rows)
    throw new OperatorError(`${name} has ${rows} vectors and ${idsPath} has ${ids.length} ids.`);
  const vectors = npyRows(array, name);
  for (let from = 0; from < rows; from += BATCH_ROWS) {
    const some = ids.slice(from, from + BATCH_ROWS);
    yield { ids: some, vectors: some.map(() => vectors.next().value!), ofUsers };
  }
}

function readWhole(path: string): Uint8Array {
  refuseDevice(path);
  return readFileSync(path);
}

function readIds(path: string): string[] {
  const bytes = readWhole(path);
  if (path.endsWith('.npy')) return npyTexts(readNpy(bytes, path), path);
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function parquetFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.parquet'));
  if (names.length === 0) throw new OperatorError(`there is no Parquet file in ${path}`);
  return names.sort().map((name) => join(path, name));
}
