import { describe, expect, it, vi } from 'vitest';
import { ImportTasks } from '../../src/admin/import-tasks.ts';
import { TaskList } from '../../src/background/tasks/task-list.ts';
import type { ImportReport } from '../../src/domain/admin-schemas.ts';

const marks = { getState: async () => undefined, putState: async () => {} };
const report = (more: Partial<ImportReport> = {}): ImportReport => ({
  File: 'clicks.csv',
  Kind: 'feedback',
  State: 'running',
  Done: 10,
  Total: 100,
  Written: 2,
  Refused: 1,
  ...more,
});

function started(silenceMs?: number) {
  const tasks = new TaskList(() => 1_700_000_000_000, marks);
  return { tasks, imports: new ImportTasks(tasks, silenceMs) };
}

describe('imports', () => {
  it('stand among the tasks while they run, and with their counts when they are done', () => {
    const { tasks, imports } = started();
    imports.tell('a', report());
    imports.tell('b', report({ File: 'films.csv', Kind: 'items' }));
    imports.tell('a', report({ Done: 50 }));
    expect(tasks.current).toMatchObject([
      { Kind: 'import', Stage: 'feedback of clicks.csv, bytes', Done: 50, Total: 100 },
      { Kind: 'import', Stage: 'items of films.csv, bytes', Done: 10 },
    ]);
    imports.tell('a', report({ State: 'done' }));
    imports.tell('b', report({ State: 'failed', Error: 'the disk is full' }));
    expect(tasks.current).toEqual([]);
    expect(tasks.ended).toMatchObject([
      { Kind: 'import', State: 'failed', Error: 'the disk is full' },
      { State: 'done', Result: { file: 'clicks.csv', 'feedback written': 2, refused: 1 } },
    ]);
    imports.stop();
  });

  it('fail when nothing more is heard of them, and are stopped with the service', () => {
    vi.useFakeTimers();
    try {
      const { tasks, imports } = started(1000);
      imports.tell('a', report());
      vi.advanceTimersByTime(900);
      imports.tell('a', report());
      vi.advanceTimersByTime(900);
      expect(tasks.current).toHaveLength(1);
      vi.advanceTimersByTime(200);
      expect(tasks.ended).toMatchObject([{ State: 'failed', Error: expect.stringMatching(/Nothing more/) }]);
      imports.tell('b', report());
      imports.stop();
      expect(tasks.ended[0]).toMatchObject({ State: 'stopped' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('are bounded: those beyond are not told of', () => {
    const { tasks, imports } = started();
    for (let at = 0; at < 100; at++) imports.tell(String(at), report());
    expect(tasks.current).toHaveLength(32);
    imports.stop();
  });
});
