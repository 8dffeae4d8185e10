/** Nodes with roles over one PostgreSQL, and what tests of them read. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, startTestServer, type TestServer } from '../http/start.ts';

/** For what another node must first see. */
export const PATIENT = { timeout: 600_000, interval: 100 };

/** Likes of 100 users on 57 items, of three tastes. */
export const LIKES = Array.from({ length: 1200 }, (_, at) => ({
  FeedbackType: 'like',
  UserId: `u${at % 100}`,
  ItemId: `i${((at % 3) + 3 * ((at * 7) % 19)) % 57}`,
  Timestamp: new Date(Date.UTC(2024, 0, 1) + at * 60_000).toISOString(),
}));

/** Starts a node that learns quickly. */
export function startNode(
  dataStore: string,
  role: 'server' | 'worker',
  name: string,
  modelStore = '',
): Promise<TestServer> {
  return startTestServer({
    config: {
      node: { role, name },
      database: { data_store: dataStore, model_store: modelStore },
      recommend: {
        data_source: { positive_feedback_types: ['like'] },
        collaborative: { factors: 8, epochs: 3 },
        offline: { enable_click_through_prediction: false },
      },
    },
  });
}

/**
 * The answer of a node that knows all that was committed before. One that waits for its database for too long, as on a busy
 * machine, answers what it has and says so: it is asked again.
 */
export async function freshAnswer(node: TestServer, path: string): Promise<Answer> {
  for (;;) {
    const answer = await node.call('GET', path);
    if (answer.headers.get('x-furze-stale') === null) return answer;
    await delay(100);
  }
}

/** The number of the generation that a node serves; undefined without one. */
export async function servedGeneration(node: TestServer): Promise<number | undefined> {
  return (await node.call('GET', '/api/admin/summary')).body.Model?.Generation;
}
