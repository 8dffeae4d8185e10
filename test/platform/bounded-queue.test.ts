import { describe, expect, it } from 'vitest';
import { BoundedQueue } from '../../src/platform/concurrency/bounded-queue.ts';

/** Pieces of work that end when they are told to. */
function pieces() {
  const ends: ((value: string) => void)[] = [];
  const work = () =>
    new Promise<string>((resolve) => {
      ends.push(resolve);
    });
  return { ends, work };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a bounded queue', () => {
  it('lets so many in at a time, the others in order, and refuses those beyond', async () => {
    const queue = new BoundedQueue({ atWorkMax: 2, waitingMax: 2, refusedFor: 'lists' });
    const { ends, work } = pieces();
    const answers = [0, 1, 2, 3].map(() => queue.run(work));
    await expect(queue.run(work)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect([ends.length, queue.waiting]).toEqual([2, 2]);
    ends[0]!('first');
    await settled();
    expect([ends.length, queue.waiting]).toEqual([3, 1]);
    // Who comes as a place is handed on does not take it.
    ends[1]!('second');
    answers.push(queue.run(work));
    await settled();
    expect([ends.length, queue.waiting]).toEqual([4, 1]);
    ends[2]!('third');
    await settled();
    for (const at of [3, 4]) ends[at]!('later');
    expect(await Promise.all(answers)).toEqual(['first', 'second', 'third', 'later', 'later']);
  });

  it('goes on after work that fails, and without those who have left', async () => {
    const queue = new BoundedQueue({ atWorkMax: 1, waitingMax: 2, refusedFor: 'lists' });
    const { ends, work } = pieces();
    const failing = queue.run(async () => {
      await work();
      throw new Error('broken');
    });
    const leaving = new AbortController();
    const left = queue.run(work, leaving.signal);
    const stays = queue.run(work);
    leaving.abort();
    await expect(left).rejects.toThrow('abort');
    ends[0]!('');
    await expect(failing).rejects.toThrow('broken');
    await settled();
    ends[1]!('done');
    expect(await stays).toBe('done');
    await expect(queue.run(work, leaving.signal)).rejects.toThrow('abort');
  });
});
