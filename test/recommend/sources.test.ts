import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { RECOMMENDERS, type RecommenderName } from '../../src/domain/recommenders.ts';
import { History } from '../../src/recommend/history/history.ts';
import { GenerationSlot } from '../../src/recommend/models/generation-slot.ts';
import { createSources } from '../../src/recommend/sources/registry.ts';
import type { Ask, Sources } from '../../src/recommend/sources/source.ts';
import { InMemoryState } from '../../src/recommend/state/in-memory-state.ts';
import type { LocalReads } from '../../src/store/data-store.ts';
import { DirectStore } from '../store/direct-store.ts';
import { feedback, NOW_MS, putFeedback, putItems, storeOptions } from '../store/helpers.ts';
import { generation, neighborLists, scoredModel } from './hand-made.ts';

/** Items i0 to i9, of which even ones are in category c, i3 is hidden, and i0 and i1 are liked by u. */
const ITEMS = 10;
const HIDDEN = 3;
const ROWS = Array.from({ length: ITEMS }, (_, row) => row);

let folder: string;
let store: DirectStore;
let reads: LocalReads;
let sources: Sources;
let live: InMemoryState;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'furze-sources-'));
  store = new DirectStore(join(folder, 'data'), storeOptions(folder));
  await store.write(
    putItems(
      ROWS.map((row) => ({
        ItemId: `i${row}`,
        IsHidden: row === HIDDEN,
        Categories: row % 2 === 0 ? ['c'] : [],
        Timestamp: `2023-01-${10 + row}T00:00:00Z`,
      })),
    ),
  );
  const likes = [0, 1].map((row) => feedback('like', 'u', `i${row}`));
  const others = ROWS.map((row) => feedback('like', 'v', `i${row}`, { Timestamp: '2023-12-31T00:00:00Z' }));
  await store.write(putFeedback([...likes, ...others]));
  reads = store.local;
  live = new InMemoryState({
    reads,
    clock: () => NOW_MS,
    positiveTypes: ['like'],
    spans: { windowMs: 400 * 86_400_000, ttlMs: Number.POSITIVE_INFINITY },
    itemTtlMs: Number.POSITIVE_INFINITY,
    newestCount: true,
    countsStorage: { read: async () => undefined, renew: async () => undefined },
    onTrouble: (message) => expect.fail(message),
  });
  await live.load(reads, (await store.getStats()).feedback);
  const scores = ROWS.map((row) => (row * 7) % 10);
  const generations = new GenerationSlot();
  generations.current = generation({
    als: scoredModel(scores),
    itemNeighbors: neighborLists((seed) =>
      ROWS.filter((row) => row !== seed).map((row) => [row, 1 / (1 + ((row + seed) % 4))]),
    ),
  });
  generations.similarUsers = async () => ({ rows: [reads.userRow('v')], scores: [0.5] });
  const findRelated = async () => ({ rows: [], scores: [] });
  const vectorOf = (history: History) =>
    history.positiveRows(live.isPositive, 1).length > 0 ? Float32Array.of(1) : undefined;
  const asked = { findRelated, vectorOf, listOfSession: () => undefined };
  ({ sources } = createSources(defaultConfig(), { reads, live, generations, ...asked }));
});

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function ask(name: RecommenderName, more: Partial<Ask> & { readonly userId?: string } = {}) {
  const { userId = 'u', ...rest } = more;
  const history = new History(reads);
  history.load(reads.userRow(userId), NOW_MS);
  const accept = (row: number) => live.catalogue.isListable(row) && !history.hasRead(row);
  return sources[name].rank({ history, k: 20, accept, categories: [], ...rest });
}

describe.each(RECOMMENDERS)('the recommender %s', (name) => {
  it('ranks listable items that pass, each once, by scores that never rise', async () => {
    const { rows, scores } = await ask(name);
    expect(new Set(rows).size).toBe(rows.length);
    expect([...rows].sort()).toEqual(ROWS.filter((row) => row > 1 && row !== HIDDEN));
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  it('begins alike however many are wanted', async () => {
    const all = await ask(name);
    for (const k of [0, 1, 3]) {
      const some = await ask(name, { k });
      expect(some).toEqual({ rows: all.rows.slice(0, k), scores: all.scores.slice(0, k) });
    }
  });

  it('keeps to a category', async () => {
    const accept = (row: number) => row > 1 && row % 2 === 0;
    const { rows } = await ask(name, { accept, categories: ['c'] });
    expect([...rows].sort()).toEqual([2, 4, 6, 8]);
  });

  it('answers somebody unknown', async () => {
    const { rows } = await ask(name, { userId: 'nobody' });
    const isGlobal = name === 'popular' || name === 'latest';
    expect(rows.length).toBe(isGlobal ? ITEMS - 1 : 0);
  });
});
