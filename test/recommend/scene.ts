import { expect } from 'vitest';
import type { ConfigOverrides } from '../../src/config/config.ts';
import { startTestServer, type TestServer } from '../http/start.ts';

export const START_MS = Date.parse('2024-05-01T00:00:00Z');

/** Users and items of two tastes: an even user likes even items, an odd user odd ones; each left a few out. */
export const USERS = 24;
export const ITEMS = 20;

/** Seconds and hours in milliseconds. */
export const SECOND_MS = 1000;
export const HOUR_MS = 3_600_000;

export type RecommendOverrides = NonNullable<ConfigOverrides['recommend']>;

/** A service with a clock that stands still unless it is moved. */
export interface Scene {
  readonly server: TestServer;
  /** Milliseconds since the epoch. */
  readonly time: { nowMs: number };
  /** The ids of a list of recommendations, or of scored entries. */
  ids(path: string): Promise<string[]>;
  /** Calls and expects success. */
  send(method: string, path: string, body?: unknown): Promise<unknown>;
  like(userId: string, ...itemIds: string[]): Promise<unknown>;
  read(userId: string, ...itemIds: string[]): Promise<unknown>;
  /** Starts the service again on the same data, a second later, with another configuration. */
  restart(recommend: RecommendOverrides): Promise<void>;
}

export function record(FeedbackType: string, UserId: string, ItemId: string, Timestamp = '') {
  return { FeedbackType, UserId, ItemId, Timestamp };
}

/** A configuration of a small model, with `like` as positive and `read` as read feedback. */
export function sceneConfig(recommend: RecommendOverrides = {}, more: ConfigOverrides = {}): ConfigOverrides {
  return {
    ...more,
    recommend: {
      ...recommend,
      data_source: {
        positive_feedback_types: ['like'],
        read_feedback_types: ['read'],
        ...recommend.data_source,
      },
      collaborative: {
        factors: 4,
        epochs: 10,
        regularization: 0.1,
        regularization_exponent: 0.5,
        ...recommend.collaborative,
      },
    },
  };
}

export async function startScene(recommend?: RecommendOverrides, more?: ConfigOverrides): Promise<Scene> {
  const time = { nowMs: START_MS };
  // Each start reads it anew.
  const config = { ...sceneConfig(recommend, more) };
  const server = await startTestServer({ config, clock: () => time.nowMs });
  const send: Scene['send'] = async (method, path, body) => {
    const answer = await server.call(method, path, body);
    expect([method, path, answer.status, answer.status === 200 ? '' : answer.text]).toEqual([
      method,
      path,
      200,
      '',
    ]);
    return answer.body;
  };
  const feedback = (type: string, userId: string, itemIds: readonly string[]) =>
    send(
      'POST',
      '/api/feedback',
      itemIds.map((itemId) => record(type, userId, itemId)),
    );
  return {
    server,
    time,
    send,
    async ids(path) {
      const list = (await send('GET', path)) as (string | { readonly Id: string })[];
      return list.map((entry) => (typeof entry === 'string' ? entry : entry.Id));
    },
    like: (userId, ...itemIds) => feedback('like', userId, itemIds),
    read: (userId, ...itemIds) => feedback('read', userId, itemIds),
    async restart(changed) {
      // The service that stops makes lists to its end, by the configuration and the time that it has.
      await server.restart(() => {
        time.nowMs += SECOND_MS;
        Object.assign(config, sceneConfig(changed, more));
      });
    },
  };
}

/** What the user of the checkerboard likes. */
export function likesOf(user: number): string[] {
  const items: string[] = [];
  for (let item = user % 2; item < ITEMS; item += 2) if ((item + user) % 7 !== 0) items.push(`i${item}`);
  return items;
}

/** What an even or odd user of the checkerboard has not liked of its own taste. */
export function unreadOf(user: number): string[] {
  return Array.from({ length: ITEMS / 2 }, (_, at) => `i${at * 2 + (user % 2)}`).filter(
    (id) => !likesOf(user).includes(id),
  );
}

/** Puts the checkerboard into a scene: i0 is the newest item, each next one a minute older. */
export async function fillCheckerboard({ send }: Scene): Promise<void> {
  const items = Array.from({ length: ITEMS }, (_, item) => ({
    ItemId: `i${item}`,
    Timestamp: new Date(START_MS - item * 60_000).toISOString(),
    Categories: [item % 2 === 0 ? 'even' : 'odd', item < 10 ? 'low' : 'high'],
  }));
  await send('POST', '/api/items', items);
  const records = Array.from({ length: USERS }, (_, user) =>
    likesOf(user).map((item) => record('like', `u${user}`, item)),
  );
  await send('POST', '/api/feedback', records.flat());
}
