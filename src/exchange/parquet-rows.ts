import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { COMPRESSORS, checkSizes, inWords, openParquet } from './parquet-vectors.ts';

/** Rows that are held at once. */
const SLICE_ROWS = 20_000;

/**
 * The rows of a Parquet file as lines of JSON, some thousands at a time, with times in UTC.
 * @param tell told the share of the rows that were read, 0 to 1
 * @throws OperatorError when it is no such file
 */
export async function* parquetLines(path: string, tell: (share: number) => void): AsyncGenerator<string> {
  const { file, handle } = await openParquet(path);
  try {
    const metadata = await inWords(path, () => parquetMetadataAsync(file));
    const rowsTotal = Number(metadata.num_rows);
    let begin = 0;
    for (const group of metadata.row_groups) {
      await inWords(path, () => checkSizes(file, group));
      const end = begin + Number(group.num_rows);
      for (; begin < end; begin = Math.min(begin + SLICE_ROWS, end)) {
        const [rowStart, rowEnd] = [begin, Math.min(begin + SLICE_ROWS, end)];
        const asked = { file, metadata, rowStart, rowEnd, compressors: COMPRESSORS };
        const rows = await inWords(path, () => parquetReadObjects(asked));
        tell(rowEnd / rowsTotal);
        yield rows.map((row) => `${JSON.stringify(row, plain)}\n`).join('');
      }
    }
  } finally {
    await handle.close();
  }
}

/** A value in JSON: whole numbers of 64 bits as they are where a number keeps them, else as texts; bytes as text. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}
