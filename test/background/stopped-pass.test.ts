import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCacheStore } from '../../src/store/open/thread-stores.ts';
import { record, SECOND_MS, startScene } from '../recommend/scene.ts';

/** Twenty blocks. */
const USERS = 5000;

it('a service stopped in the middle of a pass over the users, again and again, makes every list in the end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'furze-pass-'));
  const cachePath = join(folder, 'cache');
  const scene = await startScene(
    { cache_size: 20 },
    { database: { data_store: `lmdb://${folder}/data`, cache_store: `lmdb://${cachePath}` } },
  );
  const { server } = scene;
  const listCount = async () => {
    await server.service.stop();
    const cache = openCacheStore(cachePath);
    const { lists } = await cache.getStats();
    await cache.close();
    return lists;
  };
  try {
    const likes = Array.from({ length: USERS * 3 }, (_, at) =>
      record('like', `u${at % USERS}`, `i${at % 97}`),
    );
    await scene.send('POST', '/api/feedback', likes);
    scene.time.nowMs += SECOND_MS;
    let begun = () => {};
    const making = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const fit = server.service.fit((stage, done) => {
      if (stage === 'Writing recommendations' && done > 0) begun();
    });
    await making;
    const afterFirst = await listCount();
    await fit.catch(() => {});
    expect(afterFirst).toBeGreaterThan(0);
    expect(afterFirst).toBeLessThan(USERS);
    // Started and stopped at once: what was going on is cut off again.
    await server.restart();
    const afterSecond = await listCount();
    expect(afterSecond).toBeGreaterThanOrEqual(afterFirst);
    await server.restart();
    await expect
      .poll(() => server.lines.filter((line) => line.includes('made the lists that were missing')).length)
      .toBe(1);
    expect(await listCount()).toBe(USERS);
    expect(server.lines.filter((line) => JSON.parse(line).level === 'error')).toEqual([]);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

it('feedback that comes while a pass runs shows in the lists after it', async () => {
  const users = 1100;
  const scene = await startScene({
    cache_size: 20,
    offline: {
      enable_collaborative_recommend: false,
      enable_item_based_recommend: true,
      // A ranking that is learned lets popular items come up by themselves.
      enable_click_through_prediction: false,
    },
    online: { fallback_recommend: [] },
  });
  try {
    // Users like tea and cake, or salt and pepper.
    const likes = Array.from({ length: users }, (_, user) =>
      (user % 2 === 0 ? ['tea', 'cake'] : ['salt', 'pepper']).map((item) => record('like', `u${user}`, item)),
    );
    await scene.send('POST', '/api/feedback', likes.flat());
    // Some have nothing to make a list of before, and one of each block of 256 has.
    const late = Array.from({ length: 5 }, (_, at) => `late${at}`);
    const early = [0, 256, 512, 768, 1024].map((row) => `u${row}`);
    scene.time.nowMs += SECOND_MS;
    const changes: Promise<unknown>[] = [];
    const change = async (user: string) => {
      await scene.like(user, 'salt');
      expect(await scene.ids(`/api/recommend/${user}`)).toContain('pepper');
    };
    await scene.server.service.fit((stage, done) => {
      if (stage !== 'Writing recommendations') return;
      const at = Math.min(4, Math.floor(done / 256));
      changes.push(change(late[at]!), change(early[at]!));
    });
    await Promise.all(changes);
    expect(changes.length).toBeGreaterThanOrEqual(10);
    for (const user of [...late, ...early])
      expect(await scene.ids(`/api/recommend/${user}`)).toEqual(['pepper']);
  } finally {
    await scene.server.stop();
  }
});
