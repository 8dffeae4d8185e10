import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../src/store/lmdb/tables/engine.ts';
import { openIn, putUsers, tempFolder } from './helpers.ts';

/** Opens an environment and closes it, again and again, until it is killed; says when it has begun. */
const OPENS = `
const { open } = require(${JSON.stringify(createRequire(import.meta.url).resolve('lmdb'))});
(async () => {
  for (;;) {
    await open({ path: process.argv[1], noSubdir: false, readOnly: true }).close();
    process.stdout.write('.');
  }
})();
`;

async function openElsewhere(path: string): Promise<void> {
  const child = spawn(process.execPath, ['-e', OPENS, path], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.stdout.resume();
}

const KEY = Buffer.from('n');

test('each commit follows from the last one while another process opens the folder again and again', async () => {
  const path = tempFolder();
  const engine = new Engine(path, 1);
  const table = engine.table('t');
  const write = (n: number) => engine.transact(() => table.put(KEY, Buffer.from(String(n))));
  write(0);
  await openElsewhere(path);
  const lost: number[] = [];
  for (let n = 1; n <= 400; n++) {
    engine.transact(() => {
      if (Buffer.from(table.getBinary(KEY)!).toString() !== String(n - 1)) lost.push(n);
    });
    write(n);
    await nextTurn();
  }
  expect(lost).toEqual([]);
  await engine.close();
}, 600_000);

test('a service goes on writing while another process opens its folder again and again', async () => {
  const folder = tempFolder();
  const { data } = openIn(folder);
  await data.write(putUsers([{ UserId: 'u0' }]));
  await openElsewhere(`${folder}/data`);
  for (let n = 1; n <= 800; n++) await data.write(putUsers([{ UserId: `u${n}` }]));
  expect((await data.getStats()).users).toBe(801);
}, 600_000);
