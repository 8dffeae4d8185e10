import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, inject, it, vi } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { typeTest } from '../../src/recommend/history/counts-as-positive.ts';
import { type CountsStorage, LiveCounts } from '../../src/recommend/popularity/live-counts.ts';
import { renewCounts, SavedCounts } from '../../src/recommend/popularity/saved-counts.ts';
import type { DataStore, LocalReads } from '../../src/store/data-store.ts';
import { DirectStore } from '../store/direct-store.ts';
import { close, feedback, NOW_MS, openIn, putFeedback, storeOptions, tempFolder } from '../store/helpers.ts';

const HOUR_MS = 3_600_000;
const SETTINGS = { positiveTypes: ['like'], windowMs: 240 * HOUR_MS, ttlMs: Number.POSITIVE_INFINITY };
const clock = () => NOW_MS;
const types = { positiveFeedbackTypes: ['like'], readFeedbackTypes: ['read'] };
const rules = storeOptions('', types);

function newCounts(reads: LocalReads, settings = SETTINGS, time = clock): SavedCounts {
  return new SavedCounts(
    settings,
    time,
    typeTest(settings.positiveTypes, () => reads.feedbackTypes()),
  );
}

/** What is counted, without the zeros at the end. */
function figuresOf({ popularity, types }: SavedCounts) {
  popularity.drain();
  const list = (values: ArrayLike<number>) =>
    Array.from(values)
      .join(' ')
      .replace(/(^0)?( 0)*$/, '');
  const { userRows, itemRows, seconds } = popularity.recent.save();
  return {
    window: list(popularity.window),
    ever: list(popularity.ever),
    recent: Array.from(userRows, (user, at) => `${user} ${itemRows[at]} ${seconds[at]}`).sort(),
    types: types.save().filter(([, n]) => n > 0),
  };
}

function decayedOf({ popularity }: SavedCounts): number[] {
  return popularity.totals();
}

function scanned(reads: LocalReads): SavedCounts {
  reads.refresh();
  const counts = newCounts(reads);
  counts.countAll(reads);
  return counts;
}

function saved(reads: LocalReads): Uint8Array {
  reads.refresh();
  return renewCounts(undefined, SETTINGS, reads, clock)!;
}

const { below: pick } = createRandom(7);
const record = () =>
  feedback(pick(2) === 0 ? 'like' : 'read', `u${pick(30)}`, `i${pick(40)}`, {
    Timestamp: new Date(NOW_MS - pick(300) * HOUR_MS).toISOString(),
  });

/** Writes of all kinds. */
async function changeFeedback(data: Pick<DataStore, 'write'>, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await data.write(putFeedback(Array.from({ length: 20 }, record), i % 2 === 0));
    const { UserId: userId, ItemId: itemId } = record();
    await data.write({ kind: 'deleteFeedback', feedbackType: undefined, userId, itemId });
    if (i % 5 === 4) await data.write({ kind: 'deleteUser', userId });
    if (i % 7 === 6) await data.write({ kind: 'deleteItem', itemId });
  }
}

const likes = (count: number, user = 'u') =>
  putFeedback(Array.from({ length: count }, (_, i) => feedback('like', user, `i${i}`)));

