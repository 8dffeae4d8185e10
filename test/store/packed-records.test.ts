import { expect, test } from 'vitest';
import type { Feedback } from '../../src/domain/entities.ts';
import { packRecords, unpackRecords } from '../../src/store/lmdb/format/packed-records.ts';
import { feedback, openIn, putFeedback, tempFolder } from './helpers.ts';

test('many records cross to another thread in pieces, each of which is read when it is its turn', () => {
  const records = Array.from({ length: 1000 }, (_, at) => ({ at }));
  const packed = structuredClone(packRecords(records));
  expect('pieces' in packed && packed.pieces.length).toBe(8);
  expect(Array.from(unpackRecords(packed))).toEqual(records);
  expect(packRecords(records.slice(0, 128))).toEqual(records.slice(0, 128));
});

test('so does feedback that names the lists it came of, on its way back to the thread that serves', async () => {
  const { data } = openIn(tempFolder());
  const rows = Array.from({ length: 300 }, (_, at) =>
    feedback('like', 'u', `i${at}`, { Recommendation: 'home' }),
  );
  const { credited } = await data.write(putFeedback(rows));
  expect([credited!.length, Array.isArray(credited)]).toEqual([300, false]);
  const known = (list: Iterable<Feedback>) =>
    Array.from(list, ({ ItemId, Recommendation }) => [ItemId, Recommendation]);
  expect(known(credited!)).toEqual(known(rows));
  expect((await data.write(putFeedback([feedback('like', 'u', 'none')]))).credited).toBeUndefined();
});
