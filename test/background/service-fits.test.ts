import { describe, expect, it } from 'vitest';
import type { ConfigOverrides } from '../../src/config/config.ts';
import { startTestServer, type TestServer } from '../http/start.ts';

function like(user: number, item: number) {
  return { FeedbackType: 'like', UserId: `u${user}`, ItemId: `i${item}` };
}

const RECORDS = Array.from({ length: 3000 }, (_, at) => like(at % 150, (at * 7) % 211));

async function start(more: ConfigOverrides): Promise<TestServer> {
  const server = await startTestServer({
    config: { ...more, recommend: { data_source: { positive_feedback_types: ['like'] }, ...more.recommend } },
  });
  await server.call('POST', '/api/feedback', RECORDS);
  return server;
}

describe('a service', () => {
  it('that is stopped during a training stops, and has all its data when it is started again', async () => {
    const server = await start({ recommend: { collaborative: { factors: 128, epochs: 1000 } } });
    let begun = () => {};
    const training = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const fit = server.service.fit((stage, done) => {
      if (stage === 'Training ALS' && done > 0) begun();
    });
    await training;
    await server.restart();
    expect(await fit).toBeUndefined();
    expect(server.service.hasModel).toBe(false);
    const stored = await server.call('GET', '/api/user/u7/feedback/like');
    const expected = RECORDS.filter(({ UserId }) => UserId === 'u7').map(({ ItemId }) => ItemId);
    expect(stored.body).toHaveLength(new Set(expected).size);
    expect((await server.call('POST', '/api/feedback', [like(7, 999)])).body).toEqual({ RowAffected: 1 });
    await server.stop();
  });

  it('that may not take the memory of a fit says so, and goes on serving', async () => {
    const server = await start({
      recommend: { collaborative: { factors: 512 } },
      worker: { memory_max_mb: 1 },
    });
    await expect(server.service.fit()).rejects.toThrow(/may take 1 MiB: raise \[worker\] memory_max_mb/);
    expect(server.service.hasModel).toBe(false);
    expect((await server.call('GET', '/api/popular?n=3')).body).toHaveLength(3);
    await server.stop();
  });
});
