import { FurzeError } from '../domain/furze-error.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { shortNumbers } from '../domain/vector-space.ts';
import { openText } from './open-text-file.ts';
import { splitLines } from './read-rows.ts';
import { isVectorFile, readVectorFile } from './vector-files.ts';

/** Characters of lines that make a batch: one transaction each. */
const BATCH_CHARACTERS = 4 * 2 ** 20;
const BATCH_LINES = 1000;

/** Stores a JSON array of vectors, all or nothing. @throws FurzeError naming the place of a bad one */
export type WriteVectors = (json: Uint8Array<ArrayBuffer>) => Promise<unknown>;

/**
 * Stores vectors out of an NDJSON file of `{"ItemId": ..., "Vector": [...]}`, packed or not, of a `.npy` file or of Parquet, batch
 * by batch; those of batches before a bad one stay.
 * @param idsPath of a `.npy` file: a file of the ids
 * @returns how many there were
 * @throws OperatorError with the line, or the row, of a bad one
 */
export async function importVectors(path: string, write: WriteVectors, idsPath?: string): Promise<number> {
  let line = 0;
  let stored = 0;
  let batch: { readonly line: number; readonly text: string }[] = [];
  let characters = 0;
  const flush = async () => {
    const json = Buffer.from(`[${batch.map(({ text }) => text).join(',\n')}]`);
    try {
      await write(Uint8Array.from(json));
    } catch (error) {
      throw inWords(error, path, batch);
    }
    stored += batch.length;
    batch = [];
    characters = 0;
  };
  const lines = isVectorFile(path)
    ? linesOf(path, idsPath)
    : splitLines(path, openText(path, 'utf-8').chunks);
  for await (const some of lines) {
    for (const text of some) {
      line++;
      if (text.trim() === '') continue;
      batch.push({ line, text });
      characters += text.length;
      if (batch.length === BATCH_LINES || characters >= BATCH_CHARACTERS) await flush();
    }
  }
  if (batch.length > 0) await flush();
  return stored;
}

/** The records of a file of arrays as lines of JSON, in which a number that is none is null, which is refused. */
async function* linesOf(path: string, idsPath: string | undefined): AsyncGenerator<string[]> {
  for await (const { ids, vectors } of readVectorFile(path, idsPath))
    yield ids.map((ItemId, at) => JSON.stringify({ ItemId, Vector: shortNumbers(vectors[at]!) }));
}

function inWords(error: unknown, path: string, batch: readonly { readonly line: number }[]): unknown {
  if (!(error instanceof FurzeError)) return error;
  const [, at] = /^\/(\d+)/.exec(error.places[0]?.path ?? '') ?? [];
  const [first, last] = [batch[0]!.line, batch.at(-1)!.line];
  const where = at === undefined ? `${path}:${first}-${last}` : `${path}:${batch[Number(at)]!.line}`;
  return new OperatorError(`${where}: ${error.message} Nothing of this line or later ones is stored.`);
}
