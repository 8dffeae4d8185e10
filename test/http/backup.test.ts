import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Tasks } from '../../src/domain/admin-schemas.ts';
import type { Feedback } from '../../src/domain/entities.ts';
import { OperatorError } from '../../src/domain/operator-error.ts';
import { restoreStore } from '../../src/store/open/open-store.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { startTestServer, TEST_STORE, type TestServer } from './start.ts';

const headers = { 'X-API-Key': 'hush' };
const RECORDS = 20;
const batch = (user: string) =>
  Array.from({ length: RECORDS }, (_, item) => ({
    FeedbackType: 'click',
    UserId: user,
    ItemId: `i${item}`,
    Timestamp: '2024-05-01T00:00:00Z',
    Comment: `${user} ${'x'.repeat(800)}`,
  }));

const folder = mkdtempSync(join(tmpdir(), 'furze-backup-'));
let server: TestServer;
beforeAll(async () => {
  const recommend = { data_source: { positive_feedback_types: ['click'] } };
  server = await startTestServer({ config: { server: { api_key: 'hush' }, recommend } });
  for (let i = 0; i < 60; i++) await server.call('POST', '/api/feedback', batch(`u${i}`), headers);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const backup = () => fetch(`${server.base}/api/admin/backup`, { method: 'POST', headers });

async function nextIsTaken(): Promise<void> {
  const statusOfNext = async () => {
    const next = await backup();
    await next.arrayBuffer();
    return next.status;
  };
  await expect.poll(statusOfNext).toBe(200);
}

/** Writes one user after the other while `action` runs. @returns users that were acknowledged before and after it began */
async function whileWriting(action: () => Promise<unknown>): Promise<{ before: string[]; all: string[] }> {
  let writing = true;
  const all: string[] = [];
  const writes = (async () => {
    for (let i = 0; writing; i++) {
      const user = `during${Date.now()}-${i}`;
      const { status } = await server.call('POST', '/api/feedback', batch(user), headers);
      if (status === 200) all.push(user);
    }
  })();
  while (all.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  const before = [...all];
  try {
    await action();
  } finally {
    writing = false;
    await writes;
  }
  return { before, all };
}

describe('POST /api/admin/backup', () => {
  it('says why no copy can be made, and makes the next one', async () => {
    const failures = [
      new OperatorError('/data/partial-1 has no room left on its disk: make room, and begin again.'),
      Object.assign(new Error("ENOSPC: no space left on device, mkdtemp '/data/partial-'"), {
        code: 'ENOSPC',
      }),
      new Error('No space left on device'),
    ];
    for (const failure of failures) {
      vi.spyOn(server.service.data, 'backup').mockRejectedValueOnce(failure);
      const { status, body } = await server.call('POST', '/api/admin/backup', undefined, headers);
      expect([status, body.code]).toEqual([503, 'STORE_UNAVAILABLE']);
      expect(body.detail).toContain(failure.message);
    }
    await nextIsTaken();
    expect(server.lines.filter((line) => line.includes('failed by a bug'))).toEqual([]);
  });

  it('is a 500 where the program itself is at fault', async () => {
    vi.spyOn(server.service.data, 'backup').mockRejectedValueOnce(new TypeError('x is not a function'));
    expect((await server.call('POST', '/api/admin/backup', undefined, headers)).status).toBe(500);
    await nextIsTaken();
  });

  it('needs the key, and is refused while another is read', async () => {
    expect((await server.call('POST', '/api/admin/backup')).status).toBe(401);
    const first = await backup();
    expect(first.status).toBe(200);
    const second = await backup();
    expect([second.status, await second.text()]).toEqual([503, expect.stringContaining('OVERLOADED')]);
    // A caller that leaves makes room for the next.
    await first.body!.cancel();
    await nextIsTaken();
  });

  it('is one state of the store while writes go on, restored record by record', async () => {
    const into = join(folder, 'restored');
    const { before, all } = await whileWriting(async () => {
      const answer = await backup();
      expect(answer.headers.get('content-type')).toBe('application/octet-stream');
      const source = Readable.fromWeb(answer.body as ReadableStream<Uint8Array>);
      await restoreStore({ source, dataPath: into, lockWaitMs: 0 });
    });
    const reader = openDataReader(into);
    const users = (await reader.getUsers(100_000, '')).rows.map(({ UserId }) => UserId);
    for (let i = 0; i < 60; i++) expect(users).toContain(`u${i}`);
    expect(users).toEqual(expect.arrayContaining(before));
    // Of what was written meanwhile: each batch whole, and none before one that is missing.
    const there = all.filter((user) => users.includes(user));
    expect(there).toEqual(all.slice(0, there.length));
    for (const user of users) {
      const records = (await reader.getUserFeedback(user)) as Feedback[];
      const expected = (await server.call('GET', `/api/user/${user}/feedback`, undefined, headers)).body;
      expect(records).toHaveLength(RECORDS);
      expect(records).toEqual(expected);
    }
    await reader.close();
  });

  it('a caller that hangs up while the copy is made leaves nothing behind', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const request = `POST /api/admin/backup HTTP/1.1\r\nHost: localhost\r\nX-API-Key: hush\r\nContent-Length: 0\r\n\r\n`;
    await new Promise<void>((resolve) => socket.write(request, () => resolve()));
    socket.destroy();
    await nextIsTaken();
  });
});

describe('POST /api/admin/compact', () => {
  it.runIf(TEST_STORE === 'postgres')('is refused where PostgreSQL sees to its free space', async () => {
    const { status, text } = await server.call('POST', '/api/admin/compact', undefined, headers);
    expect([status, text]).toEqual([400, expect.stringContaining('sees to its free space by itself')]);
  });

  it.runIf(TEST_STORE === 'lmdb')('rewrites the store while writes go on, as a task', async () => {
    for (let i = 0; i < 50; i++) await server.call('DELETE', `/api/user/u${i}`, undefined, headers);
    const tasks = async (): Promise<Tasks> =>
      (await server.call('GET', '/api/admin/tasks', undefined, headers)).body;
    const past = async () => (await tasks()).Past.find(({ Kind }) => Kind === 'compaction');
    const { all } = await whileWriting(async () => {
      const begun = await server.call('POST', '/api/admin/compact', undefined, headers);
      expect(begun.status).toBe(200);
      expect((begun.body as Tasks).Running.map(({ Kind }) => Kind)).toContain('compaction');
      await expect.poll(past).toBeDefined();
    });
    const done = await past();
    expect(done).toMatchObject({ State: 'done' });
    expect(done!.Result!.bytesAfter).toBeLessThan(done!.Result!.bytesBefore as number);
    for (const user of ['u59', ...all]) {
      const { body } = await server.call('GET', `/api/user/${user}/feedback`, undefined, headers);
      expect(body).toHaveLength(RECORDS);
    }
    // Also what the workers read, and what the next start finds.
    expect((await server.call('GET', '/api/user/u59/neighbors?n=3', undefined, headers)).body).toHaveLength(
      3,
    );
    await server.restart();
    expect((await server.call('GET', `/api/user/${all.at(-1)}`, undefined, headers)).status).toBe(200);
    expect((await server.call('GET', '/api/user/u1', undefined, headers)).status).toBe(404);
  });
});
