import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-full-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs what follows with a small disk of its own mounted on the folder, which needs namespaces of the user's own. */
const smallDisk = (megabytes: number) => [
  'unshare',
  '-rm',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${megabytes}m none ${folder} && exec "$@"`,
  'sh',
];
const SMALL_DISK = smallDisk(24);
const isPossible = spawnSync(SMALL_DISK[0] as string, [...SMALL_DISK.slice(1), 'true']).status === 0;
if (!isPossible) console.warn('SKIPPED: no small disk can be mounted here, so a full one is not tried');

const env = {
  FURZE_DATABASE_DATA_STORE: `lmdb://${folder}/data`,
  FURZE_DATABASE_CACHE_STORE: `lmdb://${folder}/cache`,
  FURZE_SERVER_PORT: '0',
  FURZE_RECOMMEND_DATA_SOURCE_POSITIVE_FEEDBACK_TYPES: 'like',
};
const WAIT = { timeout: 600_000, interval: 50 };

it.runIf(isPossible)(
  'a full disk: writes are refused, reads go on, and all is well again once there is room',
  async () => {
    const furze = new Furze(['serve'], env, SMALL_DISK);
    const url = (await furze.waitFor(/"url":"([^"]+)"/))[1] as string;
    const post = async (path: string, body: unknown) =>
      (await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })).status;
    const get = async (path: string) => (await fetch(url + path)).status;
    const likes = (from: number, comment = '') =>
      Array.from({ length: 200 }, (_, i) => ({
        FeedbackType: 'like',
        UserId: `u${from + (i % 20)}`,
        ItemId: `i${i}`,
        Comment: comment,
      }));
    const items = Array.from({ length: 300 }, (_, i) => ({ ItemId: `i${i}`, Timestamp: '2024-01-01' }));
    expect(await post('/api/items', items)).toBe(200);
    expect(await post('/api/feedback', likes(0))).toBe(200);
    expect(await get('/api/recommend/u0')).toBe(200);

    // The disk as the process sees it.
    const ballast = join('/proc', String(furze.process.pid), 'root', folder, 'ballast');
    fill(ballast);
    expect(await post('/api/feedback', likes(100, 'x'.repeat(5000)))).toBe(503);
    expect(await get('/api/health/ready')).toBe(503);
    expect(await get('/api/health/live')).toBe(200);
    for (let user = 0; user < 20; user++) expect(await get(`/api/recommend/u${user}?n=20`)).toBe(200);
    expect(furze.output).toMatch(/cannot write to its disk/);

    rmSync(ballast);
    await vi.waitFor(async () => expect(await get('/api/health/ready')).toBe(200), WAIT);
    expect(await post('/api/feedback', likes(50, 'x'.repeat(500)))).toBe(200);
    expect(await get('/api/recommend/u50')).toBe(200);
    expect(await furze.stop('SIGTERM')).toBe(0);
    expect(furze.output).toContain('can write again');
  },
);

it.runIf(isPossible)('a full disk refuses impressions, and nothing else ends', async () => {
  const furze = new Furze(['serve'], { ...env, FURZE_PLACEMENT: '{"home":{}}' }, SMALL_DISK);
  const url = (await furze.waitFor(/"url":"([^"]+)"/))[1] as string;
  await fetch(`${url}/api/item`, { method: 'POST', body: '{"ItemId":"i0"}' });
  const { headers } = await fetch(`${url}/api/recommend/u0?placement=home`);
  const impression = { UserId: 'u0', Recommendation: headers.get('X-Furze-Recommendation'), Items: ['i0'] };
  const body = JSON.stringify(Array.from({ length: 1000 }, () => impression));
  const post = async () => (await fetch(`${url}/api/impressions`, { method: 'POST', body })).status;
  expect(await post()).toBe(200);
  const ballast = join('/proc', String(furze.process.pid), 'root', folder, 'ballast');
  fill(ballast);
  await vi.waitFor(async () => expect(await post()).toBe(503), WAIT);
  rmSync(ballast);
  await vi.waitFor(async () => expect(await post()).toBe(200), WAIT);
  expect(await furze.stop('SIGTERM')).toBe(0);
});

it.runIf(isPossible)(
  'a service stops in order on a full disk, though its cache cannot be written',
  async () => {
    const furze = new Furze(['serve'], env, SMALL_DISK);
    const url = (await furze.waitFor(/"url":"([^"]+)"/))[1] as string;
    await fetch(`${url}/api/item`, { method: 'POST', body: '{"ItemId":"i0"}' });
    fill(join('/proc', String(furze.process.pid), 'root', folder, 'ballast'));
    expect(await furze.stop('SIGTERM')).toBe(0);
    expect(furze.output).toContain('The cache cannot be written');
    expect(furze.output).not.toMatch(/nothing caught|stopping took longer/);
  },
);

it.runIf(isPossible).each([['serve'], ['check']])(
  '%s says so where a disk has no room for the file by which LMDB locks',
  async (command) => {
    const made = join(folder, 'made');
    const script = `"$@" import items "$0" --data ${made} && dd if=/dev/zero of=${folder}/b bs=4k; rm -f ${made}/lock.mdb; exec "$@" ${command} --data ${made}`;
    const input = mkdtempSync(join(tmpdir(), 'furze-full-input-'));
    try {
      const path = join(input, 'items.csv');
      writeFileSync(path, 'item,category\ni0,c\n');
      const furze = new Furze([], env, [...SMALL_DISK, 'sh', '-c', script, path]);
      expect(await furze.exit).toBe(1);
      expect(furze.output).toMatch(/^furze: .* has no room left on its disk: make room, and begin again\.$/m);
    } finally {
      rmSync(input, { recursive: true });
    }
  },
);

it.runIf(isPossible)('a disk that is too small for an import is named as the cause', async () => {
  const input = mkdtempSync(join(tmpdir(), 'furze-full-input-'));
  try {
    const path = join(input, 'many.csv');
    const rows = Array.from({ length: 150_000 }, (_, at) => `u${at % 997},i${at},1700000000\n`);
    writeFileSync(path, `user,item,time\n${rows.join('')}`);
    const furze = new Furze(['import', 'feedback', path], env, smallDisk(3));
    expect(await furze.exit).toBe(1);
    expect(furze.output).toMatch(
      /Nothing of the feedback is stored: .* cannot be written: .*; its disk has \d MB left/,
    );
  } finally {
    rmSync(input, { recursive: true });
  }
});

/** Writes until nothing more goes on the disk. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const size of [65_536, 4096]) {
      const block = new Uint8Array(size);
      try {
        while (writeSync(file, block) > 0);
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
      }
    }
  } finally {
    closeSync(file);
  }
}

it.runIf(isPossible)('a full disk ends an import with one line', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'furze-full-input-'));
  const path = join(outside, 'long.csv');
  const rows = Array.from({ length: 8000 }, (_, at) => `u${at % 50},i${at},1700000000,${'x'.repeat(5000)}\n`);
  writeFileSync(path, `user,item,time,comment\n${rows.join('')}`);
  const furze = new Furze(['import', 'feedback', path], env, SMALL_DISK);
  expect(await furze.exit).toBe(1);
  const lines = furze.output.split('\n').filter((line) => line.startsWith('furze: '));
  expect(lines).toEqual([
    expect.stringMatching(/^furze: Nothing of the feedback is stored: .*cannot be written: ENOSPC/),
  ]);
  expect(furze.output).not.toContain('    at ');
  rmSync(outside, { recursive: true });
});