describe('the saved counts of all feedback', () => {
  it('count each event of what happened several times at its own time, in a scan as in what has come since', async () => {
    const repeated = { ...rules, repeatedTypes: ['like', 'read'] };
    const store = new DirectStore(join(tempFolder(), 'data'), repeated);
    await changeFeedback(store, 20);
    expect(store.local.repeatedCount).toBeGreaterThan(0);
    const before = saved(store.local);
    const many = Array.from({ length: 300 }, (_, hours) =>
      feedback('like', 'u0', 'i0', { Timestamp: new Date(NOW_MS - hours * HOUR_MS).toISOString() }),
    );
    for (let from = 0; from < 300; from += 50) await store.write(putFeedback(many.slice(from, from + 50)));
    await changeFeedback(store, 5);
    store.local.refresh();
    const counts = newCounts(store.local);
    expect(counts.resume(before, store.local)).toBeGreaterThan(400);
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(store.local)));
  });

  it('are what a scan counts, after whatever was written since it was saved', async () => {
    const store = new DirectStore(join(tempFolder(), 'data'), rules);
    await changeFeedback(store, 20);
    const before = saved(store.local);
    await changeFeedback(store, 20);
    store.local.refresh();
    const counts = newCounts(store.local);
    expect(counts.resume(before, store.local)).toBeGreaterThan(400);
    const whole = scanned(store.local);
    expect(figuresOf(counts)).toEqual(figuresOf(whole));
    for (const [at, total] of decayedOf(whole).entries()) expect(decayedOf(counts)[at]).toBeCloseTo(total, 1);
    expect(counts.popularity.asOfMs).toBe(whole.popularity.asOfMs);
    const { seconds } = whole.popularity.recent.save();
    expect(seconds).toEqual(seconds.toSorted());

    const again = newCounts(store.local);
    again.restore(counts.save(store.local.feedbackPosition!));
    expect(figuresOf(again)).toEqual(figuresOf(whole));
    await store.close();
  });

  it('hold what was written while they were counted', async () => {
    const store = new DirectStore(join(tempFolder(), 'data'), rules);
    await store.write(likes(20, 'before'));
    store.local.refresh();
    const meanwhile = new Proxy(store.local, {
      get(reads, name: keyof LocalReads) {
        const value = reads[name];
        if (typeof value !== 'function') return value;
        return (...given: never[]) => {
          if (name === 'refresh') void store.write(likes(5, 'meanwhile'));
          return (value as (...given: never[]) => unknown).apply(reads, given);
        };
      },
    });
    const renewed = renewCounts(undefined, SETTINGS, meanwhile, clock)!;
    const counts = newCounts(store.local);
    expect(counts.resume(renewed, store.local)).toBe(0);
    expect(figuresOf(counts).ever).toMatch(/^2 2 2 2 2 1 1/);
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(store.local)));
    await store.close();
  });

  it('are the same from what was saved where feedback counts for some time only', async () => {
    const store = new DirectStore(join(tempFolder(), 'data'), rules);
    await changeFeedback(store, 10);
    store.local.refresh();
    const settings = { ...SETTINGS, ttlMs: 100 * HOUR_MS };
    const whole = newCounts(store.local, settings);
    whole.countAll(store.local);
    const before = figuresOf(whole);
    expect(before.ever).toBe(before.window);
    expect(before.ever).not.toBe(figuresOf(scanned(store.local)).ever);
    const again = newCounts(store.local, settings);
    again.restore(whole.save(store.local.feedbackPosition!));
    expect(figuresOf(again)).toEqual(before);
    expect(decayedOf(again)).toEqual(decayedOf(whole));
    await store.close();
  });

  it('are brought up to date after a process was killed', async () => {
    const folder = tempFolder();
    const { dataPath, cachePath } = storeOptions(folder);
    const first = openIn(folder, { positiveFeedbackTypes: [], readFeedbackTypes: [] });
    await first.data.write(likes(500, 'before'));
    const before = saved(first.data.local!);
    await close(first);
    const writer = join(inject('compiled'), 'test/store/crash-writer.js');
    const child = spawn(process.execPath, [writer, dataPath, cachePath, 'commit'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let acknowledged = 0;
    for await (const _ of createInterface(child.stdout)) if (++acknowledged === 100) child.kill('SIGKILL');
    if (child.signalCode === null) await once(child, 'exit');
    const { data } = openIn(folder, { positiveFeedbackTypes: [], readFeedbackTypes: [] });
    const reads = data.local!;
    const counts = newCounts(reads);
    expect(counts.resume(before, reads)).toBeGreaterThanOrEqual(300);
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads)));
  });

  it('cannot be brought up to date in a store of another history', async () => {
    const store = new DirectStore(join(tempFolder(), 'data'), rules);
    const other = new DirectStore(join(tempFolder(), 'data'), rules);
    for (const each of [store, other]) await each.write(likes(3));
    const before = saved(store.local);
    expect(newCounts(store.local).resume(before, store.local)).toBe(0);
    expect(newCounts(other.local).resume(before, other.local)).toBeUndefined();
    await store.close();
    await other.close();
  });

  it('are no use when they are damaged, cut short, or of another configuration', async () => {
    const store = new DirectStore(join(tempFolder(), 'data'), rules);
    await store.write(likes(50));
    const bytes = saved(store.local);
    for (const at of [0, 20, bytes.length - 3]) {
      const damaged = Uint8Array.from(bytes);
      damaged[at]! ^= 4;
      expect(() => newCounts(store.local).restore(damaged)).toThrow();
    }
    expect(() => newCounts(store.local).restore(bytes.slice(0, -8))).toThrow();
    const longer = newCounts(store.local, { ...SETTINGS, windowMs: 2 * SETTINGS.windowMs });
    expect(() => longer.restore(bytes)).toThrow(/another configuration/);
    const renewed = renewCounts(bytes.slice(0, -8), SETTINGS, store.local, clock)!;
    expect(newCounts(store.local).resume(renewed, store.local)).toBe(0);
    await store.close();
  });

  it('are not kept over the rest of a deletion that a crash cut off, of which nobody is told', async () => {
    const path = join(tempFolder(), 'data');
    let store = new DirectStore(path, rules);
    await store.write(likes(9000, 'gone'));
    await store.write(likes(10, 'left'));
    const before = saved(store.local);
    await store.write({ kind: 'deleteUser', userId: 'gone' });
    store.slice();
    store.local.refresh();
    expect(store.local.feedbackPosition).toBeUndefined();
    await store.close();
    store = new DirectStore(path, rules);
    expect(renewCounts(before, SETTINGS, store.local, clock)).toBeUndefined();
    while (store.slice());
    store.local.refresh();
    expect(newCounts(store.local).resume(before, store.local)).toBeUndefined();
    const counts = newCounts(store.local);
    counts.restore(renewCounts(before, SETTINGS, store.local, clock)!);
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(store.local)));
    await store.close();
  });
});

