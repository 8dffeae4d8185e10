import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { DirectStore } from '../store/direct-store.ts';
import { feedback, putFeedback, storeOptions } from '../store/helpers.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = {
  FURZE_DATABASE_DATA_STORE: `lmdb://${folder}`,
  FURZE_DATABASE_CACHE_STORE: `lmdb://${folder}/cache`,
  FURZE_SERVER_PORT: '0',
};

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const furze = new Furze(args, env);
  return { code: await furze.exit, output: furze.output };
}

it('furze check says what is there and what is wrong, by words, JSON and exit code', async () => {
  const store = new DirectStore(folder, storeOptions(''));
  await store.write(putFeedback(Array.from({ length: 500 }, (_, i) => feedback('like', `u${i}`, 'i'))));
  await store.close();
  const sound = await run('check', folder, '--json');
  expect(sound.code).toBe(0);
  expect(JSON.parse(sound.output)).toMatchObject({
    sound: true,
    data: { path: folder, counts: { users: 500, items: 1, feedback: 500 }, faultCount: 0 },
  });

  expect((await run('check', folder)).output).toMatch(/\n {2}0 comments of feedback\n/);

  const file = join(folder, 'data.mdb');
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.from(whole).fill(0xa5, 0, 4096));
  const [checked, served, missing] = await Promise.all([
    run('check'),
    run('serve'),
    run('check', join(folder, 'none')),
  ]);
  expect(checked.code).toBe(1);
  expect(checked.output).toMatch(/: not sound\n {2}WRONG: The file is damaged: its first page is not/);
  expect(served.code).toBe(1);
  expect(served.output).toMatch(/^furze: The data store in \S+ is damaged: .+\n$/m);
  expect(missing.code).toBe(1);
  expect(missing.output).toMatch(/^furze: There is no data store in .+\n$/);

  // Junk behind a sound head ends whoever reads it; the next start looks first, in a process of its own.
  writeFileSync(file, Buffer.from(whole).fill(0x5a, 5 * 4096));
  const first = await run('serve');
  const second = await run('serve');
  expect(first.code).not.toBe(0);
  expect(second.code).toBe(1);
  expect(second.output).toMatch(/^furze: The data store in \S+ is damaged: .+ Restore a backup .+\n$/m);
});

it('the cache of a folder that is served is left out, and read once it is not', async () => {
  const place = mkdtempSync(join(folder, 'served-'));
  const furze = new Furze(['serve', '--data', place, '--port', '0']);
  await furze.waitFor(/"listening"/);
  const during = await run('check', place);
  await furze.stop('SIGTERM');
  const after = await run('check', place);
  expect([during.code, after.code]).toEqual([0, 0]);
  expect(during.output).toContain(`${place}/cache: not read while a service writes it\n`);
  expect(after.output).toContain(`${place}/cache: sound\n`);
});

it('a start says when the process before it was killed, and not when it stopped in order', async () => {
  const own = mkdtempSync(join(folder, 'killed-'));
  const serve = async (signal: NodeJS.Signals) => {
    const furze = new Furze(['serve', '--data', own, '--port', '0']);
    await furze.waitFor(/"listening"/);
    await furze.stop(signal);
    return furze;
  };
  const killed = await serve('SIGKILL');
  const after = await serve('SIGTERM');
  expect(after.output).toMatch(
    new RegExp(
      `"level":"warn".*"holder":"process ${killed.process.pid} on .*"the last process ended without stopping in order`,
    ),
  );
  expect((await serve('SIGTERM')).output).not.toContain('without stopping in order');
});
