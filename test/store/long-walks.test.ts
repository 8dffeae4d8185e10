import { expect, test } from 'vitest';
import { feedback, openIn, putFeedback, tempFolder } from './helpers.ts';

const RECORDS = 40_000;
const WALKS = 200;

test('callers who take the first of a long history and then no more hold a part of it each', async () => {
  const { data } = openIn(tempFolder());
  const ofUser = Array.from({ length: RECORDS }, (_, i) => feedback('other', 'u', `i${i}`));
  const ofItem = ofUser.map((_, i) => feedback('other', `v${i}`, 'i'));
  await data.write(putFeedback([...ofUser, ...ofItem]));
  const before = process.memoryUsage().arrayBuffers;
  const walks = Array.from({ length: WALKS }, () => [
    data.walkUserFeedback('u')[Symbol.asyncIterator](),
    data.walkItemFeedback('i')[Symbol.asyncIterator](),
  ]);
  for (const slices of walks.flat()) expect((await slices.next()).value).toHaveLength(100);
  // Rows of users and items, types and times: eighteen bytes of a record of a user, four of one of an item.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((WALKS * RECORDS * (18 + 4)) / 20);
  for (const slices of walks.flat()) await slices.return?.();
});
