import { afterEach, expect, it, vi } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import type { Tasks } from '../../src/domain/admin-schemas.ts';
import { createTrial } from '../../src/evaluate/hold-out-protocol.ts';
import type { Past } from '../../src/evaluate/read-feedback.ts';
import { TrialService } from '../../src/evaluate/trial-service.ts';

const USERS = 12;
const ITEMS = 8;

function past(): Past {
  const rows = Array.from({ length: USERS * ITEMS }, (_, at) => at);
  return {
    userIds: Array.from({ length: USERS }, (_, row) => `u${row}`),
    itemIds: Array.from({ length: ITEMS }, (_, row) => `i${row}`),
    users: [],
    items: [],
    userRows: rows.map((at) => at % USERS),
    itemRows: rows.map((at) => Math.floor(at / USERS + (at % USERS)) % ITEMS),
    timesMs: rows.map((at) => 1_700_000_000_000 + at * 60_000),
    types: rows.map(() => 'like'),
    values: rows.map(() => 0),
    isPositive: rows.map(() => true),
  };
}

afterEach(() => vi.restoreAllMocks());

it('answers nobody but who judges it: it knows what the service asks a key for', async () => {
  const trial = createTrial(past(), { share: 0.3, usersMax: 100, seed: 1 });
  const config = defaultConfig({
    // Of a node of a cluster, it is a service of its own nevertheless.
    node: { role: 'server' },
    database: { data_store: 'postgres://127.0.0.1:1/none' },
    recommend: { data_source: { positive_feedback_types: ['like'] } },
  });
  const ask = globalThis.fetch;
  const strangers: number[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    strangers.push((await ask(url)).status);
    return ask(url, init);
  });
  const service = new TrialService(trial, config);
  try {
    const { lists } = await service.serve({}, 5, () => {});
    expect(lists.size).toBeGreaterThan(0);
    expect(new Set(strangers)).toEqual(new Set([401]));
  } finally {
    await service.close();
  }
});

it('does nothing but what it is asked for: no fit begins by itself while it is filled or judged', async () => {
  const trial = createTrial(past(), { share: 0.3, usersMax: 100, seed: 1 });
  const config = defaultConfig({ recommend: { data_source: { positive_feedback_types: ['like'] } } });
  const ask = globalThis.fetch;
  let tasks: Tasks | undefined;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    tasks ??= (await (await ask(new URL('/api/admin/tasks', String(url)), init)).json()) as Tasks;
    return ask(url, init);
  });
  const service = new TrialService(trial, config);
  try {
    await service.serve({}, 5, () => {});
    expect(tasks?.Past.map(({ Kind }) => Kind)).toEqual(['fit']);
    expect(tasks?.Running).toEqual([]);
    expect(tasks?.NextFitSeconds).toBeUndefined();
  } finally {
    await service.close();
  }
});
