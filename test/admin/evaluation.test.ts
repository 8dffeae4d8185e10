import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Evaluation } from '../../src/admin/evaluation.ts';
import type { RunEvaluation } from '../../src/admin/start-evaluation-process.ts';
import { TaskList } from '../../src/background/tasks/task-list.ts';
import { defaultConfig } from '../../src/config/config.ts';
import type { EvaluationReport } from '../../src/domain/evaluation-schemas.ts';

const REPORT: EvaluationReport = {
  source: 'data',
  positiveTypes: ['like'],
  users: 3,
  items: 4,
  feedback: 9,
  tables: [
    {
      protocol: 'temporal',
      users: 2,
      conclusion: 'Served lists beat popularity by 12 %, which is more than the noise.',
      rows: [
        {
          name: 'served lists',
          role: 'served',
          metrics: { 'NDCG@10': { mean: 0.25, halfWidth: 0.01 } },
          againstServed: { mean: 0, halfWidth: 0 },
          variety: { people: 2, items: 4, shared: 1, topTenShare: 1 },
          byLikes: [],
        },
      ],
    },
  ],
};

describe('an evaluation at a click', () => {
  let dataPath: string;
  let kept: Map<string, unknown>;
  const clock = () => 1_700_000_000_000;
  const folder = () => join(dataPath, 'evaluation');

  async function create(run: RunEvaluation) {
    const states = {
      getState: async (name: string) => kept.get(name),
      putState: async (name: string, value: unknown) => {
        kept.set(name, structuredClone(value));
      },
    };
    const tasks = new TaskList(clock, states);
    await tasks.restore();
    const evaluation = new Evaluation({ config: defaultConfig(), dataPath, tasks, states, clock, run });
    await evaluation.restore();
    return { evaluation, tasks };
  }

  beforeEach(() => {
    dataPath = mkdtempSync(join(tmpdir(), 'furze-evaluation-'));
    kept = new Map();
  });
  afterEach(() => rmSync(dataPath, { recursive: true, force: true }));

  it('is joined while it runs, tells how far it is, and keeps its report over a restart', async () => {
    let runs = 0;
    let finish = (_report: EvaluationReport) => {};
    const { evaluation, tasks } = await create(async (_config, path, onStage) => {
      runs++;
      expect(existsSync(path)).toBe(true);
      onStage('popular alone: Training ALS', 3, 8);
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    evaluation.start();
    evaluation.start();
    await expect.poll(() => evaluation.task?.Stage).toBe('popular alone: Training ALS');
    expect(evaluation.task).toMatchObject({ Kind: 'evaluation', Done: 3, Total: 8 });
    expect(runs).toBe(1);
    finish(REPORT);
    await expect.poll(() => evaluation.report?.Report).toEqual(REPORT);
    await expect.poll(() => existsSync(folder())).toBe(false);
    expect(tasks.ended[0]).toMatchObject({
      State: 'done',
      Result: { users: 2, 'NDCG@10': 0.25, conclusion: REPORT.tables[0]!.conclusion },
    });
    await tasks.flush();
    const again = await create(() => Promise.reject(new Error('not asked')));
    expect(again.evaluation.report).toEqual({ EvaluatedAt: '2023-11-14T22:13:20Z', Report: REPORT });
  });

  it('tells why there is no report, keeps the one before, and can be begun again', async () => {
    let reason = '';
    const { evaluation } = await create(async () => {
      if (reason !== '') throw new Error(reason);
      return REPORT;
    });
    evaluation.start();
    await expect.poll(() => evaluation.report).toBeDefined();
    await expect.poll(() => evaluation.task).toBeUndefined();
    reason = 'no feedback is positive';
    await expect
      .poll(() => {
        evaluation.start();
        return evaluation.error;
      })
      .toBe(reason);
    expect(evaluation.report?.Report).toEqual(REPORT);
  });

  it('is cut off by a stop, and leaves nothing on disk', async () => {
    const { evaluation, tasks } = await create(
      (_config, path, _onStage, signal) =>
        new Promise((_resolve, reject) => {
          writeFileSync(join(path, 'begun'), '');
          signal.addEventListener('abort', () => reject(new Error('cut off')));
        }),
    );
    evaluation.start();
    await expect.poll(() => existsSync(join(folder(), 'begun'))).toBe(true);
    await evaluation.stop();
    expect(existsSync(folder())).toBe(false);
    expect(tasks.ended[0]).toMatchObject({ Kind: 'evaluation', State: 'stopped' });
    evaluation.start();
    expect(evaluation.task).toBeUndefined();
  });

  it('ends no service by files that cannot be removed, and keeps none from its start', async () => {
    const run: RunEvaluation = (_config, path, _onStage, signal) =>
      new Promise((resolve) => {
        writeFileSync(join(path, 'begun'), '');
        signal.addEventListener('abort', () => {
          // Below a file nothing can be removed.
          rmSync(dataPath, { recursive: true });
          writeFileSync(dataPath, '');
          resolve(REPORT);
        });
      });
    const { evaluation } = await create(run);
    evaluation.start();
    await expect.poll(() => existsSync(join(folder(), 'begun'))).toBe(true);
    await expect(evaluation.stop()).resolves.toBeUndefined();
    await expect(create(run)).resolves.toBeDefined();
  });

  it('removes at the start what one that was killed has left', async () => {
    mkdirSync(folder());
    writeFileSync(join(folder(), 'data.mdb'), 'left');
    await create(() => Promise.reject(new Error('not asked')));
    expect(existsSync(folder())).toBe(false);
  });
});
