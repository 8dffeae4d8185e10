/** Nodes with roles over one PostgreSQL, and what tests of them read. */
import { startTestServer, type TestServer } from '../http/start.ts';

/** For what another node must first see. */
export const PATIENT = { timeout: 50_000, interval: 100 };

/** Likes of 100 users on 57 items, of three tastes. */
export const LIKES = Array.from({ length: 1200 }, (_, at) => ({
  FeedbackType: 'like',
  UserId: `u${at % 100}`,
  ItemId: `i${((at % 3) + 3 * ((at * 7) % 19)) % 57}`,
  Timestamp: new Date(Date.UTC(2024, 0, 1) + at * 60_000).toISOString(),
}));

/** Starts a node that learns quickly. */
export function startNode(dataStore: string, role: 'server' | 'worker', name: string): Promise<TestServer> {
  return startTestServer({
    config: {
      node: { role, name },
      database: { data_store: dataStore },
      recommend: {
        data_source: { positive_feedback_types: ['like'] },
        collaborative: { factors: 8, epochs: 3 },
        offline: { enable_click_through_prediction: false },
      },
    },
  });
}

/** The number of the generation that a node serves; undefined without one. */
export async function servedGeneration(node: TestServer): Promise<number | undefined> {
  return (await node.call('GET', '/api/admin/summary')).body.Model?.Generation;
}
