import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import { json, jsonText, type Reply } from './reply.ts';

/** Rows that are made JSON in one turn. */
const ROWS_A_TURN = 1000;

/** A 200 that carries rows that are in memory, of a long list some a turn. */
export function jsonRows(rows: readonly object[]): Promise<Reply> | Reply {
  return rows.length <= ROWS_A_TURN ? json(rows) : longRows(rows);
}

async function longRows(rows: readonly object[]): Promise<Reply> {
  const texts: string[] = [];
  for (let from = 0; from < rows.length; from += ROWS_A_TURN) {
    await turns.take();
    texts.push(JSON.stringify(rows.slice(from, from + ROWS_A_TURN)).slice(1, -1));
  }
  return jsonText(`[${texts.join(',')}]`);
}

/**
 * A 200 that carries a list as a JSON array. A short list goes out whole; of a long one each slice is asked for when its
 * caller has taken those before it.
 * @param slices the list in order; a slice should make some ten KiB of JSON
 */
export async function jsonList(slices: AsyncIterable<readonly object[]>): Promise<Reply> {
  const source = slices[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done === true) return json([]);
  const second = await source.next();
  if (second.done === true) return json(first.value);
  return { ...jsonText(''), parts: listParts([first.value, second.value], source) };
}

async function* listParts(
  known: readonly (readonly object[])[],
  source: AsyncIterator<readonly object[]>,
): AsyncGenerator<string> {
  let head = '[';
  try {
    for await (const slice of joined(known, source)) {
      // An empty part gives others their turn, as every part does.
      yield slice.length === 0 ? '' : head + JSON.stringify(slice).slice(1, -1);
      if (slice.length > 0) head = ',';
    }
    yield head === '[' ? '[]' : ']';
  } finally {
    await source.return?.();
  }
}

async function* joined<T>(known: readonly T[], source: AsyncIterator<T>): AsyncGenerator<T> {
  yield* known;
  for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
}
