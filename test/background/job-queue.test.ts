import { describe, expect, it } from 'vitest';
import { itemFinder } from '../../src/background/pool/finders.ts';
import { JobQueue } from '../../src/background/pool/job-queue.ts';
import type { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { FurzeError } from '../../src/domain/furze-error.ts';
import { SingleFlight } from '../../src/platform/concurrency/single-flight.ts';

/** A pool whose jobs end when they are told to. */
function pool() {
  const jobs: { job: { cancelled: Int32Array }; answer: (value: unknown) => void }[] = [];
  const run = (job: { cancelled: Int32Array }) =>
    new Promise((answer) => {
      jobs.push({ job, answer });
    });
  return { jobs, run: run as unknown as WorkerPool['run'] };
}

function ask(questions: JobQueue, row: number, signal?: AbortSignal) {
  const common = {
    kind: 'neighbors',
    among: 'store',
    dataPath: '',
    relation: 'items-by-users',
    k: 1,
  } as const;
  const feedback = { positiveTypes: [], positiveTtlMs: 0, untilMs: 0 };
  return questions.ask<'neighbors'>((cancelled) => ({ ...common, ...feedback, row, cancelled }), signal);
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

describe('questions to the workers', () => {
  it('are asked in order, so many at a time', async () => {
    const { jobs, run } = pool();
    const questions = new JobQueue({ run }, 1);
    const answers = [1, 2, 3].map((row) => ask(questions, row));
    await turns();
    expect([jobs.length, questions.length]).toEqual([1, 2]);
    for (const at of [0, 1, 2]) {
      jobs[at]!.answer(`answer ${at}`);
      await turns();
    }
    expect(await Promise.all(answers)).toEqual(['answer 0', 'answer 1', 'answer 2']);
  });

  it('are refused when too many wait', async () => {
    const { jobs, run } = pool();
    const questions = new JobQueue({ run }, 1);
    const answers = Array.from({ length: 65 }, (_, row) => ask(questions, row));
    await expect(ask(questions, 65)).rejects.toMatchObject({ code: 'OVERLOADED' });
    jobs[0]!.answer('first');
    expect(await answers[0]).toBe('first');
    await turns();
    expect(questions.length).toBe(63);
  });

  it('leave the queue, or are told to end, when nobody waits for them', async () => {
    const { jobs, run } = pool();
    const questions = new JobQueue({ run }, 1);
    const callers = [0, 1, 2].map(() => new AbortController());
    const answers = callers.map(({ signal }, row) => ask(questions, row, signal));
    await turns();
    callers[1]!.abort();
    await expect(answers[1]).rejects.toThrow('abort');
    expect(questions.length).toBe(1);
    expect(jobs[0]!.job.cancelled[0]).toBe(0);
    callers[0]!.abort();
    expect(jobs[0]!.job.cancelled[0]).toBe(1);
    jobs[0]!.answer('late');
    await turns();
    expect(jobs).toHaveLength(2);
    jobs[1]!.answer('third');
    expect(await answers[2]).toBe('third');
  });
});

describe('equal questions at the same time', () => {
  it('share one piece of work, which ends when the last of them hangs up', async () => {
    const joint = new SingleFlight<string>();
    const begun: AbortSignal[] = [];
    const ends: ((value: string) => void)[] = [];
    const work = (signal: AbortSignal) => {
      begun.push(signal);
      return new Promise<string>((resolve) => {
        ends.push(resolve);
      });
    };
    const callers = [0, 1].map(() => new AbortController());
    const answers = callers.map(({ signal }) => joint.run('same', signal, work));
    void joint.run('other', undefined, work);
    expect(begun).toHaveLength(2);
    callers[0]!.abort();
    expect(begun[0]!.aborted).toBe(false);
    callers[1]!.abort();
    expect(begun[0]!.aborted).toBe(true);
    // Who asks after that does not get what was given up.
    const next = joint.run('same', undefined, work);
    expect(begun).toHaveLength(3);
    ends[2]!('anew');
    expect(await next).toBe('anew');
    ends[0]!('given up');
    expect(await Promise.all(answers)).toEqual(['given up', 'given up']);
    // What is done is not kept.
    void joint.run('same', undefined, work);
    expect(begun).toHaveLength(4);
  });

  it('are not begun for somebody who has left already, and nobody is left behind in them', async () => {
    const joint = new SingleFlight<string>();
    const begun: AbortSignal[] = [];
    let end = (_: string) => {};
    const work = (signal: AbortSignal) => {
      begun.push(signal);
      return new Promise<string>((resolve) => {
        end = resolve;
      });
    };
    const gone = AbortSignal.abort(new Error('gone'));
    await expect(joint.run('same', gone, work)).rejects.toThrow('gone');
    expect(begun).toEqual([]);
    const caller = new AbortController();
    const answer = joint.run('same', caller.signal, work);
    await expect(joint.run('same', gone, work)).rejects.toThrow('gone');
    // One who has left before does not count as one who waits.
    caller.abort();
    expect(begun[0]!.aborted).toBe(true);
    end('given up');
    expect(await answer).toBe('given up');
  });
});

it('one search for items is at work at a time, and those beyond the ones that may wait are refused', async () => {
  const { jobs, run } = pool();
  const find = itemFinder({ run }, '', async () => {});
  const by = { caller: { name: '' }, signal: new AbortController().signal };
  const found = Promise.allSettled(Array.from({ length: 18 }, () => find('tea', 5, by)));
  await turns();
  for (let at = 0; at < 16; at++) {
    expect(jobs).toHaveLength(at + 1);
    jobs[at]!.answer([]);
    await turns();
  }
  expect((await found).map(({ status }) => status)).toEqual([
    ...Array.from({ length: 16 }, () => 'fulfilled'),
    ...Array.from({ length: 2 }, () => 'rejected'),
  ]);
});

it('a search that a thread fails at is answered as the store has it, which may be gone', async () => {
  const fault = new Error('The store is no longer in data');
  const run = () => Promise.reject(fault);
  const by = { caller: { name: '' }, signal: new AbortController().signal };
  const gone = new FurzeError('STORE_UNAVAILABLE', 'gone');
  await expect(itemFinder({ run }, '', () => Promise.reject(gone))('tea', 5, by)).rejects.toBe(gone);
  await expect(itemFinder({ run }, '', async () => {})('tea', 5, by)).rejects.toBe(fault);
});

it('a search that nobody waits for any more is not begun, and keys take turns', async () => {
  const { jobs, run } = pool();
  const find = itemFinder({ run }, '', async () => {});
  const leaving = new AbortController();
  const ask = (name: string, text: string, { signal }: AbortController) =>
    find(text, 5, { caller: { name }, signal }).catch(() => []);
  const stays = new AbortController();
  void ask('much', 'first', stays);
  void ask('much', 'left', leaving);
  for (let at = 0; at < 40; at++) void ask('much', 'more', stays);
  void ask('little', 'other', stays);
  leaving.abort();
  const texts: string[] = [];
  for (let at = 0; at < 4; at++) {
    await turns();
    texts.push((jobs[at]!.job as unknown as { text: string }).text);
    jobs[at]!.answer([]);
  }
  expect(texts).toEqual(['first', 'more', 'other', 'more']);
});

it('questions about users and about items take turns', async () => {
  const { jobs, run } = pool();
  const questions = new JobQueue({ run }, 1);
  const ask = (kind: string, row: number) =>
    void questions
      .ask<'neighbors'>((cancelled) => ({ row, cancelled }) as never, undefined, { kind, user: row })
      .catch(() => {});
  for (let row = 0; row < 90; row++) ask('users-by-items', row);
  ask('items-by-users', 1000);
  const rows: number[] = [];
  for (let at = 0; at < 3; at++) {
    await turns();
    rows.push((jobs[at]!.job as unknown as { row: number }).row);
    jobs[at]!.answer(undefined);
  }
  expect(rows).toContain(1000);
});
