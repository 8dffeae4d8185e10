import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Feedback, Item, Page, User } from '../../src/domain/entities.ts';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import type { DataStore, WriteCommand } from '../../src/store/data-store.ts';
import type { WriteRules } from '../../src/store/lmdb/tables/writer-messages.ts';
import { openStore, type StoreOptions, type Stores } from '../../src/store/open/open-store.ts';
import { afterTest } from '../clean-up.ts';
import type { StoreUnderTest } from './contract/under-test.ts';

/** Rules of writing that store everything and count nothing as positive. */
export const PLAIN_RULES: WriteRules = {
  limits: DEFAULT_LIMITS,
  autoInsertUser: true,
  autoInsertItem: true,
  positiveFeedbackTypes: [],
  readFeedbackTypes: [],
};

/** The time of arrival in tests, 2024-01-01T00:00:00Z. */
export const NOW_MS = 1_704_067_200_000;

const opened = new Set<Stores>();

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'furze-store-'));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function storeOptions(folder: string, more: Partial<StoreOptions> = {}): StoreOptions {
  return {
    dataPath: join(folder, 'data'),
    cachePath: join(folder, 'cache'),
    sync: 'commit',
    limits: DEFAULT_LIMITS,
    autoInsertUser: true,
    autoInsertItem: true,
    positiveFeedbackTypes: ['like', 'star'],
    readFeedbackTypes: ['read', 'seen', 'star'],
    clock: () => NOW_MS,
    ...more,
  };
}

/** Stores in `folder` that are closed when the test ends. */
export function openIn(folder: string, more: Partial<StoreOptions> = {}): Stores {
  const stores = openStore(storeOptions(folder, more));
  opened.add(stores);
  afterTest(() => opened.has(stores) && close(stores));
  return stores;
}

export async function close(stores: Stores): Promise<void> {
  opened.delete(stores);
  await stores.data.close();
  await stores.cache.close();
}

/** The LMDB stores as the contracts of `test/store/contract/` open them: a folder each. */
export function lmdbUnderTest(): StoreUnderTest {
  const folders = new Map<DataStore, { folder: string; stores: Stores }>();
  const openAt = (folder: string, rules: Partial<WriteRules>) => {
    const stores = openIn(folder, rules);
    folders.set(stores.data, { folder, stores });
    return stores.data;
  };
  return {
    open: async (rules = {}) => openAt(tempFolder(), rules),
    async reopen(data, rules = {}) {
      const { folder, stores } = folders.get(data)!;
      await close(stores);
      return openAt(folder, rules);
    },
  };
}

/** An error with this code. */
export const code = (value: string) => expect.objectContaining({ code: value });

export function toJson(value: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(JSON.stringify(value)));
}

export function putFeedback(records: readonly Partial<Feedback>[], overwrite = false): WriteCommand {
  return { kind: 'putFeedback', overwrite, batch: { json: toJson(records), single: false } };
}

export function putUsers(records: readonly Partial<User>[]): WriteCommand {
  return { kind: 'putUsers', batch: { json: toJson(records), single: false } };
}

export function putItems(records: readonly Partial<Item>[]): WriteCommand {
  return { kind: 'putItems', batch: { json: toJson(records), single: false } };
}

export function feedback(
  FeedbackType: string,
  UserId: string,
  ItemId: string,
  more: Partial<Feedback> = {},
): Feedback {
  return { FeedbackType, UserId, ItemId, Timestamp: '2023-05-06T07:08:09Z', Comment: '', ...more };
}

/** Resolves when reads of a node show what was answered before: its barrier gives up after a while on a busy machine, and says so. */
export async function passed({ barrier }: DataStore, users: readonly string[] = []): Promise<void> {
  for (;;) {
    await barrier?.pass(users);
    if (barrier?.isUnsure !== true) return;
    await sleep(50);
  }
}

/** Walks all pages of `n` entries. */
export async function walk<T>(
  n: number,
  next: (n: number, cursor: string) => Promise<Page<T>>,
): Promise<T[]> {
  const all: T[] = [];
  let cursor = '';
  do {
    const page = await next(n, cursor);
    all.push(...page.rows);
    ({ cursor } = page);
  } while (cursor !== '');
  return all;
}

/** Feedback in an order of its own, for comparisons. */
export function sorted(rows: readonly Feedback[]): Feedback[] {
  const keyOf = ({ FeedbackType, UserId, ItemId }: Feedback) =>
    JSON.stringify([UserId, ItemId, FeedbackType]);
  return [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
