import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { AuditLog } from '../../src/admin/audit-log.ts';
import type { WriteCommand } from '../../src/store/data-store.ts';
import { DirectStore } from '../store/direct-store.ts';
import { PLAIN_RULES, tempFolder } from '../store/helpers.ts';

it('keeps the latest thousand of a flood of changes in a few writes, and goes on after one that failed', async () => {
  const store = new DirectStore(tempFolder(), PLAIN_RULES);
  const troubles: string[] = [];
  const commands: WriteCommand[] = [];
  let fails = false;
  const data = {
    local: store.local,
    async write(command: WriteCommand) {
      commands.push(command);
      await nextTurn();
      if (fails) throw new Error('full');
      return store.write(command);
    },
  };
  const log = new AuditLog(
    data,
    () => 0,
    (message) => troubles.push(message),
  );
  const flood = async (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      log.note('merchant', `change ${i}`);
      if (i % 500 === 0) await nextTurn();
    }
    await nextTurn();
    await nextTurn();
    await nextTurn();
  };

  fails = true;
  await flood(0, 1);
  fails = false;
  await flood(1, 2500);

  expect(troubles).toEqual(['The log of changes cannot be written']);
  expect(commands.length).toBeLessThan(20);
  const { Changes } = log.read(1000);
  expect(Changes.map(({ What }) => What)).toEqual(
    Array.from({ length: 1000 }, (_, i) => `change ${2499 - i}`),
  );
  await store.close();
});
