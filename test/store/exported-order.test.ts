import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Feedback } from '../../src/domain/entities.ts';
import { seenTypes } from '../../src/domain/positive-feedback-types.ts';
import { eventSource, type Source } from '../../src/exchange/copy-sources.ts';
import { DirectStore } from './direct-store.ts';
import { feedback, putFeedback, storeOptions, tempFolder } from './helpers.ts';

test('feedback that is written in the order of an export is what was exported, reads behind positive feedback included', async () => {
  const rules = storeOptions('', {
    positiveFeedbackTypes: ['like', 'rating>=4'],
    readFeedbackTypes: ['read', 'rating'],
  });
  const given = new DirectStore(join(tempFolder(), 'data'), rules);
  const of = (types: string[], user: string) => types.map((type) => feedback(type, user, 'bread'));
  // Types are numbered as they come, so a read stands before a like.
  for (const type of ['read', 'like', 'rating', 'share'])
    await given.write(putFeedback(of([type, 'read'], `${type}er`)));
  await given.write(putFeedback(of(['like', 'rating', 'share', 'read'], 'all')));
  const all: Feedback[] = (await given.getFeedbackPage(100, '')).rows;
  expect(all.filter(({ FeedbackType }) => FeedbackType === 'read')).toHaveLength(5);
  for (const size of [1, 2, 3, 100]) {
    const paged: Source = async function* () {
      for (let at = 0; at < all.length; at += size)
        yield { rows: all.slice(at, at + size), cursor: at + size < all.length ? String(at) : '' };
    };
    const seen = seenTypes(rules.positiveFeedbackTypes, rules.readFeedbackTypes);
    const rows: Feedback[] = [];
    for await (const page of eventSource(paged, seen)('feedback')) rows.push(...(page.rows as Feedback[]));
    const again = new DirectStore(join(tempFolder(), 'data'), rules);
    await again.write(putFeedback(rows));
    const sorted = (records: readonly Feedback[]) => records.map((each) => JSON.stringify(each)).sort();
    expect(sorted((await again.getFeedbackPage(100, '')).rows)).toEqual(sorted(all));
    await again.close();
  }
  await given.close();
});
