import { setTimeout as sleep } from 'node:timers/promises';
import { FeedbackColumns, type FeedbackPosition } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import { FEEDBACK_WORDS, unpackTimeMs, unpackType } from '../lmdb/format/record-layout.ts';
import type { LmdbDataReader } from '../lmdb/reads/lmdb-data-reader.ts';
import { countsByTime, type Occurrences } from '../repeats.ts';
import { Connection } from './connection.ts';
import { beginCopy, walkFeedback } from './copy-all.ts';

/** Records that are handed out at a time. */
const BLOCK_RECORDS = 65_536;
/** Time in which the copy must have what the database had when the reading began. */
const REACH_MS_MAX = 30_000;
const LOOK_MS = 50;

/**
 * Hands out all feedback there is in the database at one moment, for a node that has no copy of it: each event, in no order, with the
 * numbers of types that the node's copy of items has.
 * @param visit takes a block, which is good until the next one
 * @returns the moment, as the node's copy tells it
 * @throws Error when the copy does not come to show as much
 */
export async function readAllFeedback(
  dsn: PostgresDsn,
  reader: LmdbDataReader,
  visit: (block: FeedbackColumns) => void,
): Promise<FeedbackPosition> {
  const connection = await Connection.open(dsn, 'furze counting');
  const s = `"${dsn.schema}"`;
  const { local } = reader;
  try {
    await beginCopy(connection);
    const [head] = await connection.rows<[number]>(`SELECT position FROM ${s}.head`);
    const position = await reached(reader, head![0]);
    const names = await connection.rows<[number, string]>(`SELECT type, name FROM ${s}.types`);
    const own = local.storedTypes();
    const numbers = new Map(names.map(([type, name]) => [type, own.indexOf(name)]));
    const valued = new Set(names.filter(([, name]) => local.goesByValue(name)).map(([type]) => type));
    const block = new FeedbackColumns(BLOCK_RECORDS);
    const push = (userRow: number, itemRow: number, type: number, timeMs: number) => {
      block.push(userRow, itemRow, type, timeMs);
      if (block.length < BLOCK_RECORDS) return;
      visit(block);
      block.clear();
    };
    for await (const users of walkFeedback(connection, s))
      for (const { row, feedback, notes } of users) {
        const noted = new Map(notes.map((note) => [`${note.itemRow}/${note.type}`, note]));
        for (let at = 0; at < feedback.length; at += FEEDBACK_WORDS) {
          const itemRow = feedback[at]!;
          const high = feedback[at + 1]!;
          const type = unpackType(high);
          const note = noted.size > 0 ? noted.get(`${itemRow}/${type}`) : undefined;
          const number = numbers.get(type)!;
          const kind = valued.has(type) ? local.kindNumber(number, note?.value ?? 0) : number;
          push(row, itemRow, kind, unpackTimeMs(feedback[at + 2]!, high));
          // Its record tells the latest event.
          for (const timeMs of note?.occurrences ? earlierTimes(note.occurrences) : [])
            push(row, itemRow, kind, timeMs);
        }
      }
    visit(block);
    await connection.run('COMMIT');
    return position;
  } finally {
    await connection.close();
  }
}

/** Times of all events but the latest one, milliseconds. */
function earlierTimes(occurrences: Occurrences): number[] {
  const counts = countsByTime(occurrences);
  counts.at(-1)![1]--;
  return counts.flatMap(([timeMs, count]) => Array<number>(count).fill(timeMs));
}

/** Waits until a copy shows a commit. @returns how the copy tells that moment */
async function reached(reader: LmdbDataReader, position: number): Promise<FeedbackPosition> {
  const endMs = performance.now() + REACH_MS_MAX;
  for (;;) {
    reader.local.refresh();
    const found = reader.local.positionAt(position);
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error('the copy of items does not follow what is committed');
    await sleep(LOOK_MS);
  }
}
