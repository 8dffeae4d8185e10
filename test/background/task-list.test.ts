import { expect, it } from 'vitest';
import { TaskList } from '../../src/background/tasks/task-list.ts';

/** Marks in memory, and a clock that is set by hand. */
function world() {
  const kept = new Map<string, unknown>();
  const clock = { nowMs: 1_700_000_000_000 };
  const marks = {
    getState: async (name: string) => kept.get(name),
    putState: async (name: string, value: unknown) => void kept.set(name, structuredClone(value)),
  };
  const open = async () => {
    const log = new TaskList(() => clock.nowMs, marks);
    await log.restore();
    return log;
  };
  return { clock, open };
}

it('tells how far a task is, at what pace and how long still', async () => {
  const { clock, open } = world();
  const log = await open();
  const task = log.begin('fit');
  task.tell('training', 0, 100);
  clock.nowMs += 2000;
  task.tell('training', 20, 100);
  expect(log.current).toEqual([
    {
      Id: 1,
      Kind: 'fit',
      State: 'running',
      StartedAt: '2023-11-14T22:13:20Z',
      Seconds: 2,
      Stage: 'training',
      Done: 20,
      Total: 100,
      PerSecond: 10,
      SecondsLeft: 8,
    },
  ]);
  task.done({ generation: 1 });
  expect(log.current).toEqual([]);
  expect(log.ended).toMatchObject([{ Id: 1, State: 'done', Seconds: 2, Result: { generation: 1 } }]);
  expect(log.ended[0]).not.toHaveProperty('Stage');
});

it('keeps what has ended over a restart, and calls what ran until then stopped', async () => {
  const { clock, open } = world();
  const first = await open();
  first.begin('fit').failed(new Error('no memory'));
  const cutOff = first.begin('search');
  clock.nowMs += 5000;
  await first.flush();

  const second = await open();
  expect(second.current).toEqual([]);
  expect(second.ended).toMatchObject([
    { Id: 2, Kind: 'search', State: 'stopped' },
    { Id: 1, Kind: 'fit', State: 'failed', Error: 'no memory' },
  ]);
  second.begin('lists').done({ lists: 3 });
  expect(second.ended[0]?.Id).toBe(3);

  cutOff.stopped();
  cutOff.done({});
  expect(first.ended.filter(({ Id }) => Id === 2)).toMatchObject([{ State: 'stopped' }]);
});

it('keeps the last hundred', async () => {
  const log = await world().open();
  for (let at = 0; at < 150; at++) log.begin('fit').done({ at });
  expect(log.ended).toHaveLength(100);
  expect(log.ended[0]?.Result).toEqual({ at: 149 });
});

it('keeps a fit whatever else happens often, over a restart too', async () => {
  const { open } = world();
  const log = await open();
  log.begin('fit').done({ generation: 7 });
  for (let at = 0; at < 150; at++) log.begin('backup').done({ at });
  for (let at = 0; at < 150; at++) log.begin('fit').failed(new Error('no memory'));
  expect(log.ended).toHaveLength(100);
  expect(log.ended.at(-1)).toMatchObject({ Kind: 'fit', Result: { generation: 7 } });
  expect(log.ended.find(({ Kind }) => Kind === 'backup')?.Result).toEqual({ at: 149 });
  expect(log.last('fit')).toMatchObject({ State: 'failed', Id: 301 });

  log.begin('search');
  await log.flush();
  const again = await open();
  expect(again.ended.at(-1)).toMatchObject({ Kind: 'fit', Result: { generation: 7 } });
  expect(again.last('search')).toBeUndefined();
});

it('what ends while the list is being kept is kept at once after it', async () => {
  let puts = 0;
  let last: unknown;
  const log = new TaskList(() => 0, {
    getState: async () => undefined,
    async putState(_, value) {
      puts++;
      last = structuredClone(value);
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  for (let number = 0; number < 500; number++) log.begin('import').done({ number });
  await log.flush();
  expect(puts).toBeLessThan(3);
  expect((last as readonly unknown[])[0]).toMatchObject({ Id: 500, State: 'done' });
});
