import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';

it('a pool whose threads cannot start says it, keeps the jobs and goes on once they can', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'furze-pool-'));
  const gate = join(folder, 'gate');
  await writeFile(gate, '');
  process.env.FURZE_TEST_GATE = gate;
  const troubles: string[] = [];
  let toldTwice = () => {};
  const twice = new Promise<void>((resolve) => {
    toldTwice = resolve;
  });
  const pool = new WorkerPool(1, {
    entry: { url: new URL('./faulty-entry.mjs', import.meta.url), execArgv: [] },
    onTrouble(message, error) {
      troubles.push(`${message}: ${(error as Error).message}`);
      if (troubles.length === 2) toldTwice();
    },
  });
  try {
    const answer = pool.run<'nothing'>({ kind: 'nothing' });
    await twice;
    await rm(gate);
    expect(await answer).toBe('nothing');
    expect(troubles[0]).toBe('a worker thread could not start; trying again: no handles left');
    expect(await pool.run<'nothing'>({ kind: 'nothing' })).toBe('nothing');
  } finally {
    delete process.env.FURZE_TEST_GATE;
    await pool.close();
    await rm(folder, { recursive: true });
  }
});

/** How many threads of this process give way to others as training does. */
function lowThreads(): number {
  // The nice value is the 17th field behind the name, which stands in parentheses (proc_pid_stat(5)).
  return readdirSync('/proc/self/task').filter((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[16]) === constants.priority.PRIORITY_LOW;
  }).length;
}

it.skipIf(process.platform !== 'linux')(
  'gives way to requests with its threads, but for those of full priority',
  async () => {
    const pool = new WorkerPool(1);
    try {
      const before = lowThreads();
      await pool.run<'nothing'>({ kind: 'nothing' }, true);
      expect(lowThreads()).toBe(before);
      await pool.run<'nothing'>({ kind: 'nothing' });
      expect(lowThreads()).toBe(before + 1);
    } finally {
      await pool.close();
    }
  },
);
