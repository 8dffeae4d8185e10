import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgress } from '../../src/cli/common/progress.ts';
import { playgroundConfig } from '../../src/cli/playground/playground.ts';
import { parseFilms, parseRatings, readSample } from '../../src/cli/playground/sample.ts';
import { pickTastes } from '../../src/cli/playground/tour-user.ts';

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

describe('the users of the tour', () => {
  it('are of two tastes, the first to whom films are recommended that are known and not popular anyway', async () => {
    const sample = readSample();
    const likes = sample.feedback.filter(({ FeedbackType }) => FeedbackType === 'like');
    const counts = new Map<string, number>();
    for (const { ItemId } of likes) counts.set(ItemId, (counts.get(ItemId) ?? 0) + 1);
    const horrors = sample.items
      .filter(({ Labels }) => Labels.includes('Horror'))
      .sort((a, b) => (counts.get(b.ItemId) ?? 0) - (counts.get(a.ItemId) ?? 0));
    const horror = horrors.map(({ ItemId }) => ItemId);
    // Of no other genre, so that they tell of this taste alone.
    const pure = horrors.slice(20).filter(({ Labels }) => Labels.length === 1);
    const known = pure.slice(0, 5).map(({ ItemId }) => ItemId);
    expect(known.every((itemId) => counts.get(itemId)! >= 3 && counts.get(itemId)! < 60)).toBe(true);
    const likesOf = new Map<string, string[]>();
    for (const { UserId, ItemId } of likes) likesOf.set(UserId, [...(likesOf.get(UserId) ?? []), ItemId]);
    const share = (itemIds: string[]) => itemIds.filter((id) => horror.includes(id)).length / itemIds.length;
    const [, , lover] = [...likesOf]
      .filter(([, { length }]) => length >= 12 && length <= 60)
      .map(([userId, itemIds]): [string, number] => [userId, share(itemIds)])
      .sort((a, b) => b[1] - a[1])
      .map(([userId]) => userId);
    const likenessAsked: string[] = [];
    const recommended = async (userId: string) =>
      userId === lover ? known : pure.slice(-5).map(({ ItemId }) => ItemId);
    const [taste, other] = await pickTastes(sample, {
      recommended,
      ofGenre: recommended,
      likeness: async (itemId) => {
        likenessAsked.push(itemId);
        return likenessAsked.length === 2 ? [0.3, 0.3] : [0.4, 0.1];
      },
    });
    expect([taste!.genre, taste!.userId]).toEqual(['Horror', lover]);
    expect([other!.genre === 'Horror', other!.userId === lover]).toEqual([false, false]);
    const own = likesOf.get(lover!)!;
    expect(own.length).toBeGreaterThanOrEqual(12);
    expect(taste!.likedItemId).toBe(likenessAsked[1]);
    const ownHorror = own.filter((itemId) => horror.includes(itemId));
    expect(likenessAsked.slice(0, ownHorror.length).sort()).toEqual(ownHorror.sort());
    expect(taste!.liked.length).toBeGreaterThan(0);
    for (const film of taste!.liked) expect(film.genres).toContain('Horror');
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
      positive_feedback_types: ['like', 'watch'],
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

  it('draws nothing twice, and tells how long a stage of one step has lasted', () => {
    const listeners = process.listenerCount('SIGINT');
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 60 });
    const progress = createProgress(stream);
    for (let time = 0; time < 5; time++) progress.report('ranking', 0, 1);
    progress.report('a stage with a long name, such as that of a file', 0, 9);
    expect(process.listenerCount('SIGINT')).toBe(listeners);
    progress.stop();
    progress.report('later', 1, 2);
    const text = String(stream.read());
    expect(text.match(/ranking +\d+ s/g)).toHaveLength(1);
    expect(text).not.toMatch(/0\/1|100%|later/);
    // Cut to the terminal, which cuts nothing else.
    expect(text).not.toContain('\u001b[?7l');
    // Neither hidden nor listened for, so that an end by a signal leaves nothing behind.
    expect(text).not.toContain('\u001b[?25l');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those of a terminal
    for (const drawn of text.split(/[\r\n]|\u001b(?:\[[?\d]*[A-Za-z]|\d)/))
      expect(drawn.length).toBeLessThan(61);
  });

  it('tells how long a stage has lasted of which nothing is done, where there is no terminal', () => {
    const stream = Object.assign(new PassThrough(), { isTTY: false });
    let nowMs = 0;
    const progress = createProgress(stream, () => nowMs);
    for (; nowMs < 25_000; nowMs += 1000) progress.report('ranking', 0, 1);
    progress.report('ranking', 1, 1);
    progress.end();
    expect(String(stream.read())).toBe('ranking: 10 s so far\nranking: 20 s so far\nranking: done\n');
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
