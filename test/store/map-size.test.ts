import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { close, feedback, openIn, putFeedback, tempFolder } from './helpers.ts';

const MIB = 2 ** 20;
const BATCHES = 40;
const batch = (number: number) =>
  putFeedback(
    Array.from({ length: 500 }, (_, i) =>
      feedback('like', `u${number}`, `i${i}`, { Comment: 'x'.repeat(400) }),
    ),
  );

test('a store that outgrows its map goes on, for the writer, for readers that have it open, and after a restart', async () => {
  const folder = tempFolder();
  const small = openIn(folder, { mapBytes: MIB });
  const reader = openDataReader(join(folder, 'data'));
  for (let i = 0; i < BATCHES; i++) {
    await small.data.write(batch(i));
    expect(await small.data.getUserFeedback(`u${i}`)).toHaveLength(500);
    reader.local!.refresh();
    expect(await reader.getUserFeedback(`u${i >> 1}`)).toHaveLength(500);
  }
  expect((await small.data.getStats()).bytes).toBeGreaterThan(8 * MIB);
  await reader.close();
  await close(small);
  const { data } = openIn(folder, { mapBytes: MIB });
  for (let i = 0; i < BATCHES; i++) expect(await data.getUserFeedback(`u${i}`)).toHaveLength(500);
});
