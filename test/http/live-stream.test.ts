import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecentEventsView } from '../../src/domain/activity-schemas.ts';
import { startTestServer, type TestServer } from './start.ts';

const SEND_TIMEOUT_MS = 300;
const STREAMS_MAX = 8;
const SHOWN = 5;

/** A stream under way: its events one after the other. */
class Stream {
  private readonly stop: AbortController;
  private readonly reader: ReadableStreamDefaultReader<string>;
  private text = '';

  private constructor(response: Response, stop: AbortController) {
    this.stop = stop;
    this.reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Opens one, as soon as there is room for it. */
  static async open(base: string, n = 3): Promise<Stream> {
    for (;;) {
      const stop = new AbortController();
      const path = `${base}/api/admin/activity/stream?n=${n}`;
      const response = await fetch(path, { signal: stop.signal });
      if (response.status === 200) return new Stream(response, stop);
      await sleep(20);
    }
  }

  async next(): Promise<RecentEventsView> {
    for (;;) {
      const [event, rest] = this.text.split(/\n\n([\s\S]*)/);
      if (rest !== undefined) {
        this.text = rest;
        if (event!.startsWith('data: ')) return JSON.parse(event!.slice(6)) as RecentEventsView;
        continue;
      }
      const { done, value } = await this.reader.read();
      if (done) throw new Error('the stream has ended');
      this.text += value;
    }
  }

  close(): void {
    this.stop.abort();
  }
}

const likeOf = (UserId: string, ItemId: string) => ({ FeedbackType: 'like', UserId, ItemId, Timestamp: '' });

describe('a stream of feedback', () => {
  let server: TestServer;
  const like = (userId: string, itemId: string) =>
    server.call('POST', '/api/feedback', [likeOf(userId, itemId)]);

  beforeAll(async () => {
    server = await startTestServer({
      config: {
        // A stop that waited for a stream would take as long as this.
        server: { send_timeout: SEND_TIMEOUT_MS, shutdown_timeout: 3_600_000 },
        recommend: { data_source: { positive_feedback_types: ['like'] } },
      },
    });
    const items = Array.from({ length: 24 }, (_, at) => ({ ItemId: `item${at}`, Comment: `Article ${at}` }));
    await server.call('POST', '/api/items', items);
    const likes = Array.from({ length: 40 }, (_, user) =>
      Array.from({ length: 8 }, (_, at) =>
        likeOf(`user${user}`, `item${(user % 2) * 12 + ((user + at * (1 + (user % 3))) % 12)}`),
      ),
    );
    await server.call('POST', '/api/feedback', likes.flat());
    await server.call(
      'POST',
      '/api/feedback',
      ['item0', 'item1'].map((id) => likeOf('ann', id)),
    );
    await server.service.fit();
  });
  afterAll(() => server.stop());

  it('tells what came last, then what comes, with the answer that it has changed', async () => {
    const before = (await server.call('GET', `/api/recommend/ann?n=${SHOWN}`)).body as string[];
    const stream = await Stream.open(server.base, 2);
    const first = await stream.next();
    expect(first.Feedback.map(({ Id }) => Id)).toEqual(['item1', 'item0']);
    // The list of before is gone.
    expect(first.Feedback[0]!.Answer!.Items.map(({ Id }) => Id)).toEqual(before);
    expect(first.Feedback[0]!.Answer).not.toHaveProperty('New');
    await like('ann', before[0]!);
    const { Feedback, Missed } = await stream.next();
    expect(Feedback).toMatchObject([{ UserId: 'ann', Id: before[0], FeedbackType: 'like', Positive: true }]);
    expect(Missed).toBe(0);
    const { Items, New } = Feedback[0]!.Answer!;
    const after = (await server.call('GET', `/api/recommend/ann?n=${SHOWN}`)).body as string[];
    expect(Items.map(({ Id }) => Id)).toEqual(after);
    expect(Items[0]!.Title).toMatch(/^Article \d/);
    expect(New).toEqual(after.filter((id) => !before.includes(id)));
    expect(New!.length).toBeGreaterThan(0);
    stream.close();
  });

  it('tells of very many at once the latest, and how many more', async () => {
    const stream = await Stream.open(server.base);
    await stream.next();
    const likes = Array.from({ length: 300 }, (_, at) => likeOf(`new${at}`, 'item3'));
    await server.call('POST', '/api/feedback', likes);
    const { Feedback, Missed } = await stream.next();
    expect([Feedback.length, Missed]).toEqual([50, 250]);
    expect(Feedback[0]).toMatchObject({ UserId: 'new299' });
    expect(Feedback.filter(({ Answer }) => Answer !== undefined)).toHaveLength(3);
    stream.close();
  });

  it('goes on although nothing comes for longer than a caller may take for an answer', async () => {
    const stream = await Stream.open(server.base);
    await stream.next();
    await sleep(5 * SEND_TIMEOUT_MS);
    await like('late', 'item4');
    expect((await stream.next()).Feedback).toMatchObject([{ UserId: 'late' }]);
    stream.close();
  });

  it('is for so many at a time, and is free again when one leaves', async () => {
    const streams = await Promise.all(Array.from({ length: STREAMS_MAX }, () => Stream.open(server.base)));
    for (const stream of streams) await stream.next();
    const refused = await server.call('GET', '/api/admin/activity/stream');
    expect([refused.status, refused.body.code]).toEqual([503, 'OVERLOADED']);
    streams[0]!.close();
    streams.push(await Stream.open(server.base));
    for (const stream of streams) stream.close();
  });

  it('is for no more at a time whoever asks in whatever way, and HEAD takes no place', async () => {
    const path = '/api/admin/activity/stream';
    for (let at = 0; at < 2 * STREAMS_MAX; at++) {
      const head = await server.call('HEAD', path);
      expect([200, 503]).toContain(head.status);
    }
    const sockets = Array.from({ length: 8 * STREAMS_MAX }, () => connect(server.port, '127.0.0.1'));
    await Promise.all(
      sockets.map((socket) => new Promise<void>((resolve) => socket.once('connect', resolve))),
    );
    const text = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    const answers = sockets.map(
      (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
    );
    for (const socket of sockets) socket.write(text);
    const taken = (await Promise.all(answers)).filter((answer) => answer.startsWith('HTTP/1.1 200'));
    for (const socket of sockets) socket.destroy();
    // Those of the test before may take a moment to go.
    expect(taken.length).toBeGreaterThan(0);
    expect(taken.length).toBeLessThanOrEqual(STREAMS_MAX);
    (await Stream.open(server.base)).close();
  });

  it('ends when the service stops, which does not wait for it', async () => {
    const stream = await Stream.open(server.base);
    await stream.next();
    const ended = stream.next().catch((error: Error) => error);
    await server.restart();
    expect(await ended).toBeInstanceOf(Error);
  });
});
