import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { parseFilms, parseRatings, readSample } from '../../src/cli/playground/sample.ts';
import { playgroundConfig } from '../../src/cli/playground/settings.ts';
import { pickTaste } from '../../src/cli/playground/tour-user.ts';
import { createProgress } from '../../src/cli/progress.ts';

describe('the sample', () => {
  it('has films as items, with genres as labels and categories and the year as time', () => {
    expect(parseFilms(['0004936::The Bank (1915)::Comedy|Short', '1::No genre::'])).toEqual([
      {
        ItemId: '0004936',
        IsHidden: false,
        Categories: ['Comedy', 'Short'],
        Timestamp: '1915-01-01T00:00:00Z',
        Labels: ['Comedy', 'Short'],
        Comment: 'The Bank (1915)',
      },
      { ItemId: '1', IsHidden: false, Categories: [], Timestamp: '', Labels: [], Comment: 'No genre' },
    ]);
  });

  it('has ratings of 7 and above as likes and the rest as read', () => {
    const feedback = parseRatings(['1::2::7::1365029107', '1::3::6::1365029107', '2::2::10::0']);
    expect(feedback.map(({ FeedbackType }) => FeedbackType)).toEqual(['like', 'read', 'like']);
    expect(feedback[0]?.Timestamp).toBe('2013-04-03T22:45:07Z');
  });

  it('names a damaged line', () => {
    expect(() => parseRatings(['1::2::7'])).toThrow('expected 4 fields in "1::2::7"');
  });

  it('is complete: every rating is by a user and of a film there is', () => {
    const { users, items, feedback } = readSample();
    expect([users.length, items.length, feedback.length]).toEqual([16_554, 10_506, 100_000]);
    const userIds = new Set(users.map(({ UserId }) => UserId));
    const itemIds = new Set(items.map(({ ItemId }) => ItemId));
    expect(feedback.every(({ UserId, ItemId }) => userIds.has(UserId) && itemIds.has(ItemId))).toBe(true);
  });
});

describe('the user of the tour', () => {
  it('is one whose recommendations follow a marked taste with films that are not popular anyway', async () => {
    const sample = readSample();
    const horror = sample.items.filter(({ Labels }) => Labels.includes('Horror')).map(({ ItemId }) => ItemId);
    const asked: string[] = [];
    const taste = await pickTaste(sample, {
      popular: async () => horror.slice(0, 5),
      recommended: async (userId) => {
        asked.push(userId);
        return asked.length === 7 ? horror.slice(5, 10) : horror.slice(0, 5);
      },
    });
    const likes = sample.feedback.filter(
      ({ UserId, FeedbackType }) => UserId === taste.userId && FeedbackType === 'like',
    );
    expect(likes.length).toBeGreaterThanOrEqual(12);
    expect(likes.some(({ ItemId }) => ItemId === taste.likedItemId)).toBe(true);
    expect(taste.liked.length).toBeGreaterThan(0);
    for (const film of taste.liked) expect(film.genres).toContain(taste.genre);
    expect(asked.length).toBeGreaterThan(7);
  });
});

describe('the playground’s configuration', () => {
  it('keeps everything in its folder, whatever the path, and yields to the environment', () => {
    const folder = '/tmp/a "b" \\c';
    const config = playgroundConfig({ folder, host: '::1', port: 1 }, { FURZE_SERVER_PORT: '2' });
    expect(config.database.data_store).toBe(`lmdb://${folder}`);
    expect(config.database.cache_store).toBe(`lmdb://${folder}/cache`);
    expect([config.server.host, config.server.port]).toEqual(['::1', 2]);
    expect(config.recommend.data_source).toMatchObject({
      positive_feedback_types: ['like'],
      read_feedback_types: ['read'],
    });
  });
});

describe('progress', () => {
  function shown(isTTY: boolean): string {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 });
    const progress = createProgress(stream);
    progress.report('waiting', 0, 0);
    for (const done of [0, 1, 2]) progress.report('users', done, 2);
    progress.report('films', 0, 1000);
    progress.report('films', 1000, 1000);
    progress.end();
    return String(stream.read());
  }

  it('has no time left in place of one that nobody can tell yet', () => {
    expect(shown(true)).toContain('0/1000, - left');
    expect(shown(true)).not.toMatch(/NULL|INF|LL|NF/);
  });

  it('is one line a stage where there is no terminal', () => {
    expect(shown(false)).toBe('users: 2 done\nfilms: 1,000 done\n');
  });

  it('is one more line every ten seconds of a stage where there is no terminal', () => {
    const stream = Object.assign(new PassThrough(), { isTTY: false, columns: 100 });
    let nowMs = 0;
    const progress = createProgress(stream, () => nowMs);
    for (let done = 0; done <= 4000; done += 100) {
      progress.report('training', done, 4000);
      nowMs += 700;
    }
    progress.end();
    expect(String(stream.read())).toBe(
      'training: 1,500 of 4,000, 37%, 18 s left\ntraining: 3,000 of 4,000, 75%, 7 s left\ntraining: 4,000 done\n',
    );
  });

  it('has what else is said in lines of their own, in place of the bar or above it', () => {
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
    const progress = createProgress(stream);
    progress.say('before');
    progress.report('users', 0, 2);
    progress.say('likes.csv:2: the user id is empty');
    progress.report('users', 1, 2);
    progress.end();
    const text = String(stream.read());
    expect(text).toMatch(/^before\n/);
    expect(text).toContain('\r\u001b[Klikes.csv:2: the user id is empty\n');
    expect(text).toMatch(/is empty\n[^\n]*users .*100%/s);
    const lines = Object.assign(new PassThrough(), { isTTY: false });
    const plain = createProgress(lines);
    plain.report('users', 0, 2);
    plain.say('likes.csv:2: the user id is empty');
    plain.end();
    expect(String(lines.read())).toBe('likes.csv:2: the user id is empty\nusers: 2 done\n');
  });

  it('is a bar a stage on a terminal', () => {
    const text = shown(true);
    expect(text).toMatch(/users .*100% 2\/2/);
    expect(text).toMatch(/films .*100% 1000\/1000/);
  });
});