describe('the counts of a running service', () => {
  /** A store of so many likes, and counts that know nothing of it yet. */
  const liked = async (count: number, user?: string) => {
    const { data } = openIn(tempFolder(), types);
    await data.write(likes(count, user));
    const reads = data.local!;
    return { data, reads, counts: newCounts(reads) };
  };
  const keeperOf = (read: Uint8Array | undefined, renew: () => Uint8Array | undefined) => ({
    read: async () => read,
    renew: vi.fn(async () => renew()),
  });
  const liveOf = (counts: SavedCounts, reads: LocalReads, keeper: CountsStorage) => {
    const troubles: string[] = [];
    const notes: string[] = [];
    const onTrouble = (message: string) => troubles.push(message);
    const onNote = (message: string) => notes.push(message);
    const limits = { saveRecordsMin: 100, countAtOnce: 100, retryMs: 1 };
    const live = new LiveCounts({ counts, reads, keeper, onTrouble, onNote, ...limits });
    return { live, troubles, notes };
  };

  it('go on from what was saved, count nothing twice, and ask for nothing', async () => {
    const { data, reads, counts } = await liked(600, 'old');
    const before = saved(reads);
    const keeper = keeperOf(before, () => undefined);
    const { live } = liveOf(counts, reads, keeper);
    data.onChange((changes) => live.apply(changes));
    // Told of after it is loaded, and in it already.
    const written = data.write(likes(7, 'new'));
    await vi.waitFor(() => {
      reads.refresh();
      expect(reads.userRow('new')).toBeGreaterThan(0);
    }, 600_000);
    await Promise.all([live.load(607), written]);
    await data.write(likes(9, 'more'));
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads)));
    expect(keeper.renew).not.toHaveBeenCalled();
  });

  it('serve what was saved until everything is counted anew, where it cannot be brought up to date', async () => {
    const other = await liked(2);
    const { reads, counts } = await liked(600);
    let mayCount = false;
    const keeper = keeperOf(saved(other.reads), () => (mayCount ? saved(reads) : undefined));
    const { live } = liveOf(counts, reads, keeper);
    await live.load(600);
    expect(figuresOf(counts).ever).toBe('1 1');
    expect(live.isCounted).toBe(false);
    mayCount = true;
    await live.settled;
    expect(live.isCounted).toBe(true);
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads)));
    live.close();
  });

  it('keep nobody waiting where nothing was saved, and count once what is written while everything is counted', async () => {
    const { data, reads, counts } = await liked(600, 'old');
    let endCount = (_counted: Uint8Array) => {};
    const count = new Promise<Uint8Array>((resolve) => {
      endCount = resolve;
    });
    const keeper = { read: async () => undefined, renew: () => count };
    const { live } = liveOf(counts, reads, keeper);
    data.onChange((changes) => live.apply(changes));
    await live.load(600);
    expect(live.isCounted).toBe(false);
    await data.write(likes(7, 'before'));
    const counted = saved(reads);
    await data.write(likes(9, 'after'));
    const { UserId: userId, ItemId: itemId } = feedback('like', 'old', 'i2');
    await data.write({ kind: 'deleteFeedback', feedbackType: 'like', userId, itemId });
    expect(figuresOf(counts).ever).toBe('2 2 1 2 2 2 2 1 1');
    endCount(counted);
    await live.settled;
    await data.write(likes(3, 'last'));
    expect(figuresOf(counts).ever.slice(0, 13)).toBe('4 4 3 3 3 3 3');
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads)));
    live.close();
  });

  it('go on from a count of everything although more has come than the store knows of, and count once more', async () => {
    const other = await liked(2);
    const { reads, counts } = await liked(600);
    let times = 0;
    const keeper = keeperOf(undefined, () => saved(++times === 1 ? other.reads : reads));
    const { live } = liveOf(counts, reads, keeper);
    await live.load(600);
    await live.settled;
    await vi.waitFor(() => expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads))), 600_000);
    expect(times).toBe(2);
    live.close();
  });

  it('begin anew where what was saved is damaged', async () => {
    const { reads, counts } = await liked(600);
    const damaged = saved(reads).fill(1, 40, 60);
    const { live, troubles } = liveOf(
      counts,
      reads,
      keeperOf(damaged, () => saved(reads)),
    );
    await live.load(600);
    expect(troubles).toHaveLength(1);
    await live.settled;
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads)));
  });

  it('say in one line, and call it no trouble, that what was saved is of an older version or other settings', async () => {
    const { reads } = await liked(600);
    const older = saved(reads);
    new Uint32Array(older.buffer, older.byteOffset, 4)[1] = 2;
    const other = { ...SETTINGS, positiveTypes: ['read'] };
    const otherwise = renewCounts(undefined, other, reads, clock)!;
    for (const [before, note] of [
      [older, /version is 2, .*; all feedback is counted again$/],
      [otherwise, /another configuration; all feedback is counted again$/],
    ] as const) {
      const counts = newCounts(reads);
      const { live, troubles, notes } = liveOf(
        counts,
        reads,
        keeperOf(before, () => saved(reads)),
      );
      await live.load(600);
      await live.settled;
      expect(troubles).toEqual([]);
      expect(notes).toEqual([expect.stringMatching(note)]);
      expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads)));
    }
  });

  it('keep nobody waiting for ever where counting fails, say so, and count once they can', async () => {
    const { data, reads, counts } = await liked(600, 'old');
    let fails = true;
    const keeper = keeperOf(undefined, () => {
      if (fails) throw new Error('no memory');
      return saved(reads);
    });
    const { live, troubles } = liveOf(counts, reads, keeper);
    data.onChange((changes) => live.apply(changes));
    await live.load(600);
    expect([live.isSettled, live.isCounted, live.countError]).toEqual([false, false, undefined]);
    await live.settled;
    expect([live.isSettled, live.isCounted, live.countError]).toEqual([true, false, 'no memory']);
    expect(troubles).toContain('feedback cannot be counted; lists are made by what is known');
    await data.write(likes(2, 'new'));
    expect(figuresOf(counts).ever).toBe('1 1');
    fails = false;
    await vi.waitFor(() => expect(live.isCounted).toBe(true), 600_000);
    expect(live.countError).toBeUndefined();
    expect(figuresOf(counts)).toEqual(figuresOf(scanned(reads)));
  });

  it('are saved once so much has come', async () => {
    const { data } = openIn(tempFolder(), types);
    const reads = data.local!;
    const keeper = keeperOf(undefined, () => undefined);
    const { live } = liveOf(newCounts(reads), reads, keeper);
    await live.load(0);
    data.onChange((changes) => live.apply(changes));
    await data.write(likes(60, 'a'));
    expect(keeper.renew).not.toHaveBeenCalled();
    await data.write(likes(60, 'b'));
    await vi.waitFor(() => expect(keeper.renew).toHaveBeenCalledTimes(1), 600_000);
  });

  it.each([
    ['for ever', Number.POSITIVE_INFINITY],
    ['for some time', 480 * HOUR_MS],
  ])('are right again once a clock that ran ahead is set right, where likes count %s', async (_, ttlMs) => {
    const settings = { ...SETTINGS, ttlMs };
    const { data, reads } = await liked(0);
    const timeOf = (hours: number) => new Date(NOW_MS - hours * HOUR_MS).toISOString();
    const old = Array.from({ length: 300 }, (_, i) =>
      feedback('like', 'old', `i${i}`, { Timestamp: timeOf(i) }),
    );
    await data.write(putFeedback(old));
    let nowMs = NOW_MS;
    const counts = newCounts(reads, settings, () => nowMs);
    const keeper = keeperOf(undefined, () => renewCounts(undefined, settings, reads, () => nowMs));
    const { live, notes } = liveOf(counts, reads, keeper);
    data.onChange((changes) => live.apply(changes));
    await live.load(300);
    await vi.waitFor(() => expect(live.isCounted).toBe(true), 600_000);
    const right = figuresOf(counts);
    expect(right.window).not.toBe('');
    keeper.renew.mockClear();

    nowMs = NOW_MS + 10 * 365 * 24 * HOUR_MS;
    expect(figuresOf(counts).window).toBe('');
    const ahead = counts.save(reads.feedbackPosition!);
    // A step back within what is counted in one go forgets nothing worth a count.
    nowMs -= HOUR_MS;
    counts.popularity.drain();
    expect(keeper.renew).not.toHaveBeenCalled();

    nowMs = NOW_MS;
    counts.popularity.drain();
    counts.popularity.drain();
    await vi.waitFor(() => expect(figuresOf(counts)).toEqual(right), 600_000);
    expect(keeper.renew).toHaveBeenCalledTimes(1);
    expect(notes).toEqual(['the clock went back; all feedback is counted again']);

    // Nor is what was saved while it ran ahead taken for all there is.
    const again = newCounts(reads, settings, () => nowMs);
    expect(again.resume(ahead, reads)).toBeUndefined();
    again.restore(renewCounts(ahead, settings, reads, () => nowMs)!);
    expect(figuresOf(again)).toEqual(right);
  });
});
