import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Tasks } from '../../src/domain/admin-schemas.ts';
import { Furze } from './run-furze.ts';

/** Rounds of every job; those of the first quarter fill what is kept for the next time. `ADMIN_ROUNDS` asks for more. */
const ROUNDS = Number(process.env.ADMIN_ROUNDS ?? 48);
/** What each round may add, in the mean: half of what it did while the tables of closed environments of LMDB were kept. */
const ROUND_BYTES_MAX = 2 ** 19;
/** A fit takes as long as ten of the other jobs. */
const FIT_EVERY = 8;
const USERS = 100;
const MIB = 2 ** 20;

/** Memory of a process that is no page of a file, bytes. */
function anonymousBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Anonymous: *(\d+) kB$/m.exec(text)?.[1]) * 1024;
}

it.skipIf(process.platform !== 'linux')(
  'the memory of a service levels off, however many jobs of an operator it does',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'furze-admin-memory-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const service = new Furze(
      ['serve'],
      {
        FURZE_DATABASE_DATA_STORE: `lmdb://${folder}/data`,
        FURZE_DATABASE_CACHE_STORE: `lmdb://${folder}/cache`,
        FURZE_SERVER_PORT: '0',
        FURZE_WORKER_THREADS: '1',
        FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES: 'like',
        FURZE_RECOMMEND_COLLABORATIVE_FACTORS: '8',
        // As glibc has it, but fixed: else each thread that ends raises it to 16 MiB, and what is freed stays in pieces.
        MALLOC_ARENA_MAX: '2',
        MALLOC_MMAP_THRESHOLD_: String(2 ** 17),
      },
      // Heaps that are collected as a whole each time: what waits for a collection would hide what stays.
      ['sh', '-c', 'exec "$0" --gc-global --max-semi-space-size=2 "$@"'],
    );
    // One that has stopped is not there to be killed.
    onTestFinished(() => void service.process.kill('SIGKILL'));
    const url = (await service.waitFor(/"url":"([^"]+)"/))[1] as string;
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(url + path, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const bytes = await answer.arrayBuffer();
      expect([path, answer.status]).toEqual([path, 200]);
      return bytes;
    };
    const done = async (kind: string) => {
      for (;;) {
        const tasks = JSON.parse(Buffer.from(await ask('GET', '/api/admin/tasks')).toString()) as Tasks;
        if (!tasks.Running.some(({ Kind }) => Kind === kind)) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const likes = Array.from({ length: USERS * 10 }, (_, at) => ({
      FeedbackType: 'like',
      UserId: `u${at % USERS}`,
      ItemId: `i${(at * 7 + (at >> 4)) % 60}`,
      Timestamp: new Date(Date.now() - at * 1000).toISOString(),
    }));
    await ask('POST', '/api/feedback', likes);
    const round = async () => {
      expect((await ask('POST', '/api/admin/backup')).byteLength).toBeGreaterThan(10_000);
      await ask('POST', '/api/admin/compact');
      await done('compaction');
      if (rounds % FIT_EVERY === 0) {
        await ask('POST', '/api/admin/fit');
        await done('fit');
      }
      await ask('GET', '/api/feedback?n=1000');
      await ask('GET', '/api/admin/storage');
      // A fit of the same feedback would be none.
      await ask(
        'PUT',
        '/api/feedback',
        likes.slice(0, 10).map((like, at) => ({ ...like, ItemId: `i${(at + rounds++) % 60}` })),
      );
    };
    let rounds = 0;
    const sizes: number[] = [];
    for (let at = 0; at < ROUNDS; at++) {
      await round();
      sizes.push(anonymousBytes(service.process.pid as number));
    }
    const quarter = ROUNDS >> 2;
    const lowest = (from: number) => Math.min(...sizes.slice(from, from + quarter));
    const added = lowest(ROUNDS - quarter) - lowest(quarter);
    const what = `MiB: ${sizes.map((bytes) => Math.round(bytes / MIB)).join(' ')}`;
    expect(added / (ROUNDS - 2 * quarter), what).toBeLessThan(ROUND_BYTES_MAX);
    expect(await service.stop('SIGTERM')).toBe(0);
  },
);
